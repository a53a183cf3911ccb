"""Checked positions: whole numbers, and ranges of queries or keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from eyeline.traces.errors import TraceError
from eyeline.words import worded


def is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def index_below(value: Any, count: int) -> int | None:
    """A valid index of `count` things; None for anything else.

    >>> index_below(2, 3), index_below(3, 3), index_below(True, 3)
    (2, None, None)
    """
    return int(value) if is_whole(value) and 0 <= value < count else None


def checked_range(name: str, given: tuple[int, int] | None, count: int) -> tuple[int, int]:
    """Return [first, last), checked to be in range and not empty."""
    if given is None:
        return 0, count
    try:
        first, last = given
    except (TypeError, ValueError):
        first = last = -1
    if not is_whole(first) or not is_whole(last) or not 0 <= first < last <= count:
        raise TraceError(
            worded(
                "{name} must be [first, last) within 0 to {count}, got {given!r}", name=name, count=count, given=given
            )
        )
    return int(first), int(last)
