"""The words × words matrix in a terminal: each row has one query word's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.drawn import DrawnMatrix
from eyeline.views.findings import aside_name
from eyeline.views.ink import Ink
from eyeline.views.labels import percent
from eyeline.views.scale import Shades
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.entries import UnitEntry


def matrix(
    found: DrawnMatrix, units: Sequence[UnitEntry], shown: Sequence[int], shades: Shades, ink: Ink
) -> tuple[list[Text], int]:
    """Draw rows of shaded cells. A cell is a number where there is room, else two shade characters, else one.

    The last column, dim, is what each row gives to the units that are set aside.

    Args:
        found: the numbers between the drawn units, and the hidden pairs.
        units: all units, in reading order.
        shown: the indices of those that are drawn.
        shades: the scale of the shades.
        ink: the terminal's ink.

    Returns:
        The lines, and the number of columns that fitted.
    """
    from rich.cells import cell_len

    labels = [ink.label(units[index]) for index in shown]
    count = len(labels)
    numbered = [f"{number:>{len(str(count))}} {label}" for number, label in enumerate(labels, 1)]
    rows = _rows(found)
    aside = [] if found.aside is None else [ink.own(aside_name(units, ink.words))]
    left = ink.widest(numbered) + 2
    room = ink.width - left - 2
    wide = max(ink.widest(labels) + 2, 7)
    columns = count + len(aside)
    for cell, heads in ((wide, labels), (7, [str(number) for number in range(1, count + 1)])):
        last = max(cell, cell_len(aside[0]) + 2) if aside else 0
        if cell * count + last <= room:
            return _numbers(rows, numbered, [*heads, *aside], left, cell, last, shades.end, ink), count
    cell = next((cell for cell in (3, 2) if cell * columns <= room), 1)
    fits = min(count, max(room // cell - len(aside), 1))
    return _shades(rows, numbered, left, cell, fits, shades.end, ink), fits


@dataclass(frozen=True)
class _Row:
    """A row's numbers, which of them are hidden, and what is set aside."""

    numbers: Sequence[float]
    hidden: Sequence[bool]
    aside: float | None


def _rows(found: DrawnMatrix) -> list[_Row]:
    count = len(found.numbers)
    hidden = [[False] * count] * count if found.hidden is None else found.hidden.tolist()
    aside = [None] * count if found.aside is None else found.aside.tolist()
    return [_Row(*row) for row in zip(found.numbers.tolist(), hidden, aside, strict=True)]


def _numbers(
    rows: Sequence[_Row],
    labels: Sequence[str],
    heads: Sequence[str],
    left: int,
    cell: int,
    last: int,
    end: float,
    ink: Ink,
) -> list[Text]:
    from rich.text import Text

    cells = [cell] * len(rows) + [last] * bool(last)
    heading = "".join(ink.fit(head, width, right=True) for head, width in zip(heads, cells, strict=True))
    lines = [Text("  " + " " * left + heading, style="dim", no_wrap=True)]
    for label, row in zip(labels, rows, strict=True):
        line = Text("  " + ink.fit(label, left), no_wrap=True, overflow="crop")
        for number, unseen in zip(row.numbers, row.hidden, strict=True):
            line.append(" " * (cell - 7)).append(f"{ink.shade(number, end) * 2:>3}", "cyan")
            line.append(f"{ink.own('–'):>4}", "dim") if unseen else line.append(f"{percent(number):>4}")
        if row.aside is not None:
            line.append(f"{percent(row.aside):>{last}}", "dim")
        lines.append(line)
    return lines


def _shades(
    rows: Sequence[_Row], labels: Sequence[str], left: int, cell: int, fits: int, end: float, ink: Ink
) -> list[Text]:
    from rich.text import Text

    step = 1 if cell == 3 else 5
    ticks = "".join(str(number).rjust(cell * step) for number in range(step, fits + 1, step))
    lines = [Text("  " + " " * left + ticks, style="dim", no_wrap=True, overflow="crop")]
    for label, row in zip(labels[:fits], rows, strict=False):
        line = Text("  " + ink.fit(label, left), no_wrap=True, overflow="crop")
        for number, unseen in itertools.islice(zip(row.numbers, row.hidden, strict=True), fits):
            if unseen:
                line.append(ink.own("–").rjust(cell), "dim")
            else:
                line.append((ink.shade(number, end) * min(cell, 2)).rjust(cell), "cyan")
        if row.aside is not None:
            line.append((ink.shade(row.aside, 1.0) * min(cell, 2)).rjust(cell), "dim")
        lines.append(line)
    return lines


def shades_note(shades: Shades, found: DrawnMatrix, units: Sequence[UnitEntry], ink: Ink) -> str:
    """The note on the scale, and on the last column."""
    text = ink.shade_legend(shades.end, shades.largest)
    if found.aside is None:
        return text
    last = worded("The last column, on a scale of its own from 0 to 100%: {name}.", name=aside_name(units, ink.words))
    return f"{text} {last}"
