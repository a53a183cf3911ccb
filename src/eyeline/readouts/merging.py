"""Joining what was read of blocks of queries that follow one another."""

from __future__ import annotations

from collections.abc import Iterable

from eyeline.readouts.readout import PartialResult, Readout


class Merger:
    """What was read of blocks of queries that follow one another, as one: pairwise, so that little is copied, and as
    they come, so that little is held."""

    def __init__(self, readout: Readout) -> None:
        self.readout = readout
        self._waiting: list[tuple[int, PartialResult]] = []

    def add(self, part: PartialResult) -> None:
        """What was read of the next queries."""
        size = 1
        while self._waiting and self._waiting[-1][0] == size:
            before = self._waiting.pop()[1]
            size, part = 2 * size, self.readout.merge_queries(before, part)
        self._waiting.append((size, part))

    def whole(self) -> PartialResult:
        """What was read of all; there must be something."""
        whole = self._waiting[-1][1]
        for _, before in self._waiting[-2::-1]:
            whole = self.readout.merge_queries(before, whole)
        return whole


def merged(readout: Readout, parts: Iterable[PartialResult]) -> PartialResult:
    """What was read of blocks of queries that follow one another, as one."""
    merger = Merger(readout)
    for part in parts:
        merger.add(part)
    return merger.whole()
