"""Curves in a terminal, on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.ink import Ink

if TYPE_CHECKING:
    from rich.text import Text

ROWS = 12
_WIDEST = 64  # the largest number of cells between the axes
_STYLES = ("cyan", "yellow", "dim")


@dataclass(frozen=True)
class Series:
    """A curve: its points (x, y), all positive, in order; `guide` draws it dotted."""

    name: str
    points: Sequence[tuple[float, float]]
    guide: bool = False


def log_chart(series: Sequence[Series], say: Callable[[float], str], ink: Ink) -> list[Text]:
    """Draw curves on logarithmic axes, each with its own sign, and a legend.

    Args:
        series: the curves, over the same x.
        say: formats a value of y for its axis.
        ink: the terminal's ink.
    """
    from rich.text import Text

    signs = "●○·" if ink.unicode else "*o."
    xs = sorted({x for curve in series for x, _ in curve.points})
    ys = [y for curve in series for _, y in curve.points]
    low = math.floor(math.log10(min(ys)))
    high = max(math.ceil(math.log10(max(ys))), low + 1)
    labels = {round((high - power) / (high - low) * (ROWS - 1)): say(10.0**power) for power in range(low, high + 1)}
    left = max(map(len, map(ink.own, labels.values())))
    cells = max(min(ink.width - left - 6, _WIDEST), 10)

    def column(x: float) -> int:
        return round(math.log(x / xs[0]) / math.log(xs[-1] / xs[0]) * (cells - 1))

    grid: list[list[tuple[str, str]]] = [[(" ", "")] * cells for _ in range(ROWS)]
    for place in range(len(series) - 1, -1, -1):  # the first curve is drawn last, over the others
        curve, style = series[place], _STYLES[place % len(_STYLES)]
        for at, height in _heights(curve, xs, cells, column).items():
            row = round((high - height) / (high - low) * (ROWS - 1))
            grid[row][at] = (signs[place % len(signs)], style)
    lines = []
    for number, cell in enumerate(grid):
        axis = ink.own("┤" if number in labels else "│") if ink.unicode else "|"
        line = Text("  " + ink.fit(ink.own(labels.get(number, "")), left, right=True) + " " + axis, no_wrap=True)
        for sign, style in cell:
            line.append(sign, style)
        lines.append(line)
    lines += _x_axis(xs, cells, column, left, ink)
    for place, curve in enumerate(series):
        sign, style = signs[place % len(signs)], _STYLES[place % len(_STYLES)]
        lines.append(Text("  ").append(sign, style).append(ink.own(f" {curve.name}")))
    return lines


def _heights(curve: Series, xs: Sequence[float], cells: int, column: Callable[[float], int]) -> dict[int, float]:
    """log₁₀ of y at each column, interpolated between points; a guide has every other column."""
    found = {}
    ends = zip(curve.points, curve.points[1:], strict=False)
    for (x0, y0), (x1, y1) in ends:
        first, last = column(x0), column(x1)
        for at in range(first, last + 1):
            share = (at - first) / max(last - first, 1)
            found[at] = math.log10(y0) + share * (math.log10(y1) - math.log10(y0))
    return {at: height for at, height in found.items() if not curve.guide or at % 2 == 0}


def _x_axis(xs: Sequence[float], cells: int, column: Callable[[float], int], left: int, ink: Ink) -> list[Text]:
    from rich.text import Text

    rule = ["─" if ink.unicode else "-"] * cells
    words = [" "] * (cells + 4)
    free = 0
    for x in xs:
        at = column(x)
        rule[at] = "┬" if ink.unicode else "+"
        name = f"{x:.0f}"
        start = max(at - len(name) // 2, 0)
        if start >= free and start + len(name) <= len(words):
            words[start : start + len(name)] = name
            free = start + len(name) + 1
    corner = "└" if ink.unicode else "+"
    return [
        Text("  " + " " * left + " " + corner + "".join(rule), no_wrap=True),
        Text("  " + " " * (left + 2) + "".join(words).rstrip(), no_wrap=True),
    ]
