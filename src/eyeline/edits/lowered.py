"""The primitives of edits: what is done to one call, whichever edits ask for it.

Heads are query heads unless it says otherwise. `batch` is the one element of the batch that is changed, or None for
all. Rows and columns of the batch are (B or 1, N) and (B or 1, M).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Mask
from eyeline.scores import Score

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of queries and keys of some heads: those of the chosen queries with the chosen keys, both booleans."""

    heads: tuple[int, ...]
    queries: NDArray[np.bool_]
    keys: NDArray[np.bool_]
    batch: int | None = None


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows put in place of others, in q, k, v or the output.

    Attributes:
        name: the array.
        heads: heads, or key heads if `of_groups`: then every query head that shares one sees the change.
        rows: (len(heads), P, width), an array or a tensor.
        taken: for each row of the batch, the row in `rows` that replaces it, or -1 to leave it.
    """

    name: Literal["q", "k", "v", "output"]
    heads: tuple[int, ...]
    rows: Any
    taken: NDArray[np.int64]
    of_groups: bool = False
    batch: int | None = None


@dataclass(frozen=True, eq=False)
class FlatHeads:
    """Heads that look everywhere alike, as the mask allows."""

    heads: tuple[int, ...]
    batch: int | None = None


@dataclass(frozen=True, eq=False)
class FrozenWeights:
    """Weights of another run, on some pairs of one head, in place of a call's own.

    Attributes:
        pairs: where they replace the call's own, of one head.
        q, k: (1, P, D) and (1, S, D) of the other run.
        lse: (1, P).
        scale: the other run's factor of q·k.
        scores: its score modifiers, for arrays of shape (1, 1, P, S), without sinks.
        mask: its mask, for the same shape; everywhere if None.
        query_rows, key_rows: each query's row in q, and each key's in k; -1 outside `pairs`.
    """

    pairs: Pairs
    q: Array
    k: Array
    lse: Array
    scale: float
    scores: tuple[Score, ...]
    mask: Mask | None
    query_rows: NDArray[np.int64]
    key_rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Weighting:
    """A factor of the weights on some pairs, after the softmax.

    Attributes:
        by: a number; or an array or a tensor, of one number or one per row that `taken` names.
        taken: each query's place in `by`, or None if it is one number.
    """

    pairs: Pairs
    by: Any
    taken: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class OutputFactor:
    """A factor of some heads' outputs; `by` and `taken` as in `Weighting`."""

    heads: tuple[int, ...]
    by: Any
    taken: NDArray[np.int64] | None = None
    batch: int | None = None
