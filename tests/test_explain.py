"""`eyeline.explain` with the real model: its numbers against transformers (eager), and its properties."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.models import load
from eyeline.models.units import units_of
from eyeline.traces.word_search import find

FLIES = "time flies like an arrow"
TYPED = [
    "Tôi yêu tiếng Việt",
    unicodedata.normalize("NFD", "Tôi yêu tiếng Việt, café"),
    "مرحبا بالعالم كتابٌ",
    "我喜欢学习",
    "I ❤️ flags 🎉 👍🏽 and 👨‍👩‍👧!",
    "NAÏVE Łódź straße",
    "unbelievable tokenizations, isn't it? state-of-the-art embeddings 3.14",
    "</script><b>x</b> [red]bold[/red] $x^2$ \\n %s",
]


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module")
def eager(minilm):
    """Weights (layers, heads, N, N) and hidden states (layers + 1, N, width) of the same model in transformers."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    twin = transformers.AutoModel.from_pretrained(minilm.source, attn_implementation="eager").eval()

    def run(ids):
        with torch.no_grad():
            out = twin(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
        return torch.cat(out.attentions).double().numpy(), torch.cat(out.hidden_states).double().numpy()

    return run


def by_word(weights, tokens):
    """Weights from word to word: summed over keys, averaged over queries; written out, as a check on matrices."""
    words = sorted({word for word in tokens.words if word is not None})
    members = [[place for place, word in enumerate(tokens.words) if word == number] for number in words]
    return np.array([[weights[np.ix_(rows, columns)].sum() / len(rows) for columns in members] for rows in members])


@pytest.mark.parametrize("text", [FLIES, TYPED[0], TYPED[6]])
@pytest.mark.parametrize(("layer", "head"), [(None, None), (0, 11), (3, 0)])
def test_every_number_equals_that_of_transformers(minilm, eager, text, layer, head):
    tokens = minilm.tokens(text)
    attentions, states = eager(tokens.ids)
    layer_weights = attentions[-1 if layer is None else layer]
    expected = by_word(layer_weights.mean(axis=0) if head is None else layer_weights[head], tokens)
    which = len(expected) - 1
    found = el.explain(text, layer=layer, head=head, model=minilm).document()
    matrix = found["runs"][0]["matrix"]
    inner = np.ix_(found["shown"], found["shown"])
    np.testing.assert_allclose(np.array(matrix["weights"])[inner], expected, atol=1e-5)
    shares = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(matrix["shares"], shares, atol=2e-5)
    np.testing.assert_allclose([entry["share"] for entry in matrix["received"]], shares.mean(axis=0), atol=2e-5)

    one = el.explain(text, tokens.word(which), layer=layer, head=head, model=minilm).document()
    run = one["runs"][0]
    looks = [run["looks_at"][index] for index in one["shown"]]
    np.testing.assert_allclose([look["weight"] for look in looks], expected[which], atol=1e-5)
    np.testing.assert_allclose([look["share"] for look in looks], shares[which], atol=2e-5)
    assert run["set_aside"] == pytest.approx(1 - expected[which].sum(), abs=1e-5)
    per_head = [by_word(weights, tokens)[which] for weights in layer_weights]
    hardest = sorted(range(12), key=lambda number: -per_head[number].max())[:3]
    assert [entry["head"] for entry in run["hardest_heads"]] == hardest
    assert [entry["unit"] for entry in run["hardest_heads"]] == [
        one["shown"][int(per_head[number].argmax())] for number in hardest
    ]
    np.testing.assert_allclose(
        [entry["weight"] for entry in run["hardest_heads"]], [per_head[number].max() for number in hardest], atol=1e-5
    )
    members = [place for place, word in enumerate(tokens.words) if word == which]
    vectors = states[:, members].mean(axis=1)
    cosines = vectors @ vectors[0] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[0])
    np.testing.assert_allclose([entry["cosine"] for entry in run["moved"]], cosines, atol=1e-5)


@pytest.mark.parametrize("text", TYPED)
@pytest.mark.parametrize("mask", [None, "causal"])
def test_rows_sum_to_one_and_pieces_sum_to_words(minilm, text, mask):
    words = el.explain(text, mask=mask, model=minilm)
    pieces = el.explain(text, mask=mask, pieces=True, model=minilm)
    for whole, cut in zip(words.runs, pieces.runs, strict=True):
        for run in (whole, cut):
            np.testing.assert_allclose(run.matrix.weights.sum(axis=-1), 1, atol=1e-5)
            np.testing.assert_allclose(run.head_weights.sum(axis=-1), 1, atol=1e-5)
        owner = {token: place for place, unit in enumerate(words.units) for token in unit.tokens}
        member = np.zeros((len(words.units), len(pieces.units)))
        for place, unit in enumerate(pieces.units):
            member[owner[unit.tokens[0]], place] = 1
        expected = member / member.sum(axis=1, keepdims=True) @ cut.matrix.weights @ member.T
        np.testing.assert_allclose(whole.matrix.weights, expected, atol=1e-6)
    np.testing.assert_allclose(words.shares.sum(axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize("text", TYPED)
def test_a_causal_row_never_looks_ahead(minilm, text):
    found = el.explain(text, mask="causal", pieces=True, special=True, model=minilm)
    assert found.runs[1].head_weights.shape[-1] > 3
    assert (np.triu(found.runs[1].matrix.weights, 1) == 0).all()
    assert (np.triu(found.runs[0].matrix.weights, 1) > 0).any()


@pytest.mark.parametrize("text", TYPED)
@pytest.mark.parametrize("pieces", [False, True])
def test_words_appear_as_typed(minilm, text, pieces):
    found = el.explain(text, pieces=pieces, model=minilm)
    # Every character of the text but spaces is in some unit, in order, and nothing else is.
    assert "".join("".join(found.words).split()) == "".join(text.split())
    document = json.loads(found.json())
    assert document["text"] == text
    for unit in document["units"]:
        if unit["start"] is not None:
            assert text[unit["start"] : unit["end"]] == unit["text"]
    found = el.explain(text, found.words[0] if not pieces else None, nth=None if pieces else 1, model=minilm)
    drawn = str(found)
    for word in found.words:
        assert word in drawn


def test_the_default_question(minilm):
    found = el.explain(FLIES, "flies", model=minilm)
    assert found.words == ["time", "flies", "like", "an", "arrow"]
    assert found.words[int(found.shares.argmax())] == "time"
    assert "flies takes most from time (17%) and itself (14%)." in str(found)
    text = " ".join(str(found).split())
    assert re.search(r"special tokens \S+ 47% 0 ─+ 50% Weights: a row adds up to 100%, with the part of", text)
    assert repr(found).count("\n") == 0
    assert "\n• flies " in str(found)
    assert "takes most from time (17%)" in repr(found)
    with_special = el.explain(FLIES, "flies", special=True, model=minilm)
    assert with_special.words[0] == "[CLS]"
    assert with_special.shares == pytest.approx(with_special.weights, abs=1e-6)
    assert with_special.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize(("mask", "scale"), [(None, None), ("causal", None), (None, 1.0), ("causal", 1.0)])
def test_steps_are_the_formula_of_that_layer(minilm, mask, scale):
    found = el.explain(FLIES, "flies", layer=4, head=2, steps=True, mask=mask, scale=scale, model=minilm)
    tokens = minilm.tokens(FLIES)
    run = minilm.run([tokens.ids], mask=el.Causal() if mask else None, scale=scale, weights=True)
    seen = run.layers[4]
    q, k, v = (array[0, 2].astype(float) for array in (seen.q, seen.k, seen.v))
    steps = found.document()["runs"][-1]["steps"]
    assert (steps["layer"], steps["head"], steps["chosen"], steps["token"]) == (4, 2, "asked", 2)
    scores = k @ q[2]
    assert [key["score"] for key in steps["keys"]] == pytest.approx(scores, rel=1e-5)
    assert [key["scaled"] for key in steps["keys"]] == pytest.approx(scores * (scale or 32**-0.5), rel=1e-5)
    hidden = [mask is not None and place > 2 for place in range(7)]
    assert [key["hidden"] for key in steps["keys"]] == hidden
    weights = [key["weight"] for key in steps["keys"]]
    assert weights == pytest.approx(seen.weights[0, 2, 2], abs=1e-5)
    assert steps["weight_sum"] == pytest.approx(1)
    assert sum(weights) == pytest.approx(1, abs=1e-5)
    assert steps["output"] == pytest.approx(seen.output[0, 2, 2], abs=1e-4)
    assert steps["output"] == pytest.approx(np.array(weights) @ v, abs=1e-4)
    assert steps["output_length"] == pytest.approx(np.linalg.norm(steps["output"]), rel=1e-5)
    lengths = np.linalg.norm(v, axis=1)
    assert [key["value_length"] for key in steps["keys"]] == pytest.approx(lengths, rel=1e-5)
    assert [key["contribution_length"] for key in steps["keys"]] == pytest.approx(lengths * weights, rel=1e-4, abs=1e-7)


def test_steps_take_the_hardest_head_if_nobody_chose(minilm):
    found = el.explain(FLIES, "flies", steps=True, model=minilm)
    assert found.steps.head == found.runs[0].hardest_heads[0].head
    assert found.steps.chosen == "hardest"
    assert found.question.head is None


def test_a_changed_run_stands_beside_the_plain_one(minilm):
    plain = el.explain(FLIES, "flies", model=minilm)
    both = el.explain(FLIES, "flies", mask="causal", scale=1.0, model=minilm)
    assert [run.name for run in both.runs] == ["as trained", "causal, without ÷ √d"]
    np.testing.assert_array_equal(both.runs[0].weights, plain.runs[0].weights)
    alone = minilm.run([minilm.tokens(FLIES).ids], mask=el.Causal(), scale=1.0, weights=True).layers[-1].weights
    np.testing.assert_allclose(both.runs[1].weights, alone[0, :, 2].mean(axis=0), atol=1e-6)
    window = el.explain(FLIES, "flies", mask=el.Window(1), model=minilm)
    assert window.document()["runs"][1]["mask"] == "Window(before=1, after=1)"
    assert (window.runs[1].weights == 0).tolist() == [True, False, False, False, True, True, True]


@pytest.mark.parametrize(
    ("text", "token", "typed"),
    [
        ("Time flies", "time", "Time"),
        ("time Time", "Time", "Time"),
        ("Straße", "STRASSE", "Straße"),
        ("tiếng Việt", unicodedata.normalize("NFD", "việt"), "Việt"),
        (unicodedata.normalize("NFD", "tiếng Việt"), "VIỆT", unicodedata.normalize("NFD", "Việt")),
        ("我喜欢学习", "喜欢", "喜欢"),
        ("I like New  York", "new york", "New  York"),
        ("state-of-the-art", "of-the", "of-the"),
        ("I don't", "don't", "don't"),
        (" a ", " a ", "a"),
    ],
)
def test_a_token_is_found_however_it_is_typed(minilm, text, token, typed):
    found = el.explain(text, token, model=minilm)
    assert found.question.token == typed
    assert "".join(found.units[place].text for place in found.question.units) == "".join(typed.split())


def test_a_word_of_several_units_is_their_mean(minilm):
    found = el.explain("我喜欢学习", "喜欢", model=minilm)
    each = [el.explain("我喜欢学习", word, model=minilm).weights for word in "喜欢"]
    np.testing.assert_allclose(found.weights, np.mean(each, axis=0), atol=1e-6)
    assert "itself" not in repr(found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["fly", "Fly", "é", "e\u0301", "学", "it's", "x-y", "🎉"]), min_size=1, max_size=12),
    st.data(),
)
def test_every_word_can_be_asked_for(minilm, words, data):
    text = " ".join(words)
    units = units_of(minilm.tokens(text), pieces=False)
    place = data.draw(st.sampled_from([place for place, unit in enumerate(units) if not unit.extra]))
    same = [other for other, unit in enumerate(units) if unit.text == units[place].text]
    found = find(units[place].text, same.index(place) + 1, units, text, special=False)
    assert found.units == (place,)
    if len(same) > 1:
        with pytest.raises(QuestionError, match=f"is there {len(same)} times"):
            find(units[place].text, None, units, text, special=False)


WRONG = [
    ({"text": ""}, "text must have at least one word, got ''"),
    ({"text": " \n\t"}, "text must have at least one word"),
    ({"text": "\u200b"}, "text must have at least one word"),
    ({"token": "fles"}, "got 'fles', which isn't there; the words are time, flies, like, an, arrow"),
    ({"token": " "}, "token must be a word of the text, got ' '"),
    (
        {"text": "flies like flies", "token": "flies"},
        r"2 times: 1 is \[flies\] like; 2 is like \[flies\]; .*nth=1 or 2",
    ),
    ({"token": "flies", "nth": 2}, "nth must be from 1 to 1, got 2: 'flies' is there once"),
    ({"token": "flies", "nth": 0}, "nth must be from 1 to 1, got 0"),
    ({"nth": 1}, "token must be given with nth"),
    ({"steps": True}, "token must be given with steps"),
    ({"layer": -1}, "layer must be from 0 to 5 in minilm, got -1$"),
    ({"layer": 6}, "layer must be from 0 to 5 in minilm, got 6; the last is 5"),
    ({"head": 13}, "head must be from 0 to 11 in minilm, got 13$"),
    ({"head": True}, "head must be from 0 to 11 in minilm, got True"),
    ({"top": 0}, "top must be a whole number, 1 or more, got 0"),
    ({"mask": "causl"}, "mask must be 'causal' or a mask of eyeline, got 'causl'"),
    ({"scale": float("nan")}, "scale must be a finite number, got nan"),
    ({"token": "[CLS]"}, "special token that is set aside; special=True puts it back"),
    ({"text": "word " * 511}, "text must fit the 512 positions of minilm, got 513 tokens"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_wrong_questions_say_what_to_do(minilm, wrong, message):
    with pytest.raises(QuestionError, match=message) as caught:
        el.explain(**{"text": FLIES, "model": minilm, **wrong})
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_near_words_are_named_first_among_many(minilm):
    text = " ".join(f"{first}{second}" for first in "abcdefg" for second in ("at", "og", "un")) + " arrow"
    with pytest.raises(QuestionError, match=r"the words are arrow, .* and 10 more$"):
        el.explain(text, "arow", model=minilm)


def test_as_many_tokens_as_there_are_positions(minilm):
    found = el.explain("word " * 510, "word", nth=510, model=minilm)
    assert len(found.words) == 510
    assert found.shares.sum() == pytest.approx(1)


def test_json_is_pure_and_csv_holds_the_picture(minilm):
    found = el.explain("a\x1b[31mb \x85 \u202ec", "c", model=minilm)
    text = found.json()
    assert json.loads(text) == found.document()
    assert not {"\x1b", "\x85", "\u202e"} & set(text)
    assert json.loads(found.json(ascii_only=True)) == found.document()
    assert found.json(ascii_only=True).isascii()

    found = el.explain(FLIES, "flies", mask="causal", model=minilm)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    expected = [(run["name"], look) for run in found.document()["runs"] for look in run["looks_at"]]
    assert [(row["run"], row["key"], float(row["weight"])) for row in rows] == [
        (name, look["text"], look["weight"]) for name, look in expected
    ]
    assert [row["share"] for row in rows][:2] == ["", str(expected[1][1]["share"])]

    whole = el.explain(FLIES, model=minilm)
    rows = list(csv.DictReader(io.StringIO(whole.to_csv())))
    matrix = whole.document()["runs"][0]["matrix"]
    assert [float(row["weight"]) for row in rows] == list(itertools.chain(*matrix["weights"]))
    shares = [float(row["share"]) for row in rows if row["share"]]
    assert shares == list(itertools.chain(*matrix["shares"]))

    steps = el.explain(FLIES, "flies", steps=True, model=minilm)
    rows = list(csv.DictReader(io.StringIO(steps.to_csv())))
    keys = steps.document()["runs"][0]["steps"]["keys"]
    assert [float(row["score"]) for row in rows] == [key["score"] for key in keys]
