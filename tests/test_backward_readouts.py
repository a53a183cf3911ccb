"""Gradients of losses in what was read of the weights."""

from __future__ import annotations

from itertools import pairwise
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
from eyeline.kernels.primitive_gradients import PrimitiveGradients
from eyeline.masks import AttentionShape
from eyeline.scores import Added, Capped

B, H, G, N, M, D, E, C, K = 2, 4, 2, 150, 277, 9, 5, 3, 4
LABELS = np.random.default_rng(5).integers(-1, C, (B, M))
ROWS, COLUMNS = np.array([140, 3, 3, 77]), np.array([0, 276, 130, 131, 0])
MASKS = {
    "none": None,
    "causal": el.Causal("end"),
    "blind rows": el.Window(20, align="start") & el.Padding(queries=[N, 100]),
}


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def lse(dense):
    gradient = draw(B, H, N)
    return {"d_lse": gradient}, (dense.lse * torch.from_numpy(gradient) * dense.sees).sum()


def entropy(dense):
    gradient = draw(B, H, N, seed=1)
    return {"d_row_log_weights": -gradient}, (dense.entropy * torch.from_numpy(gradient)).sum()


def entropy_again(dense):
    more, loss = entropy(dense)
    return {**more, "row_log_weights": -dense.entropy.detach().numpy()}, loss


def received(dense):
    gradient = draw(B, H, M, seed=2)
    return {"d_column_sums": gradient}, (dense.weights.sum(2) * torch.from_numpy(gradient)).sum()


def distance(dense):
    gradient = draw(B, H, N, seed=3)
    away = (torch.arange(N)[:, None] + 5 - torch.arange(M)).abs()
    return (
        {"d_row_distances": gradient, "row_distances": 5},
        ((dense.weights * away).sum(3) * torch.from_numpy(gradient)).sum(),
    )


def offsets(dense):
    edges = (-400, -140, -3, 0, 1, 2, 40, 41, 400)
    gradient = draw(B, H, N, len(edges) - 1, seed=8)
    between = torch.arange(M) - torch.arange(N)[:, None]
    sums = [(dense.weights * ((low <= between) & (between < high))).sum(3) for low, high in pairwise(edges)]
    return (
        {"d_row_offsets": gradient, "row_offsets": edges},
        (torch.stack(sums, -1) * torch.from_numpy(gradient)).sum(),
    )


def onto(dense):
    gradient = draw(B, H, N, C, seed=4)
    own = torch.from_numpy(LABELS[:, None, None, :, None] == np.arange(C))
    sums = (dense.weights[..., None] * own).sum(3)
    return {"d_row_bins": gradient, "row_bins": LABELS}, (sums * torch.from_numpy(gradient)).sum()


def weights(dense):
    gradient = draw(B, H, len(ROWS), len(COLUMNS), seed=5)
    rectangle = dense.weights[:, :, ROWS][..., COLUMNS]
    more = {"d_rectangle": gradient, "rows": ROWS, "columns": COLUMNS}
    return more, (rectangle * torch.from_numpy(gradient)).sum()


def top(dense):
    gradient = draw(B, H, N, K, seed=6)
    found, keys = dense.weights.topk(K, 3)
    keys = torch.where(found > 0, keys, -1)
    loss = (torch.where(found > 0, found, 0.0) * torch.from_numpy(gradient)).sum()
    return {"d_selected": gradient, "selected_keys": keys.numpy()}, loss


READS = (lse, entropy, received, distance, offsets, onto, weights, top)
SINGLE = {read.__name__: (read,) for read in (*READS, entropy_again)}


def differentiate(reads, mask=None, dtype=np.float64, output=True, **more):
    """Ours, and the textbook's, for the same arrays."""
    q, k, v, d_output = (draw(*s, seed=7) for s in ((B, H, N, D), (B, G, M, D), (B, G, M, E), (B, H, N, E)))
    d_output = d_output * output
    q, k, v, d_output = (x.astype(dtype) for x in (q, k, v, d_output))
    problem = AttentionShape((B,), H, N, M)
    allowed = np.ones((B, H, N, M), bool) if mask is None else np.broadcast_to(mask.rule(problem), problem.shape)
    steps, sinks = more.pop("steps", ()), more.pop("sinks", None)
    setting = AttentionSpec(
        0.7, None if mask is None else mask.lower(problem), scores.LoweredScores(steps, sinks), **more
    )
    dense = Dense(q, k, v, allowed, 0.7, steps, sinks, **more)
    given, loss = {}, (dense.output * torch.from_numpy(d_output.astype(np.float64))).sum()
    for read in reads:
        gradients, part = read(dense)
        given.update(gradients)
        loss = loss + part
    loss.backward()
    done = run.forward(q, k, v, setting)
    got = run_backward.backward(
        q, k, v, setting, done.output, done.maxima, done.sums, d_output, PrimitiveGradients(**given)
    )
    return got, dense, done


def check(got, dense, tolerance=1e-11):
    leaves = (dense.q, dense.k, dense.v, *dense.arrays)
    for ours, leaf in zip((got.dq, got.dk, got.dv, *got.steps), leaves, strict=True):
        if leaf is not None:
            want = leaf.grad.numpy()
            assert np.abs(ours - want).max() <= tolerance * np.abs(want).max()


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("read", SINGLE)
def test_each_readout(read, mask):
    check(*differentiate(SINGLE[read], MASKS[mask])[:2])


@pytest.mark.parametrize("read", SINGLE)
def test_each_readout_alone(read):
    got, dense, _ = differentiate(SINGLE[read], MASKS["causal"], output=False)
    check(got, dense)
    assert (got.dv == 0).all()


@pytest.mark.parametrize("mask", MASKS)
def test_all_readouts_with_steps_and_dropout(mask):
    steps = (Added(draw(1, H, N, M)), Capped(2.0))
    check(*differentiate(READS, MASKS[mask], steps=steps, dropout=0.3, seed=11)[:2])


@pytest.mark.parametrize("reads", [(lse,), (entropy_again, lse), READS], ids=["lse", "entropy", "all"])
def test_sinks_take_part(reads):
    sinks = draw(H, seed=9)
    got, dense, done = differentiate(reads, MASKS["blind rows"], sinks=sinks)
    check(got, dense)
    share = np.exp2(sinks[:, None] * np.log2(np.e) - done.maxima) / done.sums
    ours, want = -(share * got.delta).sum(axis=(0, 2)), dense.sinks.grad.numpy()
    np.testing.assert_allclose(ours, want, atol=1e-11 * np.abs(want).max())


def test_all_readouts_in_float32():
    check(*differentiate(READS, MASKS["causal"], np.float32)[:2], 2e-5)


def test_a_weight_of_nothing_has_no_entropy_to_give():
    """A weight too small for its type is 0, and its logarithm none the worse for it."""
    q, k = np.full((1, 1, 1, 1), 400.0, np.float32), np.array([1.0, 0.0, -1.0], np.float32)[None, None, :, None]
    setting = AttentionSpec(1.0)
    done = run.forward(q, k, k, setting)
    reads = PrimitiveGradients(d_row_log_weights=-np.ones((1, 1, 1), np.float32))
    got = run_backward.backward(q, k, k, setting, done.output, done.maxima, done.sums, np.zeros_like(q), reads)
    for gradient in (got.dq, got.dk, got.dv):
        assert (gradient == 0).all()


def test_threads_and_stripes_change_no_bit():
    with patch.object(launch, "WORTH_A_THREAD", -1), patch.object(run_backward, "_MOST_KEYS", 128):
        try:
            threads.set_threads(1)
            want, _, _ = differentiate(READS, MASKS["causal"], np.float32)
            threads.set_threads(3)
            for _ in range(5):
                got, _, _ = differentiate(READS, MASKS["causal"], np.float32)
                for name in ("dq", "dk", "dv", "delta"):
                    same_bits(getattr(got, name), getattr(want, name))
        finally:
            threads.set_threads(None)
