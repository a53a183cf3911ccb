"""The live page's tokenizers: equal to the tokenizers library and to Python's words, in ids, pieces and places."""

from __future__ import annotations

import json
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyeline import record
from eyeline.models import Model, ModelError, load
from eyeline.models.tokenizer_data import tokenizer_data
from eyeline.traces import TraceError
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder
from eyeline.traces.tokenized_text import of_tokens
from eyeline.words import page_table
from tests.many_scripts import SENTENCES, lines
from tests.page_modules import imported

LIVE = {"live/tokens/tokenizer.js": ["tokenizer"], "live/tokens/line.js": ["lineEntry"]}
READ = """(cases) => {
  window.readOf ??= (model, text, causal) => {
    const { split, tooLong, ...tokens } = tokenizers[model].read(text);
    return { tokens, line: lineEntry({ ...tokens, split }, { causal }) };
  };
  return JSON.parse(cases)
    .filter(([model, text, causal, wanted]) => JSON.stringify(readOf(model, text, causal)) !== wanted)
    .slice(0, 3).map(([model, text, causal, wanted]) => [text, JSON.stringify(readOf(model, text, causal)), wanted]);
}"""


@pytest.fixture(scope="module")
def models():
    return {name: load(name) for name in ("minilm", "dates")}


@pytest.fixture(scope="module")
def room(models, chromium, tmp_path_factory):
    """A browser's page with both tokenizers: `tokenizers.minilm`, `tokenizers.dates`."""
    context = chromium.new_context(offline=True)
    page = context.new_page()
    imported(page, tmp_path_factory.mktemp("modules"), LIVE)
    for name, model in models.items():
        page.evaluate(
            "([name, data]) => { (window.tokenizers ??= {})[name] = tokenizer(JSON.parse(data)); }",
            [name, json.dumps(tokenizer_data(model))],
        )
    yield page
    context.close()


def read(model: Model, text: str, causal: bool) -> str:
    """A text as Python reads it, as JSON as the page writes it: places in UTF-16 code units, -1 for special tokens."""
    tokens = model.tokens(text)
    place = [0, *accumulate(1 + (character > "\uffff") for character in text)]
    spans = [
        (-1, -1) if special else (place[first], place[last])
        for special, (first, last) in zip(tokens.special, tokens.offsets, strict=True)
    ]
    found = {
        "text": text,
        "ids": tokens.ids,
        "pieces": tokens.pieces,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "special": tokens.special,
        "unknown": tokens.unknown,
    }
    line = of_tokens(tokens, causal=causal).entry()
    return json.dumps({"tokens": found, "line": line}, ensure_ascii=False, separators=(",", ":"))


def differing(room, models, cases):
    """The first few of the cases, each a model's name, a text and whether attention is causal, that the page reads
    otherwise than Python."""
    whole = [[name, text, causal, read(models[name], text, causal)] for name, text, causal in cases]
    return room.evaluate(READ, json.dumps(whole))


def test_ten_thousand_lines_in_many_scripts_are_read_as_in_python(room, models):
    texts = lines(10_000)
    assert len(set(texts)) == 10_000
    assert differing(room, models, [("minilm", text, number % 5 == 0) for number, text in enumerate(texts)]) == []


def test_letters_are_read_as_in_python(room, models):
    texts = ["3rd of March, 2021", "", "\n", "a\r\nb", "[START]x[END][UNK]", *SENTENCES, *lines(500, seed=1)[-200:]]
    assert differing(room, models, [("dates", text, False) for text in texts]) == []


_ALPHABET = st.sampled_from(
    "aZé İßﬁệ'’.,-_1٣東京かなشَअ्ก‍한!?[]\t\n\x00 \u00ad\u0301\u0344\u200b\ufe0f\ufffd👩🚀🏽🇫🇷🩷\U0001d165"
)


@settings(max_examples=300)
@given(st.text(_ALPHABET, max_size=30) | st.text(max_size=30), st.booleans())
def test_any_text_is_read_as_in_python(room, models, text, causal):
    assert differing(room, models, [(name, text, causal) for name in models]) == []


def test_every_character_is_of_the_kind_that_python_says(room, models):
    # Each between letters, so that it is seen whether it parts them, joins them, vanishes or is a piece of its own.
    # Blocks of ideographs and syllables are alike, so that a few of each are enough; the next block is in the range.
    alike = [
        range(0x3500, 0x4D00),
        range(0x4F00, 0x9F00),
        range(0xAD00, 0xD700),
        range(0xD800, 0xF900),
        range(0x12000, 0x1B000),
    ]
    codes = [code for code in range(0x20000) if not any(code in block for block in alike)]
    texts = [" ".join(f"a{chr(code)}b" for code in codes[at : at + 400]) for at in range(0, len(codes), 400)]
    assert differing(room, models, [("minilm", text, False) for text in texts]) == []


def test_what_was_written_is_a_line_as_in_python(room, models):
    ids = [0, *models["dates"].tokens("2021-03").ids, 1]
    text = OwnEncoderDecoder(models["dates"])._line(ids)
    wanted = of_tokens(text, causal=True, prompt=2).entry()
    got = room.evaluate("(ids) => lineEntry(tokenizers.dates.written(ids, [0, 1]), { causal: true, prompt: 2 })", ids)
    assert got == wanted


REFUSED = {
    "minilm": ["", " \n\u200b", "\x1f\u2028", "word " * 600, "\ud800", "🦜 a\udc00b"],
    "dates": ["", "  ", "3rd" * 40, "März", "🦜", "\x07", "it's", "\ud83e"],
}


def refused_by_python(model, text):
    """What Python says of a text that a model can't run."""
    with pytest.raises((ModelError, TraceError)) as caught:
        record(text, model=model)
    return str(caught.value).removesuffix(", which has none")


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in REFUSED.items() for text in texts])
def test_what_a_model_cannot_run_is_refused_in_pythons_words(room, models, name, text):
    refusal = room.evaluate(
        """([name, text]) => {
          const { read, refusal } = tokenizers[name];
          try { return refusal(read(JSON.parse(text))); } catch ({ key, values }) { return { key, values }; }
        }""",
        [name, json.dumps(text)],
    )
    english = page_table()[refusal["key"]][0]
    assert english.format(**refusal["values"]) == refused_by_python(models[name], text)


def test_what_a_model_can_run_is_not_refused(room):
    for name, texts in {"minilm": [*SENTENCES, "a " * 510], "dates": ["3/3/21", "x" * 64]}.items():
        asked = "([name, texts]) => texts.map((text) => tokenizers[name].refusal(tokenizers[name].read(text)))"
        assert room.evaluate(asked, [name, texts]) == [None] * len(texts)


def test_a_text_too_long_says_how_many_tokens_the_model_takes(room):
    read = "(text) => { const { ids, tooLong } = tokenizers.minilm.read(text); return [ids.length, tooLong ?? 0]; }"
    assert room.evaluate(read, "a " * 510) == [512, 0]
    assert room.evaluate(read, "a " * 511) == [513, 512]
    # A whole book, and an accent upon an accent: no call has so many arguments.
    assert room.evaluate(read, "a " * 150_000) == [150_002, 512]
    assert room.evaluate(read, "a" + "\u0301" * 150_000) == [3, 0]


def test_a_tokenizer_of_another_kind_is_refused(models):
    model = models["minilm"]
    from tokenizers import Tokenizer

    stored = json.loads(model.tokenizer.to_str())
    stored["normalizer"] = {"type": "Lowercase"}
    other = Model("other", model.config, model.source, model.network, Tokenizer.from_str(json.dumps(stored)))
    with pytest.raises(ModelError, match=r"must be a tokenizer like BERT's, .* got WordPiece, Lowercase, BertPre"):
        tokenizer_data(other)


@pytest.mark.parametrize("off", [["strip_accents"], ["clean_text", "handle_chinese_chars", "lowercase"]])
def test_a_normalizer_with_other_settings_is_followed(room, models, off):
    from tokenizers import Tokenizer

    model = models["minilm"]
    stored = json.loads(model.tokenizer.to_str())
    stored["normalizer"] |= {"strip_accents": True, **dict.fromkeys(off, False)}
    other = Model("other", model.config, model.source, model.network, Tokenizer.from_str(json.dumps(stored)))
    data = json.dumps(tokenizer_data(other))
    room.evaluate("(data) => { tokenizers.other = tokenizer(JSON.parse(data)); }", data)
    assert differing(room, {"other": other}, [("other", text, False) for text in lines(300)]) == []
