"""Scales of bars and shades, which keep small shares readable beside one dominant token."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

#: The possible ends of a scale.
ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SWAMPS = 4  # times the next longest: a bar beyond this would flatten the others


def scale_end(numbers: Iterable[float]) -> float:
    """The end of a scale from zero: the smallest of 1, 2, 5, 10, 20, 50 and 100% that isn't below any of the numbers.

    A bar's length and a shade are number / end.

    >>> scale_end([0.32, 0.17]), scale_end([0.004]), scale_end([])
    (0.5, 0.01, 0.01)
    """
    most = max(numbers, default=0.0)
    return next((end for end in ENDS if most <= end * (1 + 1e-9)), most)


def bar_ceiling(*charts: Sequence[float]) -> tuple[float, bool]:
    """The share drawn as a full bar, and whether any bar has to be cut.

    A bar more than 4 times as long as the next one of its chart is cut, so that the others stay readable.

    Args:
        charts: the shares of each chart; all are drawn on one scale.

    >>> bar_ceiling([0.5, 0.3, 0.2])
    (0.5, False)
    >>> bar_ceiling([0.9, 0.06, 0.04])
    (0.09, True)
    """
    largest = max((share for chart in charts for share in chart), default=0.0)
    others = 0.0
    for chart in charts:
        ordered = sorted(chart, reverse=True)
        swamped = len(ordered) > 2 and 0 < SWAMPS * ordered[1] < ordered[0]
        others = max(others, 1.5 * ordered[1] if swamped else max(ordered, default=0.0))
    return (round(others, 12), True) if 0 < others < largest else (largest or 1.0, False)


def shade_ceiling(matrices: Sequence[Sequence[Sequence[float]]], heavy: Sequence[int] = ()) -> tuple[float, bool]:
    """The share drawn in full shade in a matrix, and whether some shares exceed it.

    It is the 95th percentile of the cells above 0. If the heaviest column has a cell more than twice as large as all
    cells of the others, as an attention sink may, that column is left out.

    Args:
        matrices: rows of shares; all are drawn on one scale.
        heavy: columns to leave out anyway, such as those of special tokens.

    >>> shade_ceiling([[[0.9, 0.1, 0.0], [0.8, 0.0, 0.2]]])
    (0.2, True)
    """
    largest = max((share for rows in matrices for row in rows for share in row), default=0.0)
    others = 0.0
    for matrix in matrices:
        # A query with a single visible word has weight 1 there, which says nothing and would make the rest pale.
        rows = [row for row in matrix if sum(share > 0 for share in row) > 1] or matrix
        columns = [column for index, column in enumerate(zip(*rows, strict=True)) if index not in heavy]
        columns.sort(key=sum, reverse=True)
        rest = max((share for column in columns[1:] for share in column), default=0.0)
        if columns and 0 < 2 * rest < max(columns[0]):
            columns = columns[1:]
        cells = sorted(share for column in columns for share in column if share > 0)
        others = max(others, cells[math.ceil(0.95 * len(cells)) - 1] if cells else 0.0)
    return (others, True) if 0 < others < largest else (largest or 1.0, False)
