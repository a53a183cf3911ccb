"""Weights as shares of a given total, `lse=`, however low it is; and totals that are themselves very low."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import eyeline as el
from eyeline import reference

READ = [
    el.TopK(3),
    el.Entropy(),
    el.Received(),
    el.MeanDistance("end"),
    el.OffsetMass([-400, 0, 400], "end"),
    el.GroupMass(np.arange(400) % 3),
    el.Pooled(2, 20),
    el.Weights(),
]
MORE = [el.Received("mean"), el.Received("max"), el.Pooled(2, 20, "max")]
#: Scores that are very low where the mask shows keys, and high beyond: after the last query, and where it hides them.
LOW = {
    "alibi": el.Alibi([1.0], align="end"),
    "relative": el.RelativeBias(-100.0 * np.arange(32)[:, None], align="end"),
    "bias": el.Bias(np.where(np.arange(400) < 100, -5000.0, 0.0)[None]),
    "function": lambda s, b, h, i, j: s - 3.0 * (400 - j),
}


def low(dtype, scores, read, **more):
    q, k = np.zeros((1, 2, 2), dtype), np.zeros((1, 400, 2), dtype)
    told = {"mask": el.Dense(np.arange(400)[None] < 100), "scores": LOW[scores], "read": read, **more}
    return el.observe(q, k, k, **told), reference.observe(q, k, k, **told)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scores", LOW)
@pytest.mark.parametrize("given", [False, True])
def test_totals_that_are_very_low_leave_no_trace(dtype, scores, given):
    lse = low(dtype, scores, ())[0].lse if given else None
    for read in (READ, *[[one] for one in MORE]):
        seen, want = low(dtype, scores, read, lse=lse)
        # Weights move with the rounding of lse, which is about as large as a score's.
        rounding = np.finfo(dtype).eps * np.abs(want.lse).max() * 4
        for readout, got, exact in zip(read, seen.results, want.results, strict=True):
            for x, y in zip(got.arrays, exact.arrays, strict=True):
                assert np.isfinite(x).all(), readout
                if x.dtype == dtype and not isinstance(readout, el.TopK):
                    np.testing.assert_allclose(x, y, rtol=rounding, atol=rounding, err_msg=repr(readout))


def test_a_tensors_gradients_through_them_are_numbers():
    q, k = torch.zeros(1, 2, 2, requires_grad=True), torch.zeros(1, 400, 2, requires_grad=True)
    for scores in ("alibi", "relative", "bias"):
        told = {"mask": el.Dense(np.arange(400)[None] < 100), "scores": LOW[scores]}
        seen = el.observe(q, k, k, **told, read=READ)
        loss = sum(found.arrays[-1].square().sum() for found in seen.results) + seen.output.sum()
        assert all(d.isfinite().all() for d in torch.autograd.grad(loss, (q, k)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("less", [0.5, 1.3, 1.5, 5.0, 20.0, 26.0])
def test_a_total_that_is_less_than_the_keys_own(dtype, less):
    """Sums of columns and cells are of fixed point, which would overflow."""
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 40, 4)).astype(dtype), rng.standard_normal((2, 70, 4)).astype(dtype)
    lse = el.observe(q, k, k).lse - less
    for readout in (el.Received(), el.Received("mean"), el.Received("max"), el.Pooled(3, 5), el.Entropy(), el.TopK(2)):
        got, want = (
            see(q, k, k, lse=lse, read=readout).results[0].arrays[-1] for see in (el.observe, reference.observe)
        )
        np.testing.assert_allclose(got, want, rtol=50 * np.finfo(dtype).eps, err_msg=repr(readout))


@pytest.mark.parametrize("given", [-1000.0, -np.inf])
def test_a_total_that_is_far_less_is_refused(given):
    q, k = np.zeros((1, 2, 2)), np.zeros((1, 4, 2))
    message = f"lse must be the log of a total that these keys are part of, at least their own, 1.38629, got {given:g}"
    for read in ((), el.Received(), el.Entropy()):
        with pytest.raises(ValueError, match=re.escape(message)):
            el.observe(q, k, k, lse=np.full((1, 2), given), read=read)


def test_a_row_without_keys_has_no_share_of_any_total():
    q, k = np.zeros((1, 2, 2)), np.zeros((1, 400, 2))
    for given in (-np.inf, -1e30, 0.0, 1e30, np.inf):
        seen = el.observe(q, k, k, mask=~el.Window(400, 400, "end"), lse=np.full((1, 2), given), read=READ)
        assert (seen.output == 0).all()
        for found in seen.results:
            assert (found.arrays[-1] == 0).all()
