"""The means that a file holds of a long text's weights: its matrix shows them before its queries and keys are decoded.

The means are those of squares of `side` × `side` weights, a power of two; the page adds them up to those of coarser
levels. A pair that the mask hides counts as 0, as in `eyeline.Pooled`: how many pairs a square shows, the page knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.calls import observe
from eyeline.traces import LayerTrace, Trace
from eyeline.traces.regions import pooled

Array = NDArray[Any]
#: The tokens of queries or of keys beyond which a file holds means.
LONG = 8192
#: The most means of a trace, over all layers and heads; and along one side of a head's square.
MEANS, WIDEST = 1 << 22, 2048
#: The steps of a halving, and the largest code: a mean is most · 2^((code - LARGEST) / STEPS), and 0 for the code 0.
STEPS, LARGEST = 128, 4095
#: The largest relative error of a coded mean; one below most · 2^-31.98 becomes 0.
ERROR = 2 ** (0.5 / STEPS) - 1


@dataclass(frozen=True, eq=False)
class Pyramid:
    """The coded means of a layer.

    Attributes:
        codes: uint16, (H, R, C), as `LARGEST` says.
        most: float32, (H,), the largest mean of each head.
    """

    codes: Array
    most: Array

    @property
    def means(self) -> Array:
        """The decoded means, float32, (H, R, C), each within the share `ERROR` of its own."""
        powers = np.exp2((np.arange(LARGEST + 1) - LARGEST) / STEPS)
        powers[0] = 0
        return np.asarray(self.most[:, None, None] * powers[self.codes], np.float32)


def side_of(trace: Trace) -> int | None:
    """The side of the squares, in tokens, whose means a file holds of a trace: a power of two; None if it holds none,
    since the text is short, or weights were changed after the softmax."""
    N, M = len(trace.queries), len(trace.across)
    if max(N, M) <= LONG or any(layer.edits is not None for layer in trace.layers):
        return None
    heads = trace.model.layers * trace.model.heads
    side = 2
    while max(N, M) > WIDEST * side or heads * -(-N // side) * -(-M // side) > MEANS:
        side *= 2
    return side


def pyramid(layer: LayerTrace, side: int) -> Pyramid:
    """The means of all heads of a layer.

    Args:
        layer: the layer, with the numbers that the file holds.
        side: the side of a square, in tokens; at the right and lower edges squares may be smaller.

    >>> q, k = np.zeros((1, 5, 2), np.float32), np.zeros((1, 4, 2), np.float32)
    >>> from eyeline.traces.allowed import Allowed
    >>> layer = LayerTrace(q, k, None, np.full((1, 5), np.log(4), np.float32), 1.0, Allowed("all"))
    >>> pyramid(layer, 2).means.tolist()
    [[[0.25, 0.25], [0.25, 0.25], [0.25, 0.25]]]
    """
    return coded(np.stack([_means(layer, head, side) for head in range(len(layer.q))]))


def coded(means: Array) -> Pyramid:
    """The codes of means (H, R, C) of 0 or more."""
    most = means.max(axis=(1, 2), initial=0).astype(np.float32)
    shares = means / np.where(most > 0, most, 1)[:, None, None]
    with np.errstate(divide="ignore"):
        steps = np.rint(STEPS * np.log2(shares, dtype=np.float32))
    codes = np.clip(LARGEST + steps, 0, LARGEST).astype(np.uint16)
    return Pyramid(codes, most)


def of_halves(layer: LayerTrace) -> LayerTrace:
    """The layer with queries and keys rounded to float16, and the lse of these."""
    q, k = (x.astype(np.float16).astype(np.float32) for x in (layer.q, layer.k))
    keys = np.repeat(k, len(q) // len(k), axis=0)
    nothing = np.zeros((len(q), 1, k.shape[1], 0), np.float32)
    seen = observe(q[:, None], keys[:, None], nothing, mask=layer.allowed.over_heads(), scale=layer.scale)
    return replace(layer, q=q, k=k, lse=np.asarray(seen.lse[:, 0], np.float32))


def _means(layer: LayerTrace, head: int, side: int) -> Array:
    """The means of one head, float32, (R, C): those of whole squares, then those at the edges."""
    rows, columns = (_bands(array.shape[1], side) for array in (layer.q, layer.k))
    return np.concatenate(
        [
            np.concatenate(
                [pooled(layer, head, queries, keys, *_cells(queries, keys, side)) for keys in columns], axis=1
            )
            for queries in rows
        ]
    )


def _bands(tokens: int, side: int) -> Sequence[tuple[int, int]]:
    """[first, last) of the tokens in whole squares, and of those that are left."""
    whole = tokens - tokens % side
    return [band for band in ((0, whole), (whole, tokens)) if band[0] < band[1]]


def _cells(queries: tuple[int, int], keys: tuple[int, int], side: int) -> tuple[int, int]:
    """The rows and columns of squares of some queries and keys."""
    return -(-(queries[1] - queries[0]) // side), -(-(keys[1] - keys[0]) // side)
