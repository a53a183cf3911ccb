"""Checked positions: whole numbers, and ranges of queries or keys."""

from __future__ import annotations

import numpy as np

from eyeline.traces.errors import TraceError


def is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def checked_range(name: str, given: tuple[int, int] | None, count: int) -> tuple[int, int]:
    """Return [first, last), checked to be in range and not empty."""
    if given is None:
        return 0, count
    try:
        first, last = given
    except (TypeError, ValueError):
        first = last = -1
    if not is_whole(first) or not is_whole(last) or not 0 <= first < last <= count:
        raise TraceError(f"{name} must be [first, last) within 0 to {count}, got {given!r}")
    return int(first), int(last)
