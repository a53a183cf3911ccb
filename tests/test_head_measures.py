"""The numbers of heads against brute force on the dense weights, and against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline.answers.behaviour import measures
from eyeline.answers.behaviour.kinds import Kinds, cut, is_punctuation, kinds_of
from eyeline.answers.behaviour.labels import LABELS, apply, labels_for
from eyeline.models import Layer, load


def a_layer(q, k, kinds, causal=False, lengths=None, scale=None):
    """A layer whose tokens ask q and answer k, and its weights, (B, H, N, N)."""
    masks = ([el.Causal()] if causal else []) + ([el.Padding(lengths)] if lengths is not None else [])
    mask = masks[0] & masks[-1] if masks else None
    seen = el.observe(q, k, k, mask=mask, scale=scale, read=[*measures.readouts(kinds), el.Weights()])
    return Layer(q, k, k, seen, np.zeros((q.shape[0], q.shape[2], 1), np.float32)), seen.weights.astype(np.float64)


def brute(weights, kinds, lengths=None):
    """Every number of `measures` from the dense weights, as its definition says."""
    B, _, N, _ = weights.shape
    count = np.full(B, N) if lengths is None else np.asarray(lengths)
    i, j = np.indices((N, N))
    logs = np.log(np.where(weights > 0, weights, 1))
    first = j == 0
    each = {
        "entropy": -(weights * logs),
        "distance": weights * abs(i - j),
        "previous": weights * (j == i - 1),
        "next": weights * (j == i + 1),
        "same": weights * (j == i),
        "first": weights * first,
        "special": weights * kinds.special,
        "separator": weights * (kinds.special & ~first),
        "punctuation": weights * (kinds.punctuation & ~first),
    }
    result = {name: cells.sum((-1, -2)) / np.maximum(count, 1)[:, None] for name, cells in each.items()}
    absent = {
        "special": kinds.special.any(),
        "separator": kinds.special[1:].any(),
        "punctuation": kinds.punctuation[1:].any(),
    }
    return {name: values if absent.get(name, True) else np.full_like(values, np.nan) for name, values in result.items()}


@given(st.data(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 3), st.integers(1, 9), st.booleans())
def test_every_number_is_that_of_the_dense_weights(data, B, G, heads_each, N, causal):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = data.draw(st.sampled_from([0.0, 1.0, 5.0]))
    q = (size * rng.standard_normal((B, G * heads_each, N, 4))).astype(np.float32)
    k = rng.standard_normal((B, G, N, 4)).astype(np.float32)
    lengths = data.draw(st.none() | st.lists(st.integers(0, N), min_size=B, max_size=B))
    scale = data.draw(st.none() | st.just(0.3))
    special = np.array(data.draw(st.lists(st.booleans(), min_size=N, max_size=N)))
    kinds = Kinds(special, ~special & (rng.random(N) < 0.3))
    layer, weights = a_layer(q, k, kinds, causal, lengths, scale)
    got = measures.measures(layer, kinds, causal=causal, lengths=lengths, scale=scale)
    want = brute(weights, kinds, lengths)
    assert list(got) == list(want)
    for name, values in want.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-4, atol=1e-5, err_msg=name)


@given(st.integers(0, 2**32), st.integers(-12, 12), st.booleans(), st.sampled_from([None, [4, 0, 10]]))
def test_a_diagonal_is_that_of_the_dense_weights(seed, offset, causal, lengths):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((3, 4, 10, 8), np.float32), rng.standard_normal((3, 2, 10, 8), np.float32)
    layer, weights = a_layer(q, k, Kinds(*np.zeros((2, 10), bool)), causal, lengths)
    want = np.zeros((3, 4, 10))
    for i in range(10):
        if 0 <= i + offset < 10:
            want[:, :, i] = weights[:, :, i, i + offset]
    got = measures.shifted(layer, offset, causal=causal, lengths=lengths)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 200])
def test_attention_that_is_alike_on_all(n):
    q = np.zeros((1, 2, n, 4), np.float32)
    kinds = Kinds(np.arange(n) == 0, np.arange(n) == max(n - 1, 1))
    layer, _ = a_layer(q, q, kinds)
    got = {name: values[0, 1] for name, values in measures.measures(layer, kinds, causal=False).items()}
    assert got["entropy"] == pytest.approx(math.log(n), abs=1e-6)
    assert got["distance"] == pytest.approx((n * n - 1) / (3 * n), rel=1e-5)
    assert got["previous"] == got["next"] == pytest.approx((n - 1) / n**2)  # n - 1 rows of 1/n, divided by n
    for name in ("same", "first", "special", *(["punctuation"] if n > 1 else [])):
        assert got[name] == pytest.approx(1 / n)
    assert measures.sink(layer.seen.group_mass[..., 0])[0, 0] == pytest.approx(1 / n)


@pytest.mark.parametrize("n", [1, 5, 64, 200])
def test_causal_attention_that_is_alike_on_all_has_a_sink_of_harmonic_numbers(n):
    q = np.zeros((1, 1, n, 4), np.float32)
    kinds = Kinds(*np.zeros((2, n), bool))
    layer, _ = a_layer(q, q, kinds, causal=True)
    T = min(n, 64)
    want = sum(1 / i for i in range(1, T + 1)) / T
    assert measures.sink(layer.seen.group_mass[..., 0])[0, 0] == pytest.approx(want)
    if n >= 64:
        assert want == pytest.approx(0.074, abs=5e-4)
    got = measures.measures(layer, kinds, causal=True)
    assert got["next"] == 0
    assert got["entropy"][0, 0] == pytest.approx(sum(math.log(i) for i in range(1, n + 1)) / n, abs=1e-6)


def looking(n, offset):
    """q and k with which each token gives all it has to the one `offset` places on; at the ends, to itself."""
    goal = np.arange(n) + offset
    goal = np.where((goal < 0) | (goal >= n), np.arange(n), goal)
    return 100 * np.eye(n, dtype=np.float32)[goal][None, None], np.eye(n, dtype=np.float32)[None, None]


@pytest.mark.parametrize(("name", "offset"), [("same", 0), ("previous", -1), ("next", 1)])
def test_heads_that_look_at_one_place_alone(name, offset):
    n = 20
    q, k = looking(n, offset)
    kinds = Kinds(*np.zeros((2, n), bool))
    layer, _ = a_layer(q, k, kinds, scale=1.0)
    got = {key: values[0, 0] for key, values in measures.measures(layer, kinds, causal=False, scale=1.0).items()}
    there = n if name == "same" else n - 1
    assert got[name] == pytest.approx(there / n)
    assert got["entropy"] == pytest.approx(0, abs=1e-6)
    assert got["distance"] == pytest.approx(there / n * abs(offset), abs=1e-6)
    assert math.isnan(got["special"])


def test_all_on_the_first_key():
    n = 100
    q, k = np.ones((1, 1, n, 1), np.float32), np.zeros((1, 1, n, 1), np.float32)
    k[:, :, 0] = 100
    kinds = Kinds(np.arange(n) == 0, np.zeros(n, bool))
    layer, _ = a_layer(q, k, kinds)
    got = {key: values[0, 0] for key, values in measures.measures(layer, kinds, causal=False).items()}
    assert got["first"] == got["special"] == pytest.approx(1)
    assert math.isnan(got["separator"])
    assert got["distance"] == pytest.approx((n - 1) / 2, rel=1e-6)
    assert measures.sink(layer.seen.group_mass[..., 0])[0, 0] == pytest.approx(1)


def test_a_head_that_looks_one_past_the_earlier_copy():
    length, before = 6, 2
    n = before + 2 * length
    q, k = looking(n, 1 - length)
    kinds = Kinds(*np.zeros((2, n), bool))
    layer, weights = a_layer(q, k, kinds, causal=True, scale=1.0)
    got = measures.induction(layer, length, before, causal=True, scale=1.0)
    assert got[0, 0] == pytest.approx(1)
    want = [weights[0, 0, i, i - length + 1] for i in range(before + length, n)]
    assert got[0, 0] == pytest.approx(np.mean(want))
    assert measures.induction(layer, length - 1, before, causal=True, scale=1.0)[0, 0] < 0.5


def test_padding_never_counts():
    rng = np.random.default_rng(3)
    q = rng.standard_normal((1, 2, 9, 4), np.float32)
    alone, padded = q[:, :, :6], np.concatenate([q[:, :, :6], np.full((1, 2, 3, 4), np.nan, np.float32)], axis=2)
    kinds = Kinds(np.arange(6) == 0, np.arange(6) == 3)
    longer = Kinds(np.arange(9) == 0, np.arange(9) == 3)
    for causal in (False, True):
        one, _ = a_layer(alone, alone, kinds, causal)
        two, _ = a_layer(padded, padded, longer, causal, [6])
        want = measures.measures(one, kinds, causal=causal)
        got = measures.measures(two, longer, causal=causal, lengths=[6])
        for name in want:
            np.testing.assert_allclose(got[name], want[name], rtol=1e-6)
        both = [measures.sink(layer.seen.group_mass[..., 0], some) for layer, some in ((one, None), (two, [6]))]
        np.testing.assert_allclose(*both, rtol=1e-6)


LOW = {label.measure: 0.0 for label in LABELS}


@pytest.mark.parametrize("label", LABELS)
def test_a_label_begins_above_its_threshold(label):
    assert apply(LABELS, LOW) == ("mixed",)
    assert apply(LABELS, LOW | {label.measure: label.above}) == ("mixed",)
    assert apply(LABELS, LOW | {label.measure: math.nextafter(label.above, 9)}) == (label.name,)
    assert apply(LABELS, LOW | {label.measure: math.nan}) == ("mixed",)


def test_of_several_labels_the_first_is_said_and_all_are_kept():
    assert apply(LABELS, {label.measure: 9.0 for label in LABELS}) == tuple(label.name for label in LABELS)
    assert apply(LABELS, LOW | {"entropy": 4, "sink": 0.4}) == ("first-token sink", "broad")


def test_thresholds_are_those_of_the_papers():
    named = {label.key: label.above for label in labels_for(64, True)}
    assert named["broad"] == 3.8
    assert named["previous"] == named["next"] == 0.5
    assert named["separator"] == named["punctuation"] == 0.6
    assert named["sink"] == 0.3
    assert {label.key: label.above for label in labels_for(63, True)} == named | {"sink": 0.6}
    assert "induction" not in {label.key for label in labels_for(64, False)}


def test_uniform_causal_attention_is_no_sink_at_any_length():
    for n in range(4, 64):
        uniform = sum(1 / i for i in range(1, n + 1)) / n
        assert "first-token sink" not in apply(labels_for(n, True), {"sink": uniform})


def test_kinds_of_real_tokens():
    tokens = load("minilm").tokens("“Well,” she said — no; U.S. $5 (etc.)")
    kinds = kinds_of(tokens)
    named = [tokens.pieces[place] for place in np.flatnonzero(kinds.punctuation)]
    assert named == ["“", ",", "”", "—", ";", ".", ".", "(", ".", ")"]
    assert [tokens.pieces[place] for place in np.flatnonzero(kinds.special)] == ["[CLS]", "[SEP]"]


@given(st.text(max_size=3))
def test_punctuation_has_no_letters_or_digits(text):
    assert not (is_punctuation(text) and any(sign.isalnum() for sign in text))


@pytest.mark.parametrize("count", range(3, 12))
def test_a_cut_text_keeps_what_ends_it(count):
    whole = load("minilm").tokens("Tôi yêu tiếng Việt, 東京!")
    got = cut(whole, count)
    assert len(got) == min(count, len(whole))
    assert got.ids == whole.ids[: len(got) - 1] + whole.ids[-1:]
    assert whole.text.startswith(got.text)
    places = [*range(len(got) - 1), len(whole) - 1]
    assert [got.text[slice(*span)] for span in got.offsets] == [whole.text[slice(*whole.offsets[i])] for i in places]
