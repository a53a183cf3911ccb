"""Bar charts in a terminal: a token's weight on each word, for one run or two side by side."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.drawn import DrawnRow
from eyeline.views.findings import aside_name
from eyeline.views.ink import Ink
from eyeline.views.labels import listed, percent, vector_name
from eyeline.views.scale import scale_end
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.entries import LayerCosine, UnitEntry

MOST = 40  # the number of bars drawn by default
_NUMBER = 5  # cells of "  31%"
_LONGEST = 48  # the largest number of cells in a bar
_ASIDE = 16  # the largest number of cells for the name of what is set aside
_COLOURS = ("cyan", "yellow")


@dataclass(frozen=True)
class Chart:
    """One column of bars: its heading, and a query's numbers."""

    heading: str
    row: DrawnRow


def bars_end(charts: Sequence[Chart]) -> float:
    """The end of the scale of bars that are drawn together."""
    return scale_end(number for chart in charts for number in chart.row.all)


def strongest(series: Sequence[Sequence[float]], most: int, always: Container[int] = ()) -> list[int]:
    """The indices of the largest numbers in any of several series, in order: all if there are at most `most`; else the
    `most` largest, without zeros.

    Args:
        series: series of the same length.
        most: the largest number of indices.
        always: indices that are always included; if there are more than `most` of these, the largest of them.

    >>> strongest([[0.1, 0.4, 0.0, 0.2, 0.3]], 3, always=[2])
    [1, 2, 4]
    """
    largest = [max(numbers) for numbers in zip(*series, strict=True)]
    if len(largest) <= most:
        return list(range(len(largest)))
    above_0 = [place for place, number in enumerate(largest) if number > 0 or place in always]
    ordered = sorted(above_0, key=lambda place: (place not in always, -largest[place]))
    return sorted(ordered[:most])


def rest(series: Sequence[Sequence[float]], shown: Sequence[int]) -> str:
    """The line on the entries that aren't shown: their number and their total; empty if all are shown.

    >>> rest([[0.1, 0.4, 0.2, 0.3]], [1, 3])
    'and 2 more, together 30%'
    """
    left = set(range(len(series[0]))) - set(shown)
    together = [percent(sum(numbers[place] for place in left)) for numbers in series]
    return worded("and {count} more, together {shares}", count=len(left), shares=listed(together)) if left else ""


def bars(
    charts: Sequence[Chart],
    units: Sequence[UnitEntry],
    own: Sequence[int],
    ink: Ink,
    most: int = MOST,
    end: float | None = None,
) -> list[Text]:
    """One line per word: its label, and a bar with its number for each chart; then the part that is set aside, in grey,
    and the axis.

    Args:
        charts: the charts, side by side; all of the same units, on one scale from zero.
        units: the units of the rows.
        own: the query token's own units, marked by a dot.
        ink: the terminal's ink.
        most: the largest number of words, those with the largest numbers; a line says how many more there are.
        end: the end of the scale; `bars_end(charts)` if not given.
    """
    from rich.cells import cell_len
    from rich.text import Text

    looks = charts[0].row.looks
    numbers = [chart.row.numbers for chart in charts]
    drawn = strongest(numbers, most, [place for place, look in enumerate(looks) if look.unit in own])
    labels = [ink.label(units[looks[place].unit]) for place in drawn]
    aside = aside_name(units, ink.words) if charts[0].row.aside is not None else ""
    label_cells = max(ink.widest(labels), min(cell_len(ink.own(aside)), _ASIDE))
    room = (ink.width - 4 - label_cells) // len(charts) - _NUMBER - (3 if len(charts) > 1 else 1)
    cells = max(min(room, _LONGEST), 4)
    end = bars_end(charts) if end is None else end

    def line(label: str, style: str, row: Sequence[tuple[float, bool]], colours: Sequence[str]) -> Text:
        result = Text(ink.own("• ") if style else "  ", no_wrap=True, overflow="crop")
        result.append(ink.fit(label, label_cells), style)
        for (number, hidden), colour in zip(row, colours, strict=True):
            figure = ink.own("–") if hidden else percent(number)
            result.append("  ").append(ink.fit(ink.bar(number, end, cells), cells), colour)
            result.append(f"{figure:>{_NUMBER}}").append(" ")
        result.rstrip()
        return result

    lines = []
    if any(chart.heading for chart in charts):
        heads = "".join(ink.fit(ink.own(chart.heading), cells + _NUMBER + 3) for chart in charts)
        lines.append(Text(" " * (4 + label_cells) + heads.rstrip(), style="dim", no_wrap=True))
    for place, label in zip(drawn, labels, strict=True):
        style = "bold cyan" if looks[place].unit in own else ""
        row = [(chart.row.numbers[place], chart.row.looks[place].hidden) for chart in charts]
        lines.append(line(label, style, row, _COLOURS[: len(charts)]))
    if left := rest(numbers, drawn):
        lines.append(Text("\n".join(ink.wrapped(left, 2)), style="dim"))
    if aside:
        row = [(chart.row.aside or 0.0, False) for chart in charts]
        last = line(ink.own(aside), "", row, ["dim"] * len(charts))
        last.stylize("dim")
        lines.append(last)
    axis = f"  {ink.axis(percent(end), cells)}{'':{_NUMBER + 1}}" * len(charts)
    lines.append(Text(" " * (2 + label_cells) + axis.rstrip(), style="dim", no_wrap=True))
    return lines


def cosines(entries: Sequence[Sequence[LayerCosine]], names: Sequence[str], ink: Ink) -> list[Text]:
    """A table of cosines: a column for the embedding and one for each layer, wrapped where it is too wide."""
    from rich.cells import cell_len
    from rich.text import Text

    names = [ink.own(name) for name in names]
    heads = [ink.own(vector_name(entry.layer)) for entry in entries[0]]
    left = max(map(cell_len, names)) + 2
    cells = [max(cell_len(head) + 2, 7) for head in heads]
    lines: list[Text] = []
    first = 0
    while first < len(heads):
        last = first + 1
        while last < len(heads) and left + 2 + sum(cells[first : last + 1]) <= ink.width:
            last += 1
        if lines:
            lines.append(Text())
        part = range(first, last)
        heading = "".join(ink.fit(heads[at], cells[at], right=True) for at in part)
        lines.append(Text(" " * (2 + left) + heading, style="dim"))
        for name, series in zip(names, entries, strict=True):
            line = Text("  " + ink.fit(name, left))
            for at in part:
                line.append(f"{series[at].cosine:>{cells[at]}.3f}", "bold" if at == len(heads) - 1 else "")
            lines.append(line)
        first = last
    return lines
