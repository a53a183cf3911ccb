"""Gradients through what changes the scores, through dropout, and to the arrays that were added."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from comparing import same_bits

pytest.importorskip("torch")
import torch
from autograd import Dense

import eyeline as el
from eyeline import scores
from eyeline.kernels import launch, run, run_backward, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.masks import AttentionShape
from eyeline.scores import Added, Called, Capped, Relative

SHAPE = B, H, G, N, M, D, E = 2, 4, 2, 150, 277, 9, 5


def bent(s, b, h, i, j):
    return s + 0.1 * s * s * (h + 1) - s * b / (1 + j)


def slope(s, b, h, i, j):
    return 1 + 0.2 * s * (h + 1) - b / (1 + j)


def draw(*shape: int, seed: int = 0, dtype: type = np.float64) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


STEPS = {
    "none": (),
    "table": (Relative(draw(H, N + M - 1)),),
    "one table": (Relative(draw(1, N + M - 1)),),
    "bias": (Added(draw(B, H, N, M)),),
    "bias of all": (Added(draw(1, 1, N, M)),),
    "bias of a head": (Added(draw(1, H, N, M)),),
    "bias of queries": (Added(draw(B, H, N, 1)), Capped(2.0)),  # alone it changes nothing
    "bias of heads": (Added(draw(B, H, 1, 1)), Capped(2.0)),
    "bias of keys": (Added(draw(B, 1, 1, M)),),
    "turned bias": (Added(draw(M, N).T[None, None]),),
    "cap": (Capped(1.5),),
    "function": (Called(bent, slope),),
    "function without slope": (Called(bent),),
    "all": (Capped(2.0), Added(draw(1, H, N, M)), Called(bent, slope), Relative(draw(H, N + M - 1)), Capped(3.0)),
}
MASKS = {"none": None, "causal": el.Causal("end"), "holes": el.Dense(draw(N, M, seed=3) < -0.5)}


def differentiate(steps, mask=None, dtype=np.float64, **more):
    """Ours, and the textbook's, for the same arrays."""
    q, k, v, d_output = (draw(*s, seed=1) for s in ((B, H, N, D), (B, G, M, D), (B, G, M, E), (B, H, N, E)))
    q, k, v, d_output = (x.astype(dtype) for x in (q, k, v, d_output))
    problem = AttentionShape((B,), H, N, M)
    allowed = np.ones((B, H, N, M), bool) if mask is None else np.broadcast_to(mask.rule(problem), problem.shape)
    sinks = more.pop("sinks", None)
    lowered = scores.LoweredScores(steps, sinks)
    setting = AttentionSpec(0.4, None if mask is None else mask.lower(problem), lowered, **more)
    done = run.forward(q, k, v, setting)
    got = run_backward.backward(q, k, v, setting, done.output, done.maxima, done.sums, d_output)
    dense = Dense(q, k, v, allowed, 0.4, steps, sinks, **more)
    dense.output.backward(torch.from_numpy(d_output.astype(np.float64)))
    return got, dense, done


def check(got, dense, tolerance=1e-11):
    found = [got.dq, got.dk, got.dv, *got.steps]
    leaves = [dense.q, dense.k, dense.v, *dense.arrays]
    assert len(found) == len(leaves)
    for ours, leaf in zip(found, leaves, strict=True):
        assert (ours is None) == (leaf is None)
        if leaf is not None:
            want = leaf.grad.numpy()
            assert ours.shape == want.shape
            assert np.abs(ours - want).max() <= tolerance * np.abs(want).max()


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("steps", STEPS)
def test_steps_backward(steps, mask):
    got, dense, _ = differentiate(STEPS[steps], MASKS[mask])
    check(got, dense, 1e-8 if steps == "function without slope" else 1e-11)


@pytest.mark.parametrize("steps", ["bias of a head", "all"])
def test_steps_backward_in_float32(steps):
    got, dense, _ = differentiate(STEPS[steps], MASKS["causal"], np.float32)
    check(got, dense, 2e-5)


@pytest.mark.parametrize("steps", ["none", "all"])
def test_dropout_drops_the_same_weights(steps):
    got, dense, _ = differentiate(STEPS[steps], MASKS["causal"], dropout=0.3, seed=2**63 + 5)
    check(got, dense)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_sinks_gradient_is_its_share_of_the_totals(dropout):
    sinks = draw(H, seed=9)
    for mask in (None, el.Dense(draw(N, M, seed=4) < -1.5) & el.Padding(queries=[N - 10])):
        got, dense, done = differentiate((), mask, sinks=sinks, dropout=dropout, seed=7)
        check(got, dense)
        share = np.exp2(sinks[:, None] * np.log2(np.e) - done.maxima) / done.sums
        ours, want = -(share * got.delta).sum(axis=(0, 2)), dense.sinks.grad.numpy()
        np.testing.assert_allclose(ours, want, atol=1e-11 * np.abs(want).max())


def test_only_what_is_wanted_is_found():
    q = draw(1, 2, 20, 4)
    setting = AttentionSpec(1.0, None, scores.LoweredScores((Relative(draw(1, 39)), Added(draw(1, 1, 20, 20)))))
    done = run.forward(q, q, q, setting)
    arguments = (q, q, q, setting, done.output, done.maxima, done.sums, q)
    both = run_backward.backward(*arguments)
    one = run_backward.backward(*arguments, wanted=[False, True])
    assert one.steps[0] is None
    same_bits(one.steps[1], both.steps[1])
    same_bits(one.dq, both.dq)


@pytest.mark.parametrize(
    "steps", ["table", "one table", "bias", "bias of queries", "bias of heads", "bias of keys", "all"]
)
def test_threads_and_stripes_change_no_bit(steps):
    with patch.object(launch, "WORTH_A_THREAD", -1), patch.object(run_backward, "_MOST_KEYS", 128):
        try:
            for dropout in (0.0, 0.2):
                threads.set_threads(1)
                want, _, _ = differentiate(STEPS[steps], MASKS["causal"], np.float32, dropout=dropout)
                threads.set_threads(3)
                for _ in range(3):
                    got, _, _ = differentiate(STEPS[steps], MASKS["causal"], np.float32, dropout=dropout)
                    for ours, theirs in zip(
                        (got.dq, got.dk, got.dv, *got.steps), (want.dq, want.dk, want.dv, *want.steps), strict=True
                    ):
                        if ours is not None:
                            same_bits(ours, theirs)
        finally:
            threads.set_threads(None)
