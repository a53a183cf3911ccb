"""The readouts of one attention call of a watched model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Mask
from eyeline.readouts.observation import Observation
from eyeline.readouts.readout import PartialResult, Readout
from eyeline.words import worded

Kind = Literal["encoder self", "decoder self", "cross"]


@dataclass(frozen=True)
class WatchedCall:
    """The readouts of one call of one attention module.

    Attributes:
        module: its path in the model, such as "encoder.layer.0.attention.self".
        kind: "encoder self" (bidirectional), "decoder self" (causal) or "cross".
        layer: its number among the calls of its kind in one pass through the model, from 0. A module that is called
            several times in a pass (ALBERT's) is several layers.
        forward: the number of the pass through the model, from 0: `generate()` has one for each step.
        heads: the heads that were read, from 0.
        first_query: the position of the first query in its sequence, not 0 in decoding.
        first_key: the position of the first key, not 0 where a cache has dropped old keys.
        mask: where queries may look, padding included; everywhere if None.
        keys: M, the number of keys.
        real: bool, (B, N), False for queries that are padding; None if none is. Their readouts are those of a query
            that may look at no key.
        real_keys: bool, (B, M), the same for keys.
        seen: the readouts as NumPy arrays, heads in the order of `heads`. The output is left out: its shape is (B, H,
            0, E).
    """

    module: str
    kind: Kind
    layer: int
    forward: int
    heads: tuple[int, ...]
    first_query: int
    first_key: int
    mask: Mask | None
    keys: int
    real: NDArray[np.bool_] | None
    real_keys: NDArray[np.bool_] | None
    seen: Observation

    def __repr__(self) -> str:
        B, _, N = self.seen.lse.shape
        return (
            f"<WatchedCall of {self.module} ({self.kind}, layer {self.layer}, pass {self.forward}): {B} × {N} queries>"
        )

    def answers(self) -> list[tuple[Readout, PartialResult]]:
        """Each readout and its result, with keys by their positions in the sequence."""
        return [
            (readout, self._of_sequence(readout, found))
            for readout, found in zip(self.seen.read, self.seen.results, strict=True)
        ]

    def _of_sequence(self, readout: Readout, found: PartialResult) -> PartialResult:
        if not self.first_key:
            return found
        arrays = [
            np.where(array < 0, array, array + self.first_key) if result.kind == "keys" else array
            for array, result in zip(found.arrays, readout.results(found.shape), strict=True)
        ]
        return replace(found, arrays=tuple(arrays))

    def columns(self, table: Literal["queries", "keys"]) -> dict[str, NDArray[Any]]:
        """The numbers per query or per key, by their column in `Watched.frame`, each (B, heads, N or M)."""
        columns: dict[str, NDArray[Any]] = {}
        for readout, found in self.answers():
            if readout.table(found.shape) == table:
                columns |= readout.tabulated(found)
        if table == "queries":
            columns |= {} if self.seen.sink is None else {"sink": self.seen.sink}
            columns["lse"] = self.seen.lse
        return columns

    def averaged(self) -> list[str]:
        """The columns per query that have a mean: all except key positions."""
        return [name for name, column in self.columns("queries").items() if np.issubdtype(column.dtype, np.floating)]

    def mean(self, column: str) -> NDArray[Any]:
        """The mean of a column over the queries that aren't padding, for each text and head, (B, heads).

        Args:
            column: as in the table of queries that `Watched.frame` gives: "entropy", "distance", "group_mass_0",
                "sink", "lse" …

        Raises:
            ValueError: if there is no such column, or its readout wasn't requested.
        """
        if column not in self.averaged():
            raise ValueError(
                worded(
                    "column must be a number per query that was read ({averaged}), got {column!r}",
                    averaged=", ".join(self.averaged()),
                    column=column,
                )
            )
        values = self.columns("queries")[column].astype(np.float64)
        real = np.ones(values.shape[::2], bool) if self.real is None else self.real
        counts = np.maximum(real.sum(axis=1), 1)[:, None]
        return np.asarray(np.where(real[:, None], values, 0).sum(axis=2) / counts)
