"""Masks of packed sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks.align import Align, check_align, standing
from eyeline.masks.counts import short, whole
from eyeline.masks.lowered import LoweredMask, one_interval
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded

Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, init=False)
class Documents(Mask):
    """Several documents packed into one sequence, end to end: a query looks only inside its own document.

    Tokens after the last document are padding: they look at nothing, and nothing looks at them. A document may be
    empty. Only the documents' own squares of the matrix are computed, so ten of equal length cost a tenth.

    Args:
        lengths: the lengths of the documents in order, whole numbers; or one such list per batch element.
        keys: the lengths of the documents' keys, where they differ from those of their queries (packed pairs in
            cross-attention): the queries of the d-th document look at the keys of the d-th.
        align: as in `Causal`, where only some of the queries are given, with all the keys. Not with `keys`.

    Raises:
        ValueError: if these aren't lists of whole numbers, if they add up to more than the sequence's length, or if
            `keys` has another number of documents.

    >>> Documents([2, 1]).dense(4).astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 1, 0],
           [0, 0, 0, 0]])
    """

    lengths: Counts
    keys: Counts | None
    align: Align | None

    def __init__(
        self,
        lengths: ArrayLike | Sequence[ArrayLike],
        *,
        keys: ArrayLike | Sequence[ArrayLike] | None = None,
        align: Align | None = None,
    ) -> None:
        align = check_align(align)
        counts = lists("lengths", lengths)
        theirs = None if keys is None else lists("keys", keys)
        if theirs is not None:
            if align is not None:
                raise ValueError(
                    worded(
                        "align must be left out where keys= says where each document's keys are, got {align!r}",
                        align=align,
                    )
                )
            if [len(some) for some in counts] != [len(some) for some in theirs]:
                raise ValueError(
                    worded(
                        "keys must have as many documents as lengths, {shown}, got {got}; a document without keys "
                        "has length 0",
                        shown=_shown(counts),
                        got=_shown(theirs),
                    )
                )
        object.__setattr__(self, "lengths", counts)
        object.__setattr__(self, "keys", theirs)
        object.__setattr__(self, "align", align)

    def __repr__(self) -> str:
        keys = "" if self.keys is None else f", keys={_shown(self.keys)}"
        align = f", align={self.align!r}" if self.align is not None else ""
        return f"Documents({_shown(self.lengths)}{keys}{align})"

    def _check(self, shape: AttentionShape) -> None:
        if len(self.lengths) not in (1, shape.batch):
            raise ValueError(
                worded(
                    "lengths must be one list, or one per batch element ({batch}), got {count}: {value!r}",
                    batch=shape.batch,
                    count=len(self.lengths),
                    value=self,
                )
            )
        sides = [("lengths", self.lengths, shape.keys if self.keys is None else shape.queries)]
        sides += [("keys", self.keys, shape.keys)] if self.keys is not None else []
        for name, counts, count in sides:
            longest = max(map(sum, counts), default=0)
            if longest > count:
                raise ValueError(
                    worded(
                        "{name} must add up to at most the sequence's {count} tokens, got {longest}: {value!r}",
                        name=name,
                        count=count,
                        longest=longest,
                        value=self,
                    )
                )

    def _standing(self, shape: AttentionShape) -> NDArray[np.int64]:
        """The position of each query in the sequence of documents, (N,)."""
        if self.keys is not None:
            return np.arange(shape.queries)
        return standing(shape, self.align, self)[:, 0]

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        self._check(shape)
        i = self._standing(shape)
        allowed = np.zeros((len(self.lengths), 1, shape.queries, shape.keys), bool)
        for b, (lengths, keys) in enumerate(zip(self.lengths, self.keys or self.lengths, strict=True)):
            size = max(shape.keys, shape.queries)
            ours, theirs = _labels(lengths, size), _labels(keys, shape.keys)
            mine = np.where((i >= 0) & (i < size), ours[np.clip(i, 0, size - 1)], -1) if size else i
            allowed[b, 0] = (mine[:, None] == theirs) & (theirs >= 0)
        return allowed

    def lower(self, shape: AttentionShape) -> LoweredMask:
        self._check(shape)
        i = self._standing(shape)
        first, last = np.zeros((2, len(self.lengths), 1, shape.queries), np.int64)
        for b, (lengths, keys) in enumerate(zip(self.lengths, self.keys or self.lengths, strict=True)):
            edges, ends = np.cumsum((0, *keys)), np.cumsum(lengths)
            document = np.searchsorted(ends, i, side="right")
            real = (i >= 0) & (document < len(ends))
            document = np.where(real, document, 0)
            first[b, 0], last[b, 0] = (np.where(real, edges[document + at], 0) if len(ends) else 0 for at in (0, 1))
        return one_interval(first, last, shape.keys)


def _labels(lengths: tuple[int, ...], size: int) -> NDArray[np.int64]:
    """The document of each of `size` tokens, counted from 0, -1 for padding."""
    labels = np.full(size, -1)
    labels[: sum(lengths)] = np.repeat(np.arange(len(lengths)), lengths)
    return labels


def lists(name: str, value: Any) -> Counts:
    """`value` as lists of whole numbers, one or several."""
    try:
        nested = bool(len(value)) and all(np.ndim(some) for some in value)
    except TypeError:
        nested = False
    if nested:
        return tuple(whole(name, some, "document") for some in value)
    return (whole(name, value, "document"),)


def _shown(counts: Counts) -> str:
    if len(counts) == 1:
        return short(counts[0])
    shown = ", ".join(map(short, counts[:4]))
    return f"[{shown}]" if len(counts) <= 4 else f"[{shown}, ... {len(counts)} in all]"
