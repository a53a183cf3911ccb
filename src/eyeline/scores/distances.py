"""Signed distances between queries and keys, for biases by distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Align, AttentionShape, standing


def distances(shape: AttentionShape, align: Align | None, name: str, queries: slice, keys: slice) -> NDArray[np.int64]:
    """Key position minus query position, j - i', (n, m); `name` is the modifier's name in the error message."""
    return np.arange(shape.keys)[keys] - standing(shape, align, name)[queries]


def table_distances(shape: AttentionShape, align: Align | None, name: str) -> NDArray[np.int64]:
    """Key position minus query position for each entry of a `Relative` table, (N + M - 1,)."""
    M = shape.keys
    offset = int(standing(shape, align, name)[0, 0]) if shape.queries else 0
    return M - 1 - offset - np.arange(max(shape.queries + M - 1, 0))
