"""How hard each head looks: the weight of its strongest look, and the weight times the length of what it passes on.

Source: Kobayashi et al., "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms" (2020), section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.mattering.measure import Array
from eyeline.readouts import Weights
from eyeline.traces import LayerTrace, Trace, TraceError

#: The most weights that are held at a time.
_TOGETHER = 1 << 22


@dataclass(frozen=True)
class StrongLook:
    """A look that passes on much: a query's token, a key's, the weight, and weight × length of v·W_o (None if the
    model's W_o isn't known)."""

    head: int
    query: int
    key: int
    weight: float
    passed: float | None


def looking(trace: Trace, rows: Sequence[int]) -> tuple[Array, Array | None]:
    """How hard each head looks.

    Args:
        trace: the run, with values; with `keep=["input"]` for the lengths.
        rows: the tokens that are measured.

    Returns:
        The largest weight in a row, and the largest weight × length in a row, each the mean of these rows, (L, H); None
        in place of the second if the model's W_o isn't known.
    """
    weights, passed = [], []
    for number, layer in enumerate(trace.layers):
        lengths = _passed_lengths(trace, number)
        largest = [np.zeros(trace.model.heads), np.zeros(trace.model.heads)]
        for _, w in _blocks(layer, rows):
            largest[0] += w.max(axis=-1).sum(axis=-1)
            if lengths is not None:
                largest[1] += (w * lengths[:, None]).max(axis=-1).sum(axis=-1)
        weights.append(largest[0] / len(rows))
        passed.append(None if lengths is None else largest[1] / len(rows))
    known = [one for one in passed if one is not None]
    return np.stack(weights), np.stack(known) if len(known) == len(weights) else None


def strongest_looks(trace: Trace, layer: int, head: int, count: int, rows: Sequence[int]) -> list[StrongLook]:
    """The looks of a head that pass on most, by weight × length, the largest first; by weight where no length is known.

    Args:
        trace: the run.
        layer, head: the head.
        count: how many.
        rows: the queries.
    """
    lengths = _passed_lengths(trace, layer)
    found: list[tuple[float, float, int, int]] = []
    for first, w in _blocks(trace.layers[layer], rows):
        of_head = w[head]
        order = of_head if lengths is None else of_head * lengths[head]
        flat = order.ravel()
        top = np.argsort(-flat, kind="stable")[:count] if len(flat) <= count else np.argpartition(-flat, count)[:count]
        places = zip(*(axis.tolist() for axis in np.unravel_index(top, order.shape)), strict=True)
        found += [(float(order[i, j]), float(of_head[i, j]), rows[first + i], j) for i, j in places]
        found = sorted(found, key=lambda one: (-one[0], one[2], one[3]))[:count]
    return [
        StrongLook(head, query, key, weight, None if lengths is None else by)
        for by, weight, query, key in found
        if weight > 0
    ]


def _passed_lengths(trace: Trace, layer: int) -> NDArray[np.float32] | None:
    """The length of v·W_o of each head and key, (H, M); None if the model's W_o isn't known."""
    try:
        return trace.passed_lengths(layer)
    except TraceError:
        return None


def _blocks(layer: LayerTrace, rows: Sequence[int]) -> Iterator[tuple[int, NDArray[Any]]]:
    """The weights of some rows, some at a time: the place of the first in `rows`, and (H, n, M) in float64."""
    H, M = len(layer.q), layer.k.shape[1]
    together = max(1, _TOGETHER // (H * M))
    first = 0
    while first < len(rows):
        last = first + 1
        while last < len(rows) and last - first < together and rows[last] == rows[last - 1] + 1:
            last += 1
        seen = layer.observe(Weights(), queries=(rows[first], rows[last - 1] + 1))
        yield first, np.asarray(seen.weights[:, 0], np.float64)
        first = last
