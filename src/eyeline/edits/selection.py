"""What an edit is told to change: layers, heads, tokens, by number, list, slice or word, or everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.errors import EditError
from eyeline.words import worded

#: Layers or heads: a number from 0, several, a slice; all if None.
Which = int | slice | Sequence[int] | None
#: Tokens: a position from 0, a word, several of them, a slice; all if None.
Tokens = int | str | slice | Sequence[int | str] | None


def check_which(name: str, which: Any, words: bool = False) -> Any:
    """Check a selection apart from how many there are; a list becomes a tuple."""
    if isinstance(which, slice):
        ends = (which.start, which.stop, which.step)
        if which.step == 0 or any(
            isinstance(x, bool) or not isinstance(x, (int, np.integer, type(None))) for x in ends
        ):
            raise EditError(
                worded(
                    "{name} must be a slice of whole numbers with a step other than 0, got {which!r}",
                    name=name,
                    which=which,
                )
            )
        return which
    if which is None or (words and isinstance(which, str)):
        return which
    several = isinstance(which, (Sequence, np.ndarray)) and not isinstance(which, (str, bytes))
    given = tuple(which) if several else (which,)
    for one in given:
        if words and isinstance(one, str):
            continue
        if isinstance(one, bool) or not isinstance(one, (int, np.integer)) or one < 0:
            kinds = worded("positions from 0 or words") if words else worded("whole numbers from 0")
            raise EditError(
                worded("{name} must be {kinds}, a slice, or None for all, got {one!r}", name=name, kinds=kinds, one=one)
            )
    plain = tuple(one if isinstance(one, str) else int(one) for one in given)
    return plain if several else plain[0]


def indices(name: str, which: Which, count: int) -> tuple[int, ...]:
    """The numbers selected among `count`, in order, each once.

    Raises:
        EditError: if one of them is `count` or more.

    >>> indices("head", slice(-2, None), 12), indices("head", [3, 1], 12), indices("head", None, 2)
    ((10, 11), (1, 3), (0, 1))
    """
    if which is None:
        return tuple(range(count))
    if isinstance(which, slice):
        return tuple(sorted(range(count)[which]))
    given = (which,) if isinstance(which, int) else tuple(which)
    for one in given:
        if one >= count:
            raise EditError(worded("{name} must be from 0 to {count}, got {one}", name=name, count=count - 1, one=one))
    return tuple(sorted(set(given)))


def selected(name: str, which: Tokens, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these positions, (B or 1, N), -1 for padding, are selected.

    A position that isn't there selects nothing: it may come in a later step of generation. A slice counts each text's
    own tokens.

    Raises:
        EditError: if a word is among them, since words must be found in a text first.
    """
    if which is None:
        return positions >= 0
    if isinstance(which, slice):
        chosen = np.zeros(positions.shape, bool)
        for row, own in zip(chosen, positions, strict=True):
            row[:] = np.isin(own, np.arange(int(own.max(initial=-1)) + 1)[which])
        return chosen
    given = (which,) if isinstance(which, (int, str)) else tuple(which)
    words = [one for one in given if isinstance(one, str)]
    if words:
        raise EditError(
            worded(
                "{name} must be positions where the text isn't known, got {words!r}; give numbers from 0",
                name=name,
                words=words[0],
            )
        )
    return np.isin(positions, np.array(given, np.int64)) & (positions >= 0)


def with_words_found(which: Tokens, find: Callable[[str], Sequence[int]]) -> Tokens:
    """The selection with the positions of its words, which `find` gives."""
    if isinstance(which, str):
        return tuple(find(which))
    if which is None or isinstance(which, (int, slice)):
        return which
    return tuple(place for one in which for place in (find(one) if isinstance(one, str) else (one,)))
