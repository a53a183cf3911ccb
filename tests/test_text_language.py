"""The line that a text isn't in the language of its model: told by the text's letters, in Python as in the page."""

from __future__ import annotations

import json
import unicodedata

import pytest
from page_modules import imported
from playwright.sync_api import expect

import eyeline as el
from eyeline.models.catalogue import CATALOGUE
from eyeline.views.text_language import text_language
from tests.many_scripts import lines

DAU = "Con ruồi đậu mâm xôi đậu."
LINE = "This text is in Vietnamese, and minilm was trained on English alone; the model e5 reads Vietnamese."
TOLD = {
    "vietnamese": [
        DAU,
        "CON RUỒI ĐẬU MÂM XÔI ĐẬU",
        "Hà Nội",
        "phở",
        "Tôi yêu tiếng Việt",
        "được",
        "Đi đâu đấy?",
        "Con ngựa đá con ngựa đá.",
        "Anh ơi, 3 giờ rồi!",
    ],
    "japanese": ["今日はいい天気ですね。", "カタカナ", "ｶﾀｶﾅ", "東京タワー 333 m"],
    "korean": ["안녕하세요"],
    "chinese": ["人人生而自由", "東京"],
    "thai": ["สวัสดีชาวโลก"],
    "another": ["Съешь же ещё этих булок", "שלום עולם", "Ξεσκεπάζω", "مرحبا", "नमस्ते"],
    None: [
        "time flies like an arrow",
        "un café noir à Orléans, bientôt",
        "Le cœur a ses raisons ; Noël à l'île d'Ouessant.",
        "Não há ninguém à mesa; a avó põe o pão-de-ló no chão.",
        "Zażółć gęślą jaźń",
        "Încă o dată, în România, pâine și brânză",
        "Čeština, đak, žaba i šećer",
        "Straße, München, Übung",
        "Nguyen Van An lives in Ha Noi",
        "I ate phở there with Nguyễn and they liked it",
        "The word 東京 means Tokyo",
        "a 👍🏽 and 3.14 %",
        "",
        "123 !?",
        "∀x∈ℝ: x² ≥ 0, ﬁne 𝔥𝒽",
    ],
}
CASES = [(language, text) for language, texts in TOLD.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), CASES)
def test_the_letters_tell_the_language(language, text):
    assert text_language(text) == language
    assert text_language(unicodedata.normalize("NFD", text)) == language


def test_the_page_tells_the_same_of_any_text(chromium, tmp_path):
    context = chromium.new_context(offline=True)
    page = context.new_page()
    imported(
        page, tmp_path, {"frame/text_language.js": ["textLanguage", "unknownLanguage"], "frame/catalogue.js": ["BITS"]}
    )
    texts = [*(text for _, text in CASES), *lines(1500)]
    # The browser may know letters of a later Unicode than Python does.
    texts = [text for text in texts if all(unicodedata.category(letter) != "Cn" for letter in text)]
    found = page.evaluate("(texts) => JSON.parse(texts).map((text) => textLanguage(text))", json.dumps(texts))
    pairs = zip(texts, map(text_language, texts), found, strict=True)
    differ = [(text, ours, theirs) for text, ours, theirs in pairs if ours != theirs]
    assert differ == []
    english = page.evaluate(
        "(names) => names.filter((name) => unknownLanguage('phở', name))", [*CATALOGUE, "/a/folder", ""]
    )
    assert english == [entry.name for entry in CATALOGUE.values() if entry.english]
    assert page.evaluate("BITS") == {entry.name: entry.bits for entry in CATALOGUE.values() if entry.bits}
    context.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda model: el.explain(DAU, "ruồi", model=model),
        lambda model: el.compare(DAU, DAU, "ruồi", model=model),
        lambda model: el.heads(DAU, model=model),
        lambda model: el.effects(DAU, token="ruồi", model=model),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_answers_say_it_of_an_english_model_alone(make, form, monkeypatch):
    monkeypatch.setattr(f"{__name__}.DAU", unicodedata.normalize(form, DAU))
    said = make("minilm")
    assert LINE in " ".join(str(said).split())
    assert LINE in said._repr_html_().replace("<bdi>", "").replace("</bdi>", "")
    said = make("e5")
    assert "English" not in str(said) + said._repr_html_()


def test_in_vietnamese(say):
    code, printed, _ = say("--lang", "vi", "explain", DAU, "--token", "ruồi")
    assert code == 0
    assert (
        "Văn bản này là tiếng Việt, mà minilm chỉ được huấn luyện trên tiếng Anh; mô hình e5 đọc được tiếng Việt."
        in " ".join(printed.split())
    )


def test_the_page_says_it(page_of):
    shown = page_of([el.record(DAU)])
    expect(shown.locator(".notes")).to_contain_text(LINE)
    shown = page_of([el.record(DAU, model="e5")])
    expect(shown.locator(".notes")).not_to_contain_text("English")
    expect(shown.locator(".headline .model")).to_have_text("e5 (4-bit)")
