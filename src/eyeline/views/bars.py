"""Bar charts in a terminal: a token's share on each word, for one run or two side by side."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.ink import Ink
from eyeline.views.labels import listed, percent, vector_name
from eyeline.views.scale import bar_ceiling
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.entries import LayerCosine, Look, UnitEntry

MOST = 40  # the number of bars drawn by default
_NUMBER = 5  # cells of "  31%"
_LONGEST = 48  # the largest number of cells in a bar


@dataclass(frozen=True)
class Chart:
    """One column of bars: its heading, and the weights on words."""

    heading: str
    looks: Sequence[Look]


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
    charts: Sequence[Chart], units: Sequence[UnitEntry], own: Sequence[int], ink: Ink, most: int = MOST
) -> tuple[list[Text], bool]:
    """One line per word: its label, and a bar with its share for each chart.

    Args:
        charts: the charts, side by side; all of the same units.
        units: the units of the rows.
        own: the query token's own units, marked by a dot.
        ink: the terminal's ink.
        most: the largest number of words, those with the largest shares; a last line says how many more there are.

    Returns:
        The lines, and whether any bar was cut.
    """
    from rich.text import Text

    shown = [[look for look in chart.looks if look.share is not None] for chart in charts]
    numbers = [[look.share or 0.0 for look in looks] for looks in shown]
    drawn = strongest(numbers, most, [place for place, look in enumerate(shown[0]) if look.unit in own])
    labels = [ink.label(units[shown[0][place].unit]) for place in drawn]
    ceiling, cut = bar_ceiling(*numbers)
    label_cells = ink.widest(labels)
    room = (ink.width - 4 - label_cells) // len(charts) - _NUMBER - (3 if len(charts) > 1 else 1)
    cells = max(min(room, _LONGEST), 4)
    column = cells + _NUMBER + 3
    lines = []
    if any(chart.heading for chart in charts):
        heads = "".join(ink.fit(ink.own(chart.heading), column) for chart in charts)
        lines.append(Text(" " * (4 + label_cells) + heads.rstrip(), style="dim", no_wrap=True))
    for row, label in zip(drawn, labels, strict=True):
        itself = shown[0][row].unit in own
        line = Text(ink.own("• ") if itself else "  ", no_wrap=True, overflow="crop")
        line.append(ink.fit(label, label_cells), "bold cyan" if itself else "")
        for number, looks in enumerate(shown):
            share = looks[row].share or 0.0
            bar = ink.bar(share, ceiling, cells)
            figure = ink.own("–") if looks[row].hidden else percent(share)
            last = number == len(charts) - 1
            line.append("  ").append(ink.fit(bar, cells), "cyan" if number == 0 else "yellow")
            line.append(f"{figure:>{_NUMBER}}").append("" if last else " ")
        lines.append(line)
    if left := rest(numbers, drawn):
        lines.append(Text("\n".join(ink.wrapped(left, 2)), style="dim"))
    return lines, cut


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
