"""The weights between the words of a trace, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.readouts import Weights
from eyeline.traces import LayerTrace, Trace

Array = NDArray[Any]
_BLOCK = 64  # words whose weights are in memory at once


def word_rows(trace: Trace, layer: LayerTrace, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Array]]:
    """The weights of some words on all words of the keys: a sum over a key word's tokens, a mean over a query word's.

    Args:
        trace: the trace, whose words are `trace.queries.words` and `trace.across.words`.
        layer: one of its layers.
        rows: the indices of the words that look, in reading order.

    Yields:
        Some of these indices, and their weights, (H, rows, words).

    >>> from eyeline.traces import record
    >>> trace = record("time flies")
    >>> [(words, weights)] = word_rows(trace, trace.layers[5], np.array([1, 2]))
    >>> words, weights.shape
    (array([1, 2]), (12, 2, 4))
    """
    keys = np.array([word.tokens[0] for word in trace.across.words])
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        tokens = [np.arange(*trace.queries.words[row].tokens) for row in block]
        counts = np.array([len(each) for each in tokens])
        first, last = int(tokens[0][0]), int(tokens[-1][-1]) + 1
        read = Weights(queries=np.concatenate(tokens) - first)
        seen = layer.observe(read, queries=(first, last)).weights[:, 0]
        by_key = np.add.reduceat(seen, keys, axis=-1)
        yield block, np.add.reduceat(by_key, np.cumsum(counts) - counts, axis=1) / counts[:, None]
