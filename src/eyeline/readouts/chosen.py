"""Checks of the argument `read=`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from eyeline.masks import AttentionShape
from eyeline.readouts.readout import Readout
from eyeline.words import worded


def chosen(read: Readout | Sequence[Readout], shape: AttentionShape) -> tuple[Readout, ...]:
    """Check one readout or several against a matrix, each kind at most once; returns a tuple.

    Raises:
        TypeError: if one of them isn't a readout.
        ValueError: if a kind occurs twice, or one doesn't fit the matrix.
    """
    given = several(read)
    for readout in given:
        readout.check(shape)
    return given


def several(read: Readout | Sequence[Readout]) -> tuple[Readout, ...]:
    """As `chosen`, without the checks that need the matrix's shape."""
    alone = isinstance(read, (Readout, type, str)) or not isinstance(read, Iterable)
    given: tuple[Any, ...] = (read,) if alone else tuple(read)  # type: ignore[arg-type]
    for readout in given:
        if not isinstance(readout, Readout):
            raise TypeError(_hint(readout))
    if len({readout.name for readout in given}) < len(given):
        counts = Counter(readout.name for readout in given)
        name, times = next((name, times) for name, times in counts.items() if times > 1)
        kind = next(type(readout).__name__ for readout in given if readout.name == name)
        raise ValueError(
            worded("read must hold each kind of readout once, got {kind} {times} times", kind=kind, times=times)
        )
    return given


def check_of_tokens(read: Sequence[Readout]) -> None:
    """Check that all readouts are of single tokens, so that documents can be cut out of a packed sequence's.

    Raises:
        ValueError: if one isn't.
    """
    for readout in read:
        if not readout.of_tokens:
            kinds = ", ".join(sorted(kind.__name__ for kind in Readout.kinds() if kind.of_tokens))
            raise ValueError(
                worded(
                    "read must hold readouts of single tokens ({kinds}) where texts are packed, got {type}; "
                    "observe such a text by itself",
                    kinds=kinds,
                    type=type(readout).__name__,
                )
            )


def _hint(given: Any) -> str:
    if isinstance(given, type) and issubclass(given, Readout):
        return worded(
            "read must hold readouts, got the class {name}; make one, as in eyeline.TopK(8) or eyeline.Entropy()",
            name=given.__name__,
        )
    return worded("read must hold readouts, such as eyeline.Weights(), got {given!r}", given=given)
