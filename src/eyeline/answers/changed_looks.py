"""Which heads look elsewhere in another run of a text: how much of each row of weights moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.readouts import Weights
from eyeline.traces import Trace
from eyeline.traces.errors import QuestionError
from eyeline.words import worded

#: The most weights of a layer, heads × queries × keys, that are compared at once.
_TOGETHER = 1 << 24


@dataclass(frozen=True)
class ChangedLook:
    """A row of weights that moved.

    Attributes:
        layer, head: the head.
        query: the token that looks.
        moved: the total variation, 0 to 1: the share of the row's weight that lies elsewhere, ½ Σ |after - before|.
    """

    layer: int
    head: int
    query: int
    moved: float


def moved(before: Trace, after: Trace, queries: tuple[int, int] | None = None) -> NDArray[np.float64]:
    """How much of each row of weights moved from one run of a text to another, (L, H, n).

    The total variation of the two rows, ½ Σ_j |after_ij - before_ij|: 0 where they are the same, 1 where they have no
    key in common.

    Args:
        before, after: the runs, of one model over the same tokens.
        queries: [first, last) of the queries; all if not given.

    Raises:
        QuestionError: if the runs aren't of the same model and tokens.
    """
    same = (before.model.name, before.kind, before.queries.ids) == (after.model.name, after.kind, after.queries.ids)
    if not same or len(before.across) != len(after.across):
        raise QuestionError(worded("runs must be of one model over the same tokens to be compared"))
    first, last = queries or (0, len(before.queries))
    M = len(before.across)
    found = np.zeros((before.model.layers, before.model.heads, last - first))
    step = max(_TOGETHER // (before.model.heads * M), 1)
    for number, layers in enumerate(zip(before.layers, after.layers, strict=True)):
        for start in range(first, last, step):
            end = min(start + step, last)
            one, other = (layer.observe(Weights(), queries=(start, end)).weights[:, 0] for layer in layers)
            found[number, :, start - first : end - first] = 0.5 * np.abs(other.astype(np.float64) - one).sum(axis=-1)
    return found


def largest(found: NDArray[np.float64], count: int, first: int = 0) -> list[ChangedLook]:
    """The rows that moved most, one for each head, the most first; `first` is the token of the first row."""
    rows = found.argmax(axis=2)
    most = found.max(axis=2)
    order = np.argsort(-most, axis=None, kind="stable")[:count]
    places = [divmod(int(at), found.shape[1]) for at in order]
    return [
        ChangedLook(layer, head, first + int(rows[layer, head]), float(most[layer, head]))
        for layer, head in places
        if most[layer, head] > 0
    ]
