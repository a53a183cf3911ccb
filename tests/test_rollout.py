"""Attention rollout against the product of the dense matrices, and against closed forms."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline.answers import QuestionError
from eyeline.answers.attention_rollout import gathered, roll, roll_all
from eyeline.models import load
from eyeline.traces import Trace, record_tokens
from tests.test_cli import DOCS
from tests.test_views import HOSTILE, drawn, read

rich_cells = pytest.importorskip("rich.cells")

FLIES = "time flies like an arrow"


@pytest.fixture(scope="module")
def minilm():
    return load()


def dense(model, ids, after):
    """The product of ½W + ½I over so many layers, from the weights themselves."""
    product = np.eye(len(ids))
    for layer in model.run([ids], weights=True).layers[:after]:
        product = (0.5 * layer.weights[0].astype(np.float64).mean(axis=0) + 0.5 * np.eye(len(ids))) @ product
    return product


def traced(q, k, layers=1, mask=None):
    """The layers of a trace that all have these q (H, N, D) and k (G, N, D)."""
    words = [str(place) for place in range(q.shape[1])]
    return Trace.of(np.stack([q] * layers), np.stack([k] * layers), mask=mask, queries=words).layers


@given(
    st.integers(0, 2**32),
    st.sampled_from([(1, 1), (4, 2), (6, 1)]),
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from([0.1, 1.0, 4.0]),
)
def test_a_row_times_the_weights(seed, heads, N, causal, size):
    rng = np.random.default_rng(seed)
    q = (size * rng.standard_normal((heads[0], N, 8))).astype(np.float32)
    k = rng.standard_normal((heads[1], N, 8), np.float32)
    mask = el.Causal() if causal else None
    seen = el.observe(q, k, k, mask=mask, read=el.Weights())
    row = rng.random(N) * (rng.random(N) < 0.5) * 10.0 ** rng.integers(-9, 1, N)
    got = gathered(row, traced(q, k, mask=mask)[0])
    want = row @ seen.weights.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6 * row.sum() + 1e-12)
    assert got.sum() == pytest.approx(row.sum(), rel=1e-5, abs=1e-12)


@given(st.integers(0, 2**32), st.integers(1, 30))
def test_a_row_times_the_weights_of_any_mask(seed, N):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, N, 4), np.float32), rng.standard_normal((2, N, 4), np.float32)
    mask = [el.Causal() & el.Window(2, 0), el.Dense(rng.random((N, N)) < 0.6), el.Window(3)][seed % 3]
    row = rng.random(N) * (rng.random(N) < 0.7)
    want = row @ el.observe(q, k, k, mask=mask, read=el.Weights()).weights.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(gathered(row, traced(q, k, mask=mask)[0]), want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("after", [1, 2, 6])
def test_one_token_and_all_are_the_product_of_the_layers(minilm, after):
    tokens = minilm.tokens("Tôi yêu tiếng Việt, and time flies like an arrow.")
    layers = record_tokens(minilm, tokens).layers[:after]
    want = dense(minilm, tokens.ids, after)
    np.testing.assert_allclose(roll_all(layers), want, atol=1e-6)
    for token in (0, 5, len(tokens) - 1):
        np.testing.assert_allclose(roll(layers, [token]), want[token], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(roll(layers, [2, 5, 6]), want[[2, 5, 6]].mean(0), rtol=1e-4, atol=1e-6)


def test_a_whole_of_512_tokens(minilm):
    tokens = minilm.tokens("word after word " * 170)
    assert len(tokens) == 512
    row = roll(record_tokens(minilm, tokens).layers, [100])
    assert row.sum() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(row, dense(minilm, tokens.ids, 6)[100], rtol=1e-3, atol=1e-6)


def test_attention_that_is_alike_on_all_leaves_a_half_of_itself_in_each_layer():
    q = np.zeros((2, 8, 4), np.float32)
    for layers in (1, 3):
        own = 0.5**layers
        want = np.full(8, (1 - own) / 8)
        want[3] += own
        np.testing.assert_allclose(roll(traced(q, q, layers), [3]), want, rtol=1e-6)
        np.testing.assert_allclose(roll_all(traced(q, q, layers))[3], want, rtol=1e-6)


def test_tokens_that_look_at_themselves_alone_are_made_of_themselves():
    unit = np.eye(16, dtype=np.float32)[None]
    made = traced(100 * unit, unit, 4)
    np.testing.assert_allclose(roll_all(made), np.eye(16), atol=1e-6)
    np.testing.assert_allclose(roll(made, [9]), np.eye(16)[9], atol=1e-6)


def test_all_on_one_key():
    q, k = np.ones((1, 6, 1), np.float32), np.zeros((1, 6, 1), np.float32)
    k[:, 2] = 100
    np.testing.assert_allclose(roll(traced(q, k, 3), [5]), [0, 0, 0.875, 0, 0, 0.125], atol=1e-6)


def test_a_causal_token_is_made_of_nothing_after_it_and_needs_nothing_after_it():
    rng = np.random.default_rng(2)
    q, k = rng.standard_normal((4, 20, 1), np.float32), rng.standard_normal((2, 20, 1), np.float32)
    made = traced(q, k, 5, el.Causal())
    whole = roll_all(made)
    assert not np.triu(whole, 1).any()
    for token in (0, 7, 19):
        np.testing.assert_allclose(roll(made, [token]), whole[token], rtol=1e-5, atol=1e-8)
        until = slice(token + 1)
        alone = roll(traced(q[:, until], k[:, until], 5, el.Causal()), [token])
        np.testing.assert_allclose(alone, whole[token, until], rtol=1e-5, atol=1e-8)


def test_words_are_sums_of_their_pieces(minilm):
    text = "Tôi yêu tiếng Việt"
    found = el.rollout(text, "tiếng", model=minilm)
    tokens = minilm.tokens(text)
    own = [place for place, word in enumerate(tokens.words) if word == 2]
    assert len(own) > 1
    row = dense(minilm, tokens.ids, 6)[own].mean(axis=0)
    want = np.array([row[np.array(tokens.words) == number].sum() for number in range(4)])
    assert found.words == text.split()
    np.testing.assert_allclose(found.shares, want / want.sum(), rtol=1e-4)
    assert found.by_unit.sum() == pytest.approx(1, abs=1e-5)
    every = el.rollout(text, model=minilm)
    np.testing.assert_allclose(every.by_unit[3], found.by_unit, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(every.shares.sum(axis=1), 1)


def test_after_a_layer_it_is_that_layers_product(minilm):
    ids = minilm.tokens(FLIES).ids
    found = el.rollout(FLIES, "flies", layer=1, special=True, model=minilm)
    np.testing.assert_allclose(found.by_token, dense(minilm, ids, 2)[2], rtol=1e-4, atol=1e-6)
    assert found.words == ["[CLS]", *FLIES.split(), "[SEP]"]


@pytest.mark.parametrize(
    "asked", [{}, {"token": "flies"}, {"token": "b", "special": True}, {"layer": 0, "pieces": True}]
)
def test_lines_fit_any_terminal_and_steer_none(minilm, asked):
    text = HOSTILE if asked.get("token") == "b" else FLIES + " học 学 🎉 مرحبا"
    found = el.rollout(text, model=minilm, **asked)
    for width, encoding in ((40, "utf-8"), (80, "ascii"), (120, "cp437")):
        shown = drawn(found, width, encoding)
        assert max(map(rich_cells.cell_len, shown.split("\n"))) <= width
        assert not set(shown) & {"\x1b", "\x9b", "\u202e", "\r"}
    tags = read(found._repr_html_())
    assert tags.tags <= {"div", "bdi", "b", "table", "tr", "td"}
    assert tags.attributes <= {"style", "class"}
    assert repr(found).count("\n") == 0


def test_the_sentence_and_the_bars_are_the_numbers(minilm):
    found = el.rollout(FLIES, "flies", model=minilm)
    shown = str(found)
    for word, part in zip(found.words, found.by_unit[list(found.shown)], strict=True):
        assert re.search(rf"^{'•' if word == 'flies' else ' '} {word} .* {part:.0%}$", shown, re.MULTILINE)
    assert "flies is made most of itself (5%) and time (3%)." in shown
    looks = {look["text"]: look["weight"] for look in found.document()["made_of"]}
    assert found.document()["set_aside"] == pytest.approx(looks["[CLS]"] + looks["[SEP]"], abs=1e-6)
    assert json.loads(found.json()) == found.document()


def test_where_a_sink_leads_everything_it_says_so(minilm, monkeypatch):
    monkeypatch.setattr("eyeline.views.rollout_findings._ENDS", 0.5)
    said = " ".join(str(el.rollout(FLIES, "flies", model=minilm)).split())
    assert "lead everything there: layer=0 goes through fewer layers" in said
    assert "lead everything" not in str(el.rollout(FLIES, "flies", layer=0, model=minilm))


def test_docs_name_every_key(minilm):
    section = DOCS.read_text("utf-8").split("## `eyeline.rollout/2`")[1].split("## `")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(el.rollout(FLIES, model=minilm).document())
    for key in el.rollout(FLIES, model=minilm).document()["question"]:
        assert f"`{key}`" in section


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FLIES, "flie"), "token must be a word of the text, got 'flie'"),
        ((FLIES, None, 1), "token must be given with nth; add token=..."),
        (("word " * 600, "word", 1), "got 602 tokens"),
        (("", "x"), "text must have at least one word, got ''"),
    ],
)
def test_wrong_questions_say_what_to_do(minilm, arguments, message):
    with pytest.raises(QuestionError, match=message):
        el.rollout(*arguments[:2], nth=arguments[2] if len(arguments) > 2 else None, model=minilm)
