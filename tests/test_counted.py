"""Readouts of some queries: those that don't count are read as if they might look at no key, in the same pass."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from comparing import same_bits
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, readouts

import eyeline as el
import eyeline.torch as et
from eyeline import reference
from eyeline.attention.call import Call
from eyeline.attention.observed import observed
from eyeline.torch.attending import observe_counted

READ = [
    el.TopK(3),
    el.Entropy(),
    el.Received("mean"),
    el.MeanDistance("end"),
    el.OffsetMass([-20, -1, 0, 20], "end"),
    el.Pooled(5, 7),
    el.Weights(queries=[3, 1, 0]),
    el.GroupMass(np.arange(20) % 3 - 1),
]


def hidden_from(counted: np.ndarray) -> el.Dense:
    """The mask that hides all keys from queries that don't count."""
    return el.Dense(counted[..., None, :, None])


def joined(mask: el.masks.Mask | None, other: el.masks.Mask) -> el.masks.Mask:
    return other if mask is None else mask & other


@given(cases(), st.data())
def test_queries_that_dont_count_are_read_as_if_all_were_hidden_from_them(case, data):
    q, k, v, problem = case.q, case.k, case.v, case.problem
    read = data.draw(readouts(problem))
    counted = np.random.default_rng(data.draw(st.integers(0, 9))).random((problem.batch, problem.queries)) < 0.6
    sinks = data.draw(st.sampled_from(((), (el.Sinks(np.zeros(problem.heads)),))))
    asked = {"scale": case.scale, "scores": sinks}
    got = observed(Call(q, k, v, mask=case.mask, **asked), read, counted)[0]
    whole = observed(Call(q, k, v, mask=case.mask, **asked), read)[0]
    hidden = joined(case.mask, hidden_from(counted.reshape(*problem.lead, problem.queries)))
    want = observed(Call(q, k, v, mask=hidden, **asked), read)[0]
    same_bits(got.output, whole.output)
    same_bits(got.lse, whole.lse)
    for readout, mine, theirs in zip(got.read, got.results, want.results, strict=True):
        for described, x, y in zip(readout.results(problem), mine.arrays, theirs.arrays, strict=True):
            if "queries" in described.axes:
                same_bits(x, y)
            else:  # sums over queries may be in another order where a mask lets blocks be left out
                np.testing.assert_allclose(x, y, rtol=10 * np.finfo(x.dtype).eps, atol=1e-12)


def test_what_does_not_count_may_be_anything():
    """NaN and infinite scores of such queries reach no readout."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 2, 40, 8), dtype=np.float32) for _ in range(3))
    counted = np.ones((2, 40), bool)
    counted[1, 30:] = False
    want = observed(Call(q, k, v), READ[:5], counted)[0]
    q[1, :, 30:35], q[1, :, 35:] = np.nan, np.inf
    got = observed(Call(q, k, v), READ[:5], counted)[0]
    for mine, theirs in zip(got.results, want.results, strict=True):
        for x, y in zip(mine.arrays, theirs.arrays, strict=True):
            same_bits(x, y)


@pytest.mark.parametrize("portable", [None, 100])
@pytest.mark.parametrize("gradients", [False, True])
def test_on_tensors(portable, gradients):
    """The reference's numbers on both paths, and the gradients of the call in which all is hidden from the others."""
    torch.manual_seed(0)
    shapes = (2, 4, 33, 8), (2, 2, 20, 8), (2, 2, 20, 4)
    q, k, v = (torch.randn(shape, dtype=torch.float64, requires_grad=gradients) for shape in shapes)
    counted = torch.rand(2, 33) < 0.5
    mask = el.Padding(keys=[20, 7])
    asked = {"scale": None, "scores": (), "dropout": 0.0, "seed": None, "read": READ}
    hidden = mask & hidden_from(counted.numpy())
    arrays = [x.detach().numpy() for x in (q, k, v)]
    with nullcontext() if portable is None else et.portable(portable):
        output, got = observe_counted(q, k, v, mask=mask, counted=counted, **asked)
        masked = et.observe(q, k, v, mask=hidden, **asked)
    want = reference.observe(*arrays, mask=hidden, read=READ)
    np.testing.assert_allclose(output.detach(), reference.observe(*arrays, mask=mask).output, rtol=1e-9)
    for mine, theirs in zip(got.results, want.results, strict=True):
        for x, y in zip(mine.arrays, theirs.arrays, strict=True):
            np.testing.assert_allclose(torch.as_tensor(x).detach(), y, rtol=1e-9, atol=1e-12)
    if gradients:
        sums = [sum((found.arrays[-1] ** 2).sum() for found in seen.results) for seen in (got, masked)]
        mine, theirs = (torch.autograd.grad(total, (q, k)) for total in sums)
        for x, y in zip(mine, theirs, strict=True):
            torch.testing.assert_close(x, y)


@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 20])
def test_the_best_keys_among_equal_ones_come_in_order(k):
    """Up to 8 are kept in registers, more in memory."""
    rng = np.random.default_rng(k)
    scores = rng.integers(-3, 4, (2, 37, 300)).astype(np.float32)
    x, ones = np.ones((2, 37, 1), np.float32), np.ones((2, 300, 1), np.float32)
    mask = el.Padding(keys=[290]) & el.Window(200, 250, "end")
    asked = {"mask": mask, "scores": el.Bias(scores), "read": el.TopK(k)}
    got, want = el.observe(x, ones, ones, **asked).top_k, reference.observe(x, ones, ones, **asked).top_k
    np.testing.assert_array_equal(got.keys, want.keys)
    np.testing.assert_allclose(got.weights, want.weights, rtol=2e-6)
