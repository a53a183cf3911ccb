"""The growth of attention's cost with the sequence, beside an RNN of the same width."""

from __future__ import annotations

import ctypes
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.bench.turns import turn_by_turn
from eyeline.calls import attention
from eyeline.kernels.threads import get_threads
from eyeline.views.measurements import Curve, Growth, Point
from eyeline.words import noted

HEADS, HEAD_DIM = 8, 64
WIDTH = HEADS * HEAD_DIM
SHORTEST, LONGEST = 256, 131072


def lengths(longest: int) -> list[int]:
    """The numbers of tokens to measure, doubling from 256 up to `longest`.

    >>> lengths(1024)
    [256, 512, 1024]
    """
    found = [SHORTEST]
    while 2 * found[-1] <= longest:
        found.append(2 * found[-1])
    return found


def recurrent_name() -> str:
    """The name of the measured GRU: torch's if it is installed, else one in NumPy."""
    from importlib.util import find_spec

    return noted("a GRU (torch)") if find_spec("torch") else noted("a GRU (NumPy)")


def grow(counts: Sequence[int]) -> Iterator[tuple[Point, Point]]:
    """Measure the cost of attention and of a GRU, one pair for each number of tokens.

    Attention gets q, k and v: 8 heads of width 64. The GRU, of width 512, gets its input, and computes its own
        projections of it.
    """
    recurrent = _torch_gru() if "torch" in recurrent_name() else _numpy_gru()
    for tokens in counts:
        rng = np.random.default_rng(0)
        q, k, v = (rng.standard_normal((1, HEADS, tokens, HEAD_DIM), dtype=np.float32) for _ in range(3))
        attend: Callable[[], object] = partial(attention, q, k, v)
        recur = recurrent(rng.standard_normal((tokens, WIDTH), dtype=np.float32))
        attend(), recur()  # the first call compiles and loads
        seconds = turn_by_turn({"attend": attend, "recur": recur}, 7 if tokens <= 2048 else 3, get_threads())
        yield (
            Point(tokens, statistics.median(seconds["attend"]), megabytes(attend)),
            Point(tokens, statistics.median(seconds["recur"]), megabytes(recur)),
        )


def growth(pairs: Sequence[tuple[Point, Point]]) -> Growth:
    """All measurements, and the size of the full matrix of weights."""
    attend, recur = (list(points) for points in zip(*pairs, strict=True))
    matrix = [(point.tokens, 4 * HEADS * point.tokens**2 / 2**20) for point in attend]
    return Growth(Curve(noted("attention"), attend), Curve(recurrent_name(), recur), matrix)


def megabytes(call: Callable[[], object]) -> float | None:
    """The peak growth of this process's memory during the call, including its result; None where it can't be
    measured."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        # From now on all but small arrays get pages of their own, and freed memory is returned, so both show in the
        # process's size.
        library = ctypes.CDLL(None)
        library.mallopt(-3, 65536)
        library.malloc_trim(0)
        before = _resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
        result = call()
        grown = _resident("VmHWM") - before
        del result
    except (OSError, AttributeError, StopIteration):
        return None
    return max(grown, 0.0)


def _resident(which: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


def _torch_gru() -> Callable[[NDArray[Any]], Callable[[], object]]:
    import torch

    torch.set_num_threads(get_threads())
    torch.manual_seed(0)
    layer = torch.nn.GRU(WIDTH, WIDTH, batch_first=True)

    def of(x: NDArray[Any]) -> Callable[[], object]:
        tokens = torch.from_numpy(x)[None]

        def run() -> object:
            with torch.no_grad():
                return layer(tokens)

        return run

    return of


def _numpy_gru() -> Callable[[NDArray[Any]], Callable[[], object]]:
    rng = np.random.default_rng(0)
    inner, outer = (rng.standard_normal((WIDTH, 3 * WIDTH), dtype=np.float32) / WIDTH**0.5 for _ in range(2))

    def of(x: NDArray[Any]) -> Callable[[], object]:
        return lambda: gru(x, inner.astype(np.float32), outer.astype(np.float32))

    return of


def gru(x: NDArray[Any], inner: NDArray[Any], outer: NDArray[Any]) -> NDArray[Any]:
    """Run a gated recurrent unit over tokens (N, D), one after the other; returns its state after each, (N, D).

    Args:
        x: the tokens.
        inner: (D, 3·D), the input weights: for the reset gate, the update gate and the new state.
        outer: (D, 3·D), the recurrent weights, in the same order.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder" (2014), with the reset gate after
    the product, as in torch.
    """
    D = x.shape[1]
    states = np.zeros((len(x) + 1, D), x.dtype)
    for state, following, given in zip(states, states[1:], x @ inner, strict=False):
        carried = state @ outer
        reset, update = np.split(1 / (1 + np.exp(-(given + carried)[: 2 * D])), 2)
        following[:] = (1 - update) * np.tanh(given[2 * D :] + reset * carried[2 * D :]) + update * state
    return states[1:]
