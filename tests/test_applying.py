"""A head's weights times any numbers, and their transpose, against the weights themselves."""

from __future__ import annotations

import numpy as np
import pytest
from edits import OtherRun

import eyeline as el
from eyeline import edits as ed
from eyeline.traces import Trace, TraceError, record
from eyeline.traces.allowed import allowed
from eyeline.traces.layer_trace import LayerArrays
from eyeline.traces.tokenized_text import given_lines


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


N, M = 141, 150
Q, K = (numbers(*size, seed=seed).astype(np.float32) for seed, size in ((1, (4, N, 8)), (2, (2, M, 8))))
BIAS = np.where(numbers(4, N, M, seed=3) > 2, -np.inf, numbers(4, N, M, seed=4)).astype(np.float32)
SINKS = numbers(4, seed=5).astype(np.float32)
HOLES = el.Dense(numbers(4, N, M, seed=6) > 0)
OTHER = OtherRun(*(numbers(4, n, 8, seed=n).astype(np.float32) for n in (155, 160, 160)), el.Causal("end"))
PLACE = ed.place_of(4, 2, N, M)


def a_trace(mask=None, edits=(), **changes) -> Trace:
    own = ed.lowered(edits, PLACE) if edits else None
    arrays = LayerArrays(Q, K, None, allowed(mask, 4, N, M), 0.3, **changes, edits=own)
    sinks = changes.get("sinks")
    scores = [el.Softcap(changes["softcap"])] if "softcap" in changes else []
    scores += [el.Bias(changes["bias"])] if "bias" in changes else []
    scores += [] if sinks is None else [el.Sinks(sinks)]
    lse = el.observe(Q, K, K, mask=mask, scale=0.3, scores=scores, edits=own or ()).lse
    arrays = LayerArrays(Q, K, None, allowed(mask, 4, N, M), 0.3, **changes, edits=own, lse=lse)
    words = [["a"] * n for n in (N, M)]
    return Trace.of_layers([arrays], *given_lines(*words, N, M, name="n", model="m"), name="n", model="m")


TRACES = {
    "plain": {},
    "causal": {"mask": el.Causal("end")},
    "window": {"mask": el.Window(9, 3, "start") & el.Padding(keys=[120])},
    "nothing to see": {"mask": el.Causal(-7)},
    "holes": {"mask": HOLES},
    "cap": {"softcap": 1.5},
    "bias": {"bias": BIAS, "mask": el.Causal("end")},
    "sinks": {"sinks": SINKS, "softcap": 3.0},
    "uniform": {"edits": [ed.Uniform(head=2)], "mask": el.Causal("end")},
    "factors": {
        "edits": [
            ed.Reweight(head=[2, 3], queries=slice(3, None, 2), keys=slice(0, 70), by=0.3),
            ed.Reweight(head=2, keys=slice(40, 90), by=numbers(N, seed=9)),
            ed.Gate(head=2, by=0.0),
        ],
        "mask": el.Causal("end"),
    },
    "pattern": {"edits": [ed.Pattern(OTHER, head=2)]},
    "some of a pattern": {
        "edits": [
            ed.Pattern(OTHER, head=2, queries=slice(5, 90), keys=slice(0, None, 3)),
            ed.Reweight(head=2, keys=[3, 6, 7], by=2.0),
        ],
        "mask": el.Window(20, 20, "start"),
    },
}


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_weights(name, dtype):
    trace = a_trace(**TRACES[name])
    w = trace.weights(0, 2).astype(np.float64)
    assert w.any() or name == "nothing to see"
    x, y = numbers(M, 5, seed=7).astype(dtype), numbers(N, 3, seed=8).astype(dtype)
    forward, back = trace.apply(0, 2, x), trace.apply(0, 2, y, transposed=True)
    assert forward.dtype == back.dtype == dtype
    np.testing.assert_allclose(forward, w @ x, atol=2e-5)
    np.testing.assert_allclose(back, w.T @ y, atol=2e-5)
    if dtype == np.float64:  # <y, A·x> = <Aᵀ·y, x>
        np.testing.assert_allclose(y.T @ forward, back.T @ x, atol=1e-10)


def test_wide_numbers_single_ones_and_none():
    trace, w = a_trace(), a_trace().weights(0, 1)
    x, y = numbers(M, 600, seed=1).astype(np.float32), numbers(N, 600, seed=2).astype(np.float32)
    np.testing.assert_allclose(trace.apply(0, 1, x), w @ x, atol=1e-5)
    np.testing.assert_allclose(trace.apply(0, 1, y, transposed=True), w.T @ y, atol=1e-5)
    np.testing.assert_allclose(trace.apply(0, 1, x[:, 0]), w @ x[:, 0], atol=1e-5)
    np.testing.assert_allclose(trace.apply(0, 1, np.ones(N), transposed=True), w.sum(axis=0), atol=1e-5)
    assert trace.apply(0, 1, x[:, :0]).shape == (N, 0)
    assert trace.apply(0, 1, y[:, :0], transposed=True).shape == (M, 0)


def test_the_values_of_a_real_head_give_its_output():
    trace = record("time flies like an arrow", values=True)
    layer = trace.layer(5)
    np.testing.assert_allclose(trace.apply(5, 3, layer.v[3]), layer.output_of([3])[0], atol=1e-6)


@pytest.mark.parametrize("x", [np.ones((N, 2)), np.ones((M, 2, 2)), ["a"] * M, 1.0, None, np.ones(M) * 1j], ids=str)
def test_what_does_not_fit_is_refused(x):
    with pytest.raises(TraceError, match=f"X must be real numbers, \\({M}, E\\) or"):
        a_trace().apply(0, 0, x)


def test_heads_that_are_not_there():
    with pytest.raises(TraceError, match="head must be from 0 to 3, got 4"):
        a_trace().apply(0, 4, np.ones(M))
