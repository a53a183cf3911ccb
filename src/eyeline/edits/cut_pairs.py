"""The mask of cut pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.lowered import Pairs
from eyeline.masks import AttentionShape, LoweredMask, Mask
from eyeline.masks.lowered import ordered


@dataclass(frozen=True, eq=False, repr=False)
class CutPairs(Mask):
    """Hides pairs of some heads; everything else may be seen."""

    pairs: tuple[Pairs, ...]

    def __repr__(self) -> str:
        return f"CutPairs({len(self.pairs)})"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        allowed = np.ones(shape.shape, bool)
        for one in self.pairs:
            batch = range(shape.batch) if one.batch is None else (one.batch,)
            for b in batch:
                rows, columns = (x[min(b, len(x) - 1)] for x in (one.queries, one.keys))
                allowed[b, list(one.heads)] &= ~(rows[:, None] & columns)
        return allowed

    def lower(self, shape: AttentionShape) -> LoweredMask:
        """For each row, the runs of keys between the cut ones."""
        B, H, N, M = shape.shape
        alike = all(one.batch is None and len(one.queries) == len(one.keys) == 1 for one in self.pairs)
        rows_of: dict[tuple[int, int], NDArray[np.int64]] = {}
        runs: list[NDArray[np.int64]] = [np.array([[0, M]])]
        for b in range(1 if alike else B):
            for h in range(H):
                own = [one for one in self.pairs if h in one.heads and one.batch in (None, b)]
                if not own:
                    continue
                queries, keys = (
                    np.stack([getattr(one, name)[min(b, len(getattr(one, name)) - 1)] for one in own])
                    for name in ("queries", "keys")
                )
                kinds, which = np.unique(queries, axis=1, return_inverse=True)
                rows_of[b, h] = which.reshape(-1) + len(runs)
                runs += [_runs(~keys[kind].any(axis=0)) for kind in kinds.T]
        most = max(1, *map(len, runs))
        table = np.full((len(runs), most, 2), M, np.int64)
        for number, run in enumerate(runs):
            table[number, : len(run)] = run
        bounds = np.zeros((1 if alike else B, H, N), np.int64)
        for (b, h), which in rows_of.items():
            bounds[b, h] = which
        return LoweredMask(ordered(table[bounds], M))


def _runs(seen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The runs of True, (K, 2)."""
    edges = np.flatnonzero(np.diff(seen.astype(np.int8), prepend=0, append=0))
    return edges.reshape(-1, 2)
