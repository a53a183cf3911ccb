"""Cut pairs: as a score modifier, which costs N + M whatever the pairs, and as a mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.lowered import Pairs
from eyeline.masks import AttentionShape, LoweredMask, Mask
from eyeline.scores import HiddenPairs


def hidden_pairs(cuts: Sequence[Pairs], shape: AttentionShape) -> HiddenPairs:
    """The score modifier that hides these pairs: rows from which the same keys are cut are of one kind."""
    B, H, N, M = shape.shape
    alike = all(one.batch is None and len(one.queries) == len(one.keys) == 1 for one in cuts)
    kinds = np.zeros((1 if alike else B, H, N), np.int32)
    columns = [np.zeros(M, bool)]
    numbers = {columns[0].tobytes(): 0}
    found: dict[tuple[int, tuple[int, ...]], NDArray[np.int32]] = {}
    for b in range(len(kinds)):
        for h in range(H):
            own = tuple(at for at, one in enumerate(cuts) if h in one.heads and one.batch in (None, b))
            if not own:
                continue
            if (b, own) not in found:
                queries, keys = (
                    np.stack([x[min(b, len(x) - 1)] for x in (getattr(cuts[at], name) for at in own)])
                    for name in ("queries", "keys")
                )
                found[b, own] = _kinds(queries, keys, columns, numbers)
            kinds[b, h] = found[b, own]
    return HiddenPairs(kinds, np.stack(columns))


def _kinds(
    queries: NDArray[np.bool_], keys: NDArray[np.bool_], columns: list[NDArray[np.bool_]], numbers: dict[bytes, int]
) -> NDArray[np.int32]:
    """Each row's kind, (N,), from which of the pairs it is in, (P, N), and the keys of each, (P, M); new kinds' keys
    are added to `columns`, and their numbers to `numbers`."""
    rows = np.flatnonzero(queries.any(axis=0))
    members, which = np.unique(np.packbits(queries[:, rows], axis=0), axis=1, return_inverse=True)
    here = np.zeros(members.shape[1], np.int32)
    for place, packed in enumerate(members.T):
        cut = keys[np.unpackbits(packed, count=len(keys)) != 0].any(axis=0)
        here[place] = numbers.setdefault(cut.tobytes(), len(columns))
        if here[place] == len(columns):
            columns.append(cut)
    kinds = np.zeros(queries.shape[1], np.int32)
    kinds[rows] = here[which.reshape(-1)]
    return kinds


@dataclass(frozen=True, eq=False, repr=False)
class CutPairs(Mask):
    """Hides pairs of some heads; everything else may be seen.

    Its intervals, as many for each row as there are gaps between the cut keys, are for what stores masks; calls take
    `hidden_pairs`.
    """

    pairs: tuple[Pairs, ...]

    def __repr__(self) -> str:
        return f"CutPairs({len(self.pairs)})"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        hidden = hidden_pairs(self.pairs, shape)
        return ~hidden.columns[hidden.kinds]

    def lower(self, shape: AttentionShape) -> LoweredMask:
        """For each row, the runs of keys between the cut ones."""
        hidden, M = hidden_pairs(self.pairs, shape), shape.keys
        runs = [_runs(~columns) for columns in hidden.columns]
        table = np.full((len(runs), max(1, *map(len, runs)), 2), M, np.int32)
        for number, run in enumerate(runs):
            table[number, : len(run)] = run
        return LoweredMask(table[hidden.kinds])


def _runs(seen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The runs of True, (K, 2)."""
    edges = np.flatnonzero(np.diff(seen.astype(np.int8), prepend=0, append=0))
    return edges.reshape(-1, 2)
