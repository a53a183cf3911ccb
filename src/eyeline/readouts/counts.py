"""Checks of a readout's whole numbers."""

from __future__ import annotations

import numpy as np

from eyeline.words import worded


def check_whole(name: str, value: object, farthest: int) -> int:
    """Check one of several whole numbers, which must be from -farthest to farthest."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(worded("{name} must be whole numbers, got {value!r}", name=name, value=value))
    if abs(int(value)) > farthest:
        raise ValueError(
            worded(
                "{name} must be from {farthest} to {other}, got {value}",
                name=name,
                farthest=-farthest,
                other=farthest,
                value=value,
            )
        )
    return int(value)


def check_count(name: str, value: object, least: int) -> int:
    """Check a whole number that must be `least` or more."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(
            worded("{name} must be a whole number, {least} or more, got {value!r}", name=name, least=least, value=value)
        )
    return int(value)
