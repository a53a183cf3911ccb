"""How much of each key's value a head passes on: the length of v·W_o, which a weight is then multiplied by.

Source: Kobayashi et al., "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms" (2020), section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.traces.inputs import KeptInputs
from eyeline.traces.layer_trace import LayerTrace
from eyeline.traces.projections import Projections, projections

Array = NDArray[Any]

#: The most numbers of vectors that are held at a time.
_TOGETHER = 1 << 22


def passed_lengths(kept: KeptInputs | None, layer: LayerTrace, number: int) -> Array:
    """See `Trace.passed_lengths`; `number` is the layer's."""
    lengths = [_lengths(projections(kept, number, head), layer, head) for head in range(len(layer.q))]
    return np.stack(lengths)


def _lengths(of: Projections, layer: LayerTrace, head: int) -> Array:
    """The lengths of one head, (M,), by blocks of keys: the vectors themselves would take M times the model's width."""
    M, W_o = layer.k.shape[1], of.W_o.astype(np.float64)
    v = None if layer.v is None else layer.v[head // (len(layer.q) // len(layer.v))]
    lengths = np.empty(M, np.float32)
    together = max(1, _TOGETHER // len(W_o))
    for first in range(0, M, together):
        some = slice(first, first + together)
        values = of.value(of.keys_x[some]) if v is None else v[some].astype(np.float64)
        lengths[some] = np.linalg.norm(values @ W_o.T, axis=-1)
    return lengths
