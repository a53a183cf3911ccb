"""Windows in batches that a model reads together, and what of a batch is the same in every layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.head_measures import SINK_TOKENS
from eyeline.surveys.hashes import token_hashes
from eyeline.surveys.scales import POSITION_EDGES
from eyeline.surveys.windows import TextWindow

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

_POSITIONS = len(POSITION_EDGES)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some windows, end to end: N tokens.

    Attributes:
        windows: the windows.
        count: the number of types of tokens that are known so far.
    """

    windows: list[TextWindow]
    count: int

    @cached_property
    def lengths(self) -> Places:
        """The number of tokens of each window."""
        return np.array([len(window) for window in self.windows])

    @cached_property
    def starts(self) -> Places:
        """The place of the first token of each window."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def window(self) -> Places:
        """The number of each token's window in the batch, (N,)."""
        return np.repeat(np.arange(len(self.windows)), self.lengths)

    @cached_property
    def positions(self) -> Places:
        """Each token's position in its window, (N,)."""
        return np.arange(self.lengths.sum()) - self.starts[self.window]

    @cached_property
    def types(self) -> Places:
        """Each token's type, (N,)."""
        return np.concatenate([window.types for window in self.windows])

    @cached_property
    def special(self) -> Flags:
        """Which tokens are special, (N,)."""
        return np.concatenate([window.special for window in self.windows])

    @cached_property
    def counted(self) -> Flags:
        """Which tokens are counted, (N,)."""
        return np.concatenate([window.counted for window in self.windows])

    @cached_property
    def all_counted(self) -> bool:
        """Whether every token is counted."""
        return bool(self.counted.all())

    @cached_property
    def first_special(self) -> Flags:
        """Whether the first token of each token's window is special, (N,)."""
        return self.special[self.starts][self.window]

    @cached_property
    def documents(self) -> tuple[list[int], Places]:
        """The numbers of the documents, and the place of the first token of each."""
        numbers = np.array([window.document.number for window in self.windows])
        new = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
        return numbers[new].tolist(), self.starts[new]

    @cached_property
    def of_sink(self) -> Flags:
        """Which tokens are among the first 64 of their document's first window, (N,)."""
        first = np.array([window.number == 0 for window in self.windows])
        return first[self.window] & (self.positions < SINK_TOKENS)

    @cached_property
    def groups(self) -> tuple[Places, Places, Places]:
        """The counted tokens' groups, by type and range of positions.

        Returns:
            The counted tokens in the order of their groups; the first place of each group in that order; and each
            group's number, type · ranges + range.
        """
        places = np.flatnonzero(self.counted)
        ranges = np.searchsorted(POSITION_EDGES, self.positions[places], side="right") - 1
        codes = self.types[places] * _POSITIONS + ranges
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
        return places[order], starts, codes[starts]

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Each token's hash, (N,); of special tokens, nothing that means anything."""
        return np.concatenate([token_hashes(window.document, window.numbers) for window in self.windows])


def batches(windows: Iterable[TextWindow], types: list[str], together: int) -> Iterator[Batch]:
    """Put windows into batches of at most `together` tokens, in their order; a longer one is a batch by itself.

    Args:
        windows: the windows.
        types: the names of the types of tokens, which the windows may add to as they come.
        together: as in `SurveyModel`.
    """
    some: list[TextWindow] = []
    count = 0
    for window in windows:
        if some and count + len(window) > together:
            yield Batch(some, len(types))
            some, count = [], 0
        some.append(window)
        count += len(window)
    if some:
        yield Batch(some, len(types))
