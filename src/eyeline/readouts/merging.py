"""Merging the partial results of consecutive blocks of queries."""

from __future__ import annotations

from collections.abc import Iterable

from eyeline.readouts.readout import PartialResult, Readout


class Merger:
    """Merges the partial results of consecutive blocks of queries: pairwise, so that little is copied, and as they are
    added, so that few are held."""

    def __init__(self, readout: Readout) -> None:
        self.readout = readout
        self._waiting: list[tuple[int, PartialResult]] = []

    def add(self, part: PartialResult) -> None:
        """Add the result of the next queries."""
        size = 1
        while self._waiting and self._waiting[-1][0] == size:
            before = self._waiting.pop()[1]
            size, part = 2 * size, self.readout.merge_queries(before, part)
        self._waiting.append((size, part))

    def whole(self) -> PartialResult:
        """The result of all queries; at least one block must have been added."""
        whole = self._waiting[-1][1]
        for _, before in self._waiting[-2::-1]:
            whole = self.readout.merge_queries(before, whole)
        return whole


def merged(readout: Readout, parts: Iterable[PartialResult]) -> PartialResult:
    """The results of consecutive blocks of queries, merged."""
    merger = Merger(readout)
    for part in parts:
        merger.add(part)
    return merger.whole()
