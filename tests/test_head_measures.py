"""The numbers of heads against brute force on the dense weights, and against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyeline as el
from eyeline.answers.behaviour import head_measures
from eyeline.answers.behaviour.head_labels import LABELS, apply, labels_for
from eyeline.answers.behaviour.token_groups import TokenGroups, groups_of, is_punctuation
from eyeline.models import load
from eyeline.models.cutting import cut
from eyeline.traces import Trace


def a_layer(q, k, mask=None, scale=None):
    """A trace's layer with q (H, N, D) and k (G, N, D), and its weights, (H, N, N)."""
    words = [str(place) for place in range(q.shape[1])]
    layer = Trace.of(q[None], k[None], mask=mask, scale=scale, queries=words).layers[0]
    weights = el.observe(q, k, k, mask=mask, scale=scale, read=el.Weights()).weights
    return layer, weights.astype(np.float64)


def measured(layer, groups):
    return head_measures.measures(layer, layer.observe(head_measures.readouts(groups)), groups)


def brute(weights, groups):
    """Every number of `measures` from the dense weights, (H, N, N), as its definition says."""
    N = weights.shape[-1]
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
        "special": weights * groups.special,
        "separator": weights * (groups.special & ~first),
        "punctuation": weights * (groups.punctuation & ~first),
        "sink": weights * first * (i < 64) * N / min(N, 64),
    }
    result = {name: cells.sum((-1, -2)) / N for name, cells in each.items()}
    absent = {
        "special": groups.special.any(),
        "separator": groups.special[1:].any(),
        "punctuation": groups.punctuation[1:].any(),
    }
    return {name: values if absent.get(name, True) else np.full_like(values, np.nan) for name, values in result.items()}


def some_mask(rng, number, N):
    masks = [None, el.Causal(), el.Causal() & el.Window(2, 0), el.Window(1), el.Dense(rng.random((N, N)) < 0.7)]
    return masks[number]


@given(st.data(), st.integers(1, 2), st.integers(1, 3), st.integers(1, 9), st.integers(0, 4))
def test_every_number_is_that_of_the_dense_weights(data, G, heads_each, N, mask):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = data.draw(st.sampled_from([0.0, 1.0, 5.0]))
    q = (size * rng.standard_normal((G * heads_each, N, 4))).astype(np.float32)
    k = rng.standard_normal((G, N, 4)).astype(np.float32)
    special = np.array(data.draw(st.lists(st.booleans(), min_size=N, max_size=N)))
    groups = TokenGroups(special, ~special & (rng.random(N) < 0.3))
    layer, weights = a_layer(q, k, some_mask(rng, mask, N), data.draw(st.none() | st.just(0.3)))
    got, want = measured(layer, groups), brute(weights, groups)
    assert list(got) == list(want)
    for name, values in want.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-4, atol=1e-5, err_msg=name)


@given(st.integers(0, 2**32), st.integers(-12, 12), st.integers(0, 4))
def test_a_diagonal_is_that_of_the_dense_weights(seed, offset, mask):
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((4, 10, 8), np.float32), rng.standard_normal((2, 10, 8), np.float32)
    layer, weights = a_layer(q, k, some_mask(rng, mask, 10))
    want = np.zeros((4, 10))
    for i in range(10):
        if 0 <= i + offset < 10:
            want[:, i] = weights[:, i, i + offset]
    np.testing.assert_allclose(head_measures.shifted(layer, offset), want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("causal", [False, True])
def test_padding_never_counts(causal):
    """Whatever stands in it: the means over all queries are those over the queries that see something."""
    rng = np.random.default_rng(3)
    q, k = rng.standard_normal((4, 9, 4), np.float32), rng.standard_normal((2, 9, 4), np.float32)
    k[:, 6:] = 1e30
    special, punctuation = np.arange(9) == 0, np.arange(9) == 3
    more = el.Causal() if causal else el.Window(9)
    alone, _ = a_layer(q[:, :6], k[:, :6], more)
    padded, _ = a_layer(q, k, more & el.Dense((np.arange(9) < 6) & (np.arange(9) < 6)[:, None]))
    want = measured(alone, TokenGroups(special[:6], punctuation[:6]))
    for name, values in measured(padded, TokenGroups(special, punctuation)).items():
        np.testing.assert_allclose(values * 9 / 6, want[name], rtol=1e-5, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 200])
def test_attention_that_is_alike_on_all(n):
    q = np.zeros((1, n, 4), np.float32)
    groups = TokenGroups(np.arange(n) == 0, np.arange(n) == max(n - 1, 1))
    layer, _ = a_layer(q, q)
    got = {name: values[0] for name, values in measured(layer, groups).items()}
    assert got["entropy"] == pytest.approx(math.log(n), abs=1e-6)
    assert got["distance"] == pytest.approx((n * n - 1) / (3 * n), rel=1e-5)
    assert got["previous"] == got["next"] == pytest.approx((n - 1) / n**2)  # n - 1 rows of 1/n, divided by n
    for name in ("same", "first", "special", "sink", *(["punctuation"] if n > 1 else [])):
        assert got[name] == pytest.approx(1 / n)


@pytest.mark.parametrize("n", [1, 5, 64, 200])
def test_causal_attention_that_is_alike_on_all_has_a_sink_of_harmonic_numbers(n):
    q = np.zeros((1, n, 4), np.float32)
    layer, _ = a_layer(q, q, el.Causal())
    got = measured(layer, TokenGroups(*np.zeros((2, n), bool)))
    T = min(n, 64)
    want = sum(1 / i for i in range(1, T + 1)) / T
    assert got["sink"][0] == pytest.approx(want)
    if n >= 64:
        assert want == pytest.approx(0.074, abs=5e-4)
    assert got["next"] == 0
    assert got["entropy"][0] == pytest.approx(sum(math.log(i) for i in range(1, n + 1)) / n, abs=1e-6)


def looking(n, offset):
    """q and k with which each token gives all it has to the one `offset` places on; at the ends, to itself."""
    goal = np.arange(n) + offset
    goal = np.where((goal < 0) | (goal >= n), np.arange(n), goal)
    return 100 * np.eye(n, dtype=np.float32)[goal][None], np.eye(n, dtype=np.float32)[None]


@pytest.mark.parametrize(("name", "offset"), [("same", 0), ("previous", -1), ("next", 1)])
def test_heads_that_look_at_one_place_alone(name, offset):
    n = 20
    layer, _ = a_layer(*looking(n, offset), scale=1.0)
    got = {key: values[0] for key, values in measured(layer, TokenGroups(*np.zeros((2, n), bool))).items()}
    there = n if name == "same" else n - 1
    assert got[name] == pytest.approx(there / n)
    assert got["entropy"] == pytest.approx(0, abs=1e-6)
    assert got["distance"] == pytest.approx(there / n * abs(offset), abs=1e-6)
    assert math.isnan(got["special"])


def test_all_on_the_first_key():
    n = 100
    q, k = np.ones((1, n, 1), np.float32), np.zeros((1, n, 1), np.float32)
    k[:, 0] = 100
    layer, _ = a_layer(q, k)
    got = {
        name: values[0] for name, values in measured(layer, TokenGroups(np.arange(n) == 0, np.zeros(n, bool))).items()
    }
    assert got["first"] == got["special"] == got["sink"] == pytest.approx(1)
    assert math.isnan(got["separator"])
    assert got["distance"] == pytest.approx((n - 1) / 2, rel=1e-6)


def test_a_head_that_looks_one_past_the_earlier_copy():
    length, before = 6, 2
    n = before + 2 * length
    layer, weights = a_layer(*looking(n, 1 - length), el.Causal(), 1.0)
    got = head_measures.induction(layer, length, before)
    assert got[0] == pytest.approx(1)
    want = [weights[0, i, i - length + 1] for i in range(before + length, n)]
    assert got[0] == pytest.approx(np.mean(want))
    assert head_measures.induction(layer, length - 1, before)[0] < 0.5


def test_scores_that_are_capped_or_biased_are_measured_as_they_are():
    rng = np.random.default_rng(5)
    q, k = (3 * rng.standard_normal((2, 9, 4)).astype(np.float32) for _ in "qk")
    bias = rng.standard_normal((2, 9, 9)).astype(np.float32)
    scores = [el.Softcap(2.0), el.Bias(bias)]
    seen = el.observe(q, k, k, mask=el.Causal(), scores=scores, read=el.Weights())
    plain, _ = a_layer(q, k, el.Causal())
    layer = replace(plain, softcap=2.0, bias=bias, lse=seen.lse)
    groups = TokenGroups(np.arange(9) == 0, np.arange(9) == 4)
    got, want = measured(layer, groups), brute(seen.weights.astype(np.float64), groups)
    for name, values in want.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-4, atol=1e-5, err_msg=name)


LOW = {label.measure: 0.0 for label in LABELS}


@pytest.mark.parametrize("label", LABELS)
def test_a_label_begins_above_its_threshold(label):
    assert apply(LABELS, LOW) == ("mixed",)
    assert apply(LABELS, LOW | {label.measure: label.above}) == ("mixed",)
    assert apply(LABELS, LOW | {label.measure: math.nextafter(label.above, 9)}) == (label.label,)
    assert apply(LABELS, LOW | {label.measure: math.nan}) == ("mixed",)


def test_of_several_labels_the_first_is_said_and_all_are_kept():
    assert apply(LABELS, {label.measure: 9.0 for label in LABELS}) == tuple(label.label for label in LABELS)
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


def test_groups_of_real_tokens():
    tokens = load("minilm").tokens("“Well,” she said — no; U.S. $5 (etc.)")
    groups = groups_of(tokens)
    named = [tokens.pieces[place] for place in np.flatnonzero(groups.punctuation)]
    assert named == ["“", ",", "”", "—", ";", ".", ".", "(", ".", ")"]
    assert [tokens.pieces[place] for place in np.flatnonzero(groups.special)] == ["[CLS]", "[SEP]"]


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
