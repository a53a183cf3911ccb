"""The words × words matrix in a terminal: each row has one query word's shares."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyeline.views.ink import Ink
from eyeline.views.labels import percent

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.entries import UnitEntry, UnitMatrix

Hidden = Sequence[Sequence[bool]]


def matrix(found: UnitMatrix, units: Sequence[UnitEntry], ceiling: float, ink: Ink) -> tuple[list[Text], int]:
    """Draw rows of shaded cells. A cell is a number where there is room, else two shade characters, else one.

    Args:
        found: the shares between the drawn units, and the hidden pairs.
        units: the drawn units, in reading order.
        ceiling: the share drawn in full shade, from `shade_ceiling`.
        ink: the terminal's ink.

    Returns:
        The lines, and the number of columns that fitted.
    """
    shares = found.shares.tolist()
    hidden = None if found.hidden is None else found.hidden.tolist()
    labels = [ink.label(unit) for unit in units]
    count = len(units)
    numbered = [f"{number:>{len(str(count))}} {label}" for number, label in enumerate(labels, 1)]
    left = ink.widest(numbered) + 2
    room = ink.width - left - 2
    wide = max(ink.widest(labels) + 2, 7)
    if wide * count <= room:
        return _numbers(shares, numbered, labels, left, wide, hidden, ceiling, ink), count
    if 7 * count <= room:
        heads = [str(number) for number in range(1, count + 1)]
        return _numbers(shares, numbered, heads, left, 7, hidden, ceiling, ink), count
    cell = 3 if 3 * count <= room else 2 if 2 * count <= room else 1
    fits = min(count, max(room // cell, 1))
    return _shades(shares, numbered, left, cell, fits, hidden, ceiling, ink), fits


def _numbers(
    shares: Sequence[Sequence[float]],
    rows: Sequence[str],
    heads: Sequence[str],
    left: int,
    cell: int,
    hidden: Hidden | None,
    ceiling: float,
    ink: Ink,
) -> list[Text]:
    from rich.text import Text

    lines = [
        Text("  " + " " * left + "".join(ink.fit(head, cell, right=True) for head in heads), style="dim", no_wrap=True)
    ]
    for label, row, dark in zip(rows, shares, hidden or [()] * len(shares), strict=True):
        line = Text("  " + ink.fit(label, left), no_wrap=True, overflow="crop")
        for share, unseen in itertools.zip_longest(row, dark):
            shade = ink.shade(share, ceiling)
            line.append(" " * (cell - 7)).append(f"{shade * 2:>3}", "cyan")
            line.append(f"{ink.own('–'):>4}", "dim") if unseen else line.append(f"{percent(share):>4}")
        lines.append(line)
    return lines


def _shades(
    shares: Sequence[Sequence[float]],
    rows: Sequence[str],
    left: int,
    cell: int,
    fits: int,
    hidden: Hidden | None,
    ceiling: float,
    ink: Ink,
) -> list[Text]:
    from rich.text import Text

    step = 1 if cell == 3 else 5
    ticks = "".join(str(number).rjust(cell * step) for number in range(step, fits + 1, step))
    lines = [Text("  " + " " * left + ticks, style="dim", no_wrap=True, overflow="crop")]
    for label, row, dark in zip(rows[:fits], shares, hidden or [()] * len(shares), strict=False):
        line = Text("  " + ink.fit(label, left), no_wrap=True, overflow="crop")
        for share, unseen in itertools.islice(itertools.zip_longest(row, dark), fits):
            if unseen:
                line.append(ink.own("–").rjust(cell), "dim")
            else:
                line.append((ink.shade(share, ceiling) * min(cell, 2)).rjust(cell), "cyan")
        lines.append(line)
    return lines
