"""One head's weights times any numbers, exactly, without the matrix: A·X and its transpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.transposed import transposed as product
from eyeline.calls import observe
from eyeline.edits.call_parts import heads_as_batch
from eyeline.scores import Sinks
from eyeline.traces.errors import TraceError
from eyeline.traces.layer_trace import LayerTrace
from eyeline.words import worded

Array = NDArray[Any]


def apply(layer: LayerTrace, head: int, x: ArrayLike, transposed: bool) -> Array:
    """See `Trace.apply`."""
    N, M = layer.q.shape[1], layer.k.shape[1]
    numbers = _checked(x, N if transposed else M, "queries" if transposed else "keys")
    q, k = (a.astype(numbers.dtype) for a in (layer.q[head], layer.k[head // (len(layer.q) // len(layer.k))]))
    scores = layer.scores(head, np.arange(N), (0, M))
    if layer.sinks is not None:
        scores.append(Sinks(layer.sinks[[head]]))
    edits = None if layer.edits is None else heads_as_batch(layer.edits, [head])
    if edits is not None:
        edits = replace(edits, outputs=(), gates=()) or None
    structure: dict[str, Any] = {
        "mask": layer.allowed.mask(head, np.arange(N), (0, M)),
        "scale": layer.scale,
        "scores": scores,
    }
    wide = numbers.reshape(len(numbers), -1)
    if transposed:
        found = product(q, k, wide, **structure, edits=edits)
    else:
        found = observe(q, k, wide, **structure, edits=edits or ()).output
    return found.reshape(len(found), *numbers.shape[1:])


def _checked(x: ArrayLike, rows: int, what: str) -> Array:
    """Numbers as float32, or as float64 if they are so."""
    try:
        array: Array = np.asarray(x)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2) or len(array) != rows:
        raise TraceError(
            worded(
                "X must be real numbers, ({rows}, E) or ({rows},), one row for each of the {what}, got "
                "{dtype} of shape {shape}",
                rows=rows,
                what=what,
                dtype=array.dtype,
                shape=array.shape,
            )
        )
    return array.astype(np.float64 if array.dtype == np.float64 else np.float32)
