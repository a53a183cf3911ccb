"""Lines in many scripts, for what must hold for any text: sentences, and characters drawn from Unicode's blocks."""

from __future__ import annotations

import random
import unicodedata

#: One sentence, or two, in each of many languages.
SENTENCES = """\
Time flies like an arrow; fruit flies like a banana.
“Don't!” she said — and O'Brien's naïve fiancée paid $1,234.56 (3.14 %), e.g. in the U.S.A.
Le cœur a ses raisons que la raison ne connaît point ; Noël à l'île d'Ouessant.
Falsches Üben von Xylophonmusik quält jeden größeren Zwerg. STRAẞE, Straße.
El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; ¿añoraba? ¡Sí!
Não há ninguém à mesa; a avó põe o pão-de-ló no chão.
Perché no? Così è, se vi pare: l'università, la città, un po' più in là.
Zażółć gęślą jaźń. Łódź, źdźbło, Ćma.
Příliš žluťoučký kůň úpěl ďábelské ódy.
Árvíztűrő tükörfúrógép, őszintén szólva.
Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul'da ıssız bir gün, IĞDIR.
Flygande bäckasiner söka hwila på mjuka tuvor; Ångström, Ærø, blåbærgrød, Þórbergur, ðað.
Tiếng Việt rất hay: đường, nước, người, trường đại học, Nguyễn Ái Quốc.
Tie\u0302\u0301ng Vie\u0323\u0302t ra\u0302\u0301t hay: nga\u030a\u0323c.
Съешь же ещё этих мягких французских булок, да выпей чаю. Йод, ёлка.
Чуєш їх, доцю, га? Кумедна ж ти, прощайся без ґольфів! Под'їзд.
Љубазни фењерџија чађавог лица хоће да ми покаже штос.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Ὅμηρος, μῆνιν ἄειδε θεά, Πηληϊάδεω Ἀχιλῆος. ΟΔΥΣΣΕΥΣ ᾳ ῼ
Զանգակատուն, եւ այլն։ Բոլոր մարդիկ ծնվում են ազատ։
ყველა ადამიანი იბადება თავისუფალი. ᲗᲑᲘᲚᲘᲡᲘ, თბილისი.
כל בני אדם נולדו בני חורין; שָׁלוֹם עֲלֵיכֶם, צה"ל, ג׳ירפה.
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. مَرْحَبًا، لا إله، ١٢٣٫٤٥
همهٔ افراد بشر آزاد به دنیا می‌آیند؛ کتاب‌ها، ۱۲۳۴.
تمام انسان آزاد پیدا ہوئے ہیں۔ ٹھیک ہے، ڈاک
सभी मनुष्यों को गौरव और अधिकारों में स्वतन्त्रता मिली है। क्षत्रिय, ज़रूरत, हिन्दी १२३
সমস্ত মানুষ স্বাধীনভাবে জন্মগ্রহণ করে। বাংলা, ড়, ঢ়, য়, কো
எல்லா மனிதரும் சுதந்திரமாகவே பிறக்கின்றனர். கௌ, ஸ்ரீ
ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులు.
ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ. ಕೋ
മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും അന്തസ്സോടും സ്വാതന്ത്ര്യത്തോടുംകൂടി ജനിച്ചവരാണ്.
සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත. කෝ
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน น้ำ เก้าอี้ ๑๒๓
ມະນຸດເກີດມາມີສິດເສລີພາບ ແລະສະເໝີໜ້າກັນ
មនុស្សទាំងអស់កើតមកមានសេរីភាព និងសមភាព។
လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် မွေးဖွားလာသူများ ဖြစ်သည်။
འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས། ཱི ཱུ ྲྀ
ሰው፡ሁሉ፡ነጻና፡እኩል፡ሁኖ፡ተወልዷል። አማርኛ
ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ᎤᏂᏠᏱ. ꭰꭱꭲ
ᠬᠦᠮᠦᠨ ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ ᠮᠡᠨᠳᠡᠯᠡᠬᠦ᠋
모든 인간은 태어날 때부터 자유로우며 존엄하다. 닭, 값, 훈민정음 ᄒᆞᆫ글
すべての人間は、生まれながらにして自由である。カタカナ、ﾊﾝｶｸ、が か\u3099、々、㍿、2024年
人人生而自由，在尊严和权利上一律平等。龍、龜、𠀀𪛖、﨑、豈
ꆈꌠꉙ ꀊꂰ。ꦲꦏ꧀ꦱꦫꦗꦮ, ᬅᬓ᭄ᬱᬭᬩᬮᬶ, ᮃᮊ᮪ᮞᮛ
ⴰⵎⴷⴰⵏ ⴰⵎⴰⵣⵉⵖ, ߒߞߏ ߓߟߏߡߊ, 𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪, 𐐔𐐯𐑅𐐨𐑉𐐯𐐻
I ❤️ you 👍🏽, 👨‍👩‍👧‍👦 in 🇻🇳🇫🇷, 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☺︎ 1️⃣ 🫠🩷 ♥♀️ ©®™
∀x∈ℝ: ∛(x²)≥−½ ⇒ √2≈1.41421 ⟨ψ|φ⟩ ∑ᵢ aᵢ·bᵢ, H₂O, 10⁻⁹ Å, ﬁne ﬀ ℌ 𝔥𝒽𝟘
[CLS] it is [MASK] typed [SEP][SEP] [UNK] [PAD] [cls] [ MASK ] [UNK]s
<script>alert("x")</script> &amp; a_b-c/d\\e @f #g 100% `h` ~i {j} |k| http://x.y/?z=1&w=2
""".splitlines()

_BLOCKS = [
    *[(first, first + 0x80) for first in range(0x0, 0x3400, 0x80)],
    *[(first, first + 0x80) for first in range(0xA000, 0xAC00, 0x80)],
    (0x3400, 0x3420), (0x4DB0, 0x4E20), (0x9FF0, 0xA000), (0xAC00, 0xAC40), (0xD790, 0xD800), (0xE000, 0xE020),
    (0xF900, 0xF940), (0xFA00, 0xFB50), (0xFE00, 0xFF00), (0xFF00, 0x10000),
    *[(first, first + 0x100) for first in range(0x10000, 0x12000, 0x100)],
    (0x16A40, 0x16B90), (0x16F00, 0x16FF8), (0x1B000, 0x1B130), (0x1BC00, 0x1BCB0), (0x1D000, 0x1D250),
    (0x1D400, 0x1D800), (0x1E000, 0x1E150), (0x1E800, 0x1E960), (0x1EE00, 0x1EF00), (0x1F000, 0x1FB00),
    (0x20000, 0x20020), (0x2A6D0, 0x2A710), (0x2F800, 0x2F840), (0x30000, 0x30010), (0xE0000, 0xE01F0),
    (0x10FFF0, 0x110000),
]  # fmt: skip
_SPECIALS = ["[CLS]", "[SEP]", "[UNK]", " ", "\t", "\n", "\r\n", "\u00a0", "\u2028", "\u200b", "\0", "\x1c", "\x85"]
_JOINED = ["\u0301", "\u0323", "\u0345", "\u200d", "\ufe0f", "\U0001f3fd", "'", "’", ".", ",", "-", "é", "ệ", "한"]


def lines(count: int, seed: int = 0) -> list[str]:
    """Different lines in many scripts, always the same: the sentences, each in NFC and NFD too, in capitals, small
    and backwards; very long words; then characters of one, two or three blocks, with spaces, marks, joiners and
    controls between."""
    draw = random.Random(seed)
    found = list(SENTENCES)
    found += [unicodedata.normalize(form, one) for one in SENTENCES for form in ("NFC", "NFD")]
    found += [changed for one in SENTENCES for changed in (one.upper(), one.lower(), one.title(), one[::-1])]
    found += [letter * length for letter in ("a", "é", "e\u0301", "漢", "ß") for length in (49, 100, 101, 4000)]
    found = list(dict.fromkeys(found))
    known = set(found)
    while len(found) < count:
        if draw.random() < 0.3:
            one, other = draw.choice(SENTENCES), draw.choice(SENTENCES)
            line = one[draw.randrange(len(one)) :][:60] + other[draw.randrange(len(other)) :][:40]
        else:
            blocks = draw.sample(_BLOCKS, draw.choice([1, 2, 3]))
            share = draw.choice([0, 0.1, 0.5])
            line = "".join(_drawn(draw, blocks, share) for _ in range(draw.randrange(1, 30)))
        if line not in known:
            known.add(line)
            found.append(line)
    return found[:count]


def _drawn(draw: random.Random, blocks: list[tuple[int, int]], share: float) -> str:
    """A character of one of the blocks or, of a share of them, something that stands between others."""
    if draw.random() < share:
        return draw.choice(draw.choice([_SPECIALS, _JOINED]))
    return chr(draw.randrange(*draw.choice(blocks)))
