"""Exact regions of one head's weights, in memory of their own size: each weight, or the means of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.calls import observe
from eyeline.edits.call_parts import heads_as_batch, of_rows, of_weights
from eyeline.readouts import Pooled, Readout, Weights
from eyeline.readouts.observation import Observation
from eyeline.readouts.weights import Which
from eyeline.traces.errors import TraceError
from eyeline.traces.layer_trace import LayerTrace
from eyeline.traces.positions import checked_range, is_whole
from eyeline.words import worded

Array = NDArray[Any]


def weights(layer: LayerTrace, head: int, queries: Which, keys: Which) -> Array:
    """A rectangle of one head's weights; see `Trace.weights`."""
    which = Weights(queries, keys)
    try:
        rows, columns = which.rows(layer.q.shape[1]), which.columns(layer.k.shape[1])
    except ValueError as error:
        raise TraceError(str(error)) from None
    if not rows.size or not columns.size:
        return np.zeros((len(rows), len(columns)), np.float32)
    first, last = int(columns.min()), int(columns.max()) + 1
    return _observed(layer, head, rows, first, last, Weights(keys=columns - first))[Weights]


def pooled(
    layer: LayerTrace,
    head: int,
    queries: tuple[int, int] | None,
    keys: tuple[int, int] | None,
    rows: int,
    columns: int,
) -> Array:
    """A region of one head's weights, reduced to means of cells; see `Trace.pooled`."""
    top, bottom = checked_range("queries", queries, layer.q.shape[1])
    first, last = checked_range("keys", keys, layer.k.shape[1])
    for name, value, most in (("rows", rows, bottom - top), ("columns", columns, last - first)):
        if not is_whole(value) or not 1 <= value <= most:
            raise TraceError(
                worded(
                    "{name} must be a whole number from 1 to {most}, those of the region, got {value!r}",
                    name=name,
                    most=most,
                    value=value,
                )
            )
    return _observed(layer, head, slice(top, bottom), first, last, Pooled(rows, columns))[Pooled]


def _observed(
    layer: LayerTrace, head: int, queries: NDArray[np.int64] | slice, first: int, last: int, read: Readout
) -> Observation:
    """A readout of some rows of one head over the keys [first, last), normalized by the totals of the whole rows."""
    group = head // (len(layer.q) // len(layer.k))
    rows = np.arange(layer.q.shape[1])[queries]
    edits = None if layer.edits is None else heads_as_batch(of_weights(layer.edits), [head])
    return observe(
        layer.q[head][queries],
        layer.k[group, first:last],
        np.zeros((last - first, 0), np.float32),  # values of width 0, since only the weights are needed
        mask=layer.allowed.mask(head, rows, (first, last)),
        scale=layer.scale,
        scores=layer.scores(head, rows, (first, last)),
        lse=layer.lse[head][queries],
        read=read,
        edits=(edits and of_rows(edits, rows, slice(first, last))) or (),
    )
