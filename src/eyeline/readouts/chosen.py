"""Several readouts, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from eyeline.masks import AttentionShape
from eyeline.readouts.matrix import Pooled, Received
from eyeline.readouts.rectangle import Weights
from eyeline.readouts.rows import Entropy, GroupMass, MeanDistance, TopK

Readout = TopK | Entropy | Received | MeanDistance | GroupMass | Pooled | Weights


def chosen(read: Readout | Sequence[Readout], problem: AttentionShape) -> tuple[Readout, ...]:
    """What is to be read: one readout or several, each kind at most once.

    Raises:
        TypeError: if one of them isn't a readout.
        ValueError: if a kind is there twice, or one doesn't fit the matrix.
    """
    given = several(read)
    for readout in given:
        readout.check(problem)
    return given


def several(read: Readout | Sequence[Readout]) -> tuple[Readout, ...]:
    """As `chosen`, before it is known of which matrix."""
    kinds = get_args(Readout)
    given: tuple[Readout, ...] = (read,) if isinstance(read, kinds) else tuple(read)  # type: ignore[arg-type]
    for readout in given:
        if not isinstance(readout, kinds):
            raise TypeError(f"read must hold readouts, such as eyeline.Weights(), got {readout!r}")
    for name, times in Counter(type(readout).__name__ for readout in given).items():
        if times > 1:
            raise ValueError(f"read must hold each kind of readout once, got {name} {times} times")
    return given
