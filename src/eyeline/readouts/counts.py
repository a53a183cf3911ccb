"""Checks of a readout's whole numbers."""

from __future__ import annotations

import numpy as np


def check_whole(name: str, value: object, farthest: int) -> int:
    """Check one of several whole numbers, which must be from -farthest to farthest."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be whole numbers, got {value!r}")
    if abs(int(value)) > farthest:
        raise ValueError(f"{name} must be from {-farthest} to {farthest}, got {value}")
    return int(value)


def check_count(name: str, value: object, least: int) -> int:
    """Check a whole number that must be `least` or more."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more, got {value!r}")
    return int(value)
