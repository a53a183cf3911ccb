"""Bars: whom a token looks at, in reading order, one run or two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.document import LayerCosine, Look, Unit
from eyeline.views.ink import Ink
from eyeline.views.labels import percent
from eyeline.views.scale import bar_ceiling

if TYPE_CHECKING:
    from rich.text import Text

_NUMBER = 5  # cells of "  31%"
_LONGEST = 48  # cells of a bar


@dataclass(frozen=True)
class Chart:
    """One column of bars: its heading, and whom is looked at."""

    heading: str
    looks: Sequence[Look]


def bars(charts: Sequence[Chart], units: Sequence[Unit], own: Sequence[int], ink: Ink) -> tuple[list[Text], bool]:
    """One line per word: its label, and a bar with its share for each chart.

    Args:
        charts: as many bars a line, side by side; all of the same units.
        units: what may be looked at.
        own: the units that the looking token is made of; a dot marks them.
        ink: how to draw.

    Returns:
        The lines, and whether any bar was cut.
    """
    from rich.text import Text

    shown = [[look for look in chart.looks if look["share"] is not None] for chart in charts]
    ceiling, cut = bar_ceiling(*([look["share"] or 0.0 for look in looks] for looks in shown))
    labels = [ink.label(units[look["unit"]]) for look in shown[0]]
    label_cells = ink.widest(labels)
    room = (ink.width - 4 - label_cells) // len(charts) - _NUMBER - (3 if len(charts) > 1 else 1)
    cells = max(min(room, _LONGEST), 4)
    column = cells + _NUMBER + 3
    lines = []
    if any(chart.heading for chart in charts):
        heads = "".join(ink.fit(ink.own(chart.heading), column) for chart in charts)
        lines.append(Text(" " * (4 + label_cells) + heads.rstrip(), style="dim", no_wrap=True))
    for row, label in enumerate(labels):
        itself = shown[0][row]["unit"] in own
        line = Text(ink.own("• ") if itself else "  ", no_wrap=True, overflow="crop")
        line.append(ink.fit(label, label_cells), "bold cyan" if itself else "")
        for number, looks in enumerate(shown):
            share = looks[row]["share"] or 0.0
            bar = ink.bar(share, ceiling, cells)
            figure = ink.own("–") if looks[row]["hidden"] else percent(share)
            last = number == len(charts) - 1
            line.append("  ").append(ink.fit(bar, cells), "cyan" if number == 0 else "yellow")
            line.append(f"{figure:>{_NUMBER}}").append("" if last else " ")
        lines.append(line)
    return lines, cut


def cosines(entries: Sequence[Sequence[LayerCosine]], names: Sequence[str], ink: Ink) -> list[Text]:
    """Cosines layer by layer, a column for each layer; broken into several rows if need be."""
    from rich.text import Text

    names = [ink.own(name) for name in names]
    left = max(map(len, (*names, "cosine"))) + 2
    per_row = max((ink.width - left - 2) // 7, 1)
    lines: list[Text] = []
    for first in range(0, len(entries[0]), per_row):
        part = entries[0][first : first + per_row]
        if lines:
            lines.append(Text())
        lines.append(
            Text(
                "  "
                + "layer".ljust(left)
                + "".join(f"{'emb.' if entry['layer'] is None else entry['layer']:>7}" for entry in part),
                style="dim",
            )
        )
        for name, series in zip(names, entries, strict=True):
            line = Text("  " + name.ljust(left))
            for entry in series[first : first + per_row]:
                line.append(f"{entry['cosine']:>7.3f}", "bold" if entry is series[-1] else "")
            lines.append(line)
    return lines
