"""The formula itself: the textbook's example, each step, and the same numbers as another implementation's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from strategies import cases

import eyeline as el
from eyeline import reference


def test_the_textbook_example():
    rng = np.random.default_rng(0)
    time, flies, arrow = v = rng.standard_normal((3, 5))
    new = reference.weighted_sum([0.45, 0.10, 0.45], v)
    np.testing.assert_allclose(new, 0.45 * time + 0.10 * flies + 0.45 * arrow, rtol=1e-15)


def test_attention_gives_the_textbook_weights():
    # Scores whose softmax is 0.45, 0.10, 0.45 for flies, and 1 for the others' own.
    q, k = np.log([[1e200, 1, 1], [0.45, 0.10, 0.45], [1, 1, 1e200]]), np.eye(3)
    v = np.random.default_rng(1).standard_normal((3, 4))
    seen = el.observe(q, k, v, scale=1.0, read=[el.Weights()])
    np.testing.assert_allclose(seen.weights, [[1, 0, 0], [0.45, 0.10, 0.45], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(seen.output[1], 0.45 * v[0] + 0.10 * v[1] + 0.45 * v[2], rtol=1e-14)


def test_project_is_a_linear_layer_cut_into_heads():
    rng = np.random.default_rng(2)
    x, weight, bias = rng.standard_normal((2, 5, 6)), rng.standard_normal((12, 6)), rng.standard_normal(12)
    y = reference.project(x, weight, bias, heads=3)
    assert y.shape == (2, 3, 5, 4)
    for b, h, i, d in [(0, 0, 0, 0), (1, 2, 4, 3), (0, 1, 2, 3)]:
        assert y[b, h, i, d] == pytest.approx(x[b, i] @ weight[4 * h + d] + bias[4 * h + d])
    np.testing.assert_allclose(reference.project(x[0], weight)[0], x[0] @ weight.T)
    assert reference.project(x[:, :0], weight, heads=3).shape == (2, 3, 0, 4)


def test_steps_keep_every_intermediate():
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((2, 4, 7, 16)).astype(np.float32) for _ in range(3))
    steps = reference.steps(q, k, v, mask=el.Causal())
    assert steps.scale == 0.25
    for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "lse", "output"):
        assert getattr(steps, name).dtype == np.float64
    b, h, i, j = 1, 3, 5, 2
    score = float(q[b, h, i].astype(np.float64) @ k[b, h, j].astype(np.float64))
    assert steps.scores[b, h, i, j] == pytest.approx(score)
    assert steps.scaled[b, h, i, j] == pytest.approx(score / 4)
    assert steps.masked[b, h, i, j] == steps.scaled[b, h, i, j]
    assert steps.masked[b, h, j, i] == -np.inf
    exponentials = [math.exp(s) for s in steps.scaled[b, h, i, : i + 1]]
    assert steps.lse[b, h, i] == pytest.approx(math.log(sum(exponentials)))
    np.testing.assert_allclose(steps.weights[b, h, i, : i + 1], np.array(exponentials) / sum(exponentials))
    assert (steps.weights[b, h, i, i + 1 :] == 0).all()
    np.testing.assert_allclose(steps.output[b, h, i], steps.weights[b, h, i, : i + 1] @ v[b, h, : i + 1])


@given(cases(layouts=("contiguous",)))
def test_rows_sum_to_one_or_may_look_at_nothing(case):
    steps = reference.steps(case.q, case.k, case.v, mask=case.mask, scale=case.scale)
    allowed = case.allowed()
    looks = allowed.any(axis=-1)
    np.testing.assert_allclose(steps.weights.sum(axis=-1), looks, atol=1e-12)
    assert (steps.weights[~allowed] == 0).all()
    assert (steps.output[~looks] == 0).all()
    np.testing.assert_array_equal(np.isneginf(steps.lse), ~looks)


def test_softmax_of_large_and_of_hidden_scores():
    weights, lse = reference.softmax(np.array([[1e4, 1e4, -1e4], [-np.inf, 3.0, -np.inf], [-np.inf] * 3]))
    np.testing.assert_array_equal(weights, [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 0]])
    np.testing.assert_allclose(lse, [1e4 + math.log(2), 3, -np.inf])
    empty_weights, empty_lse = reference.softmax(np.zeros((2, 0)))
    assert empty_weights.shape == (2, 0)
    assert (empty_lse == -np.inf).all()


def test_what_a_mask_hides_can_be_anything():
    rng = np.random.default_rng(4)
    q, k, v = (rng.standard_normal((6, 3)) for _ in range(3))
    mask = el.Padding([4])
    want = reference.steps(q[:4], k[:4], v[:4])
    for what in (np.nan, np.inf, -np.inf):
        k[4:] = v[4:] = q[4:] = what
        got = reference.steps(q, k, v, mask=mask)
        np.testing.assert_allclose(got.output[:4], want.output, rtol=1e-15)
        np.testing.assert_allclose(got.weights[:4, :4], want.weights, rtol=1e-15)
        assert (got.output[4:] == 0).all()
        assert (got.weights[4:] == 0).all()
        assert (got.weights[:, 4:] == 0).all()


def test_a_visible_nan_reaches_the_rows_that_see_it_and_no_others():
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal((6, 3)) for _ in range(3))
    v[3] = np.nan
    output = reference.steps(q, k, v, mask=el.Causal()).output
    np.testing.assert_array_equal(np.isnan(output).any(axis=-1), np.arange(6) >= 3)


def test_grouped_heads_are_repeated_heads():
    rng = np.random.default_rng(6)
    q, k, v = rng.standard_normal((2, 6, 5, 4)), rng.standard_normal((2, 2, 7, 4)), rng.standard_normal((2, 2, 7, 3))
    grouped = reference.steps(q, k, v)
    for h in range(6):
        alone = reference.steps(q[:, h], k[:, h // 3], v[:, h // 3])
        np.testing.assert_allclose(grouped.output[:, h], alone.output, rtol=1e-14)


@pytest.mark.parametrize("mask", [None, el.Causal(), el.Window(2) | el.Padding(keys=[1])])
def test_torch_gives_the_same(mask):
    import torch

    rng = np.random.default_rng(7)
    q, k, v = (rng.standard_normal((3, 4, 9, 8)) for _ in range(3))
    allowed = None if mask is None else torch.from_numpy(mask.dense(9))
    want = torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v)), attn_mask=allowed)
    np.testing.assert_allclose(reference.steps(q, k, v, mask=mask).output, want.numpy(), atol=1e-14)
    np.testing.assert_allclose(el.attention(q, k, v, mask=mask), want.numpy(), atol=1e-14)
