"""HTML parts for notebooks: without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars_end, rest, strongest
from eyeline.views.drawn import DrawnMatrix
from eyeline.views.findings import aside_name
from eyeline.views.labels import excerpt, named, percent, printable, vector_name
from eyeline.views.scale import Shades
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.entries import LayerCosine, UnitEntry

# Colours that are visible on white and on black; the text has the page's own colour.
COLOURS = ("45,140,200", "215,140,30")
#: What is set aside.
GREY = "140,140,140"
_WIDE = 240  # pixels of a bar at the end of its scale


_CELL = "padding:2px 8px;border:none;background:none;color:inherit"


#: The largest number of words drawn in a matrix.
WIDEST = 100
_NUMBERED = 24  # the largest number of words for cells with numbers
_HIDDEN = '<div style="opacity:.5">–</div>'


def words(text: str) -> str:
    """The user's words, escaped, in their own reading direction."""
    return f"<bdi>{html.escape(printable(text))}</bdi>"


def box(parts: Sequence[str]) -> str:
    style = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;color:inherit;max-width:60em"
    return f'<div class="eyeline-answer" style="{style}">{"".join(parts)}</div>'


def title(text: str, span: tuple[int, int] | None, name: str = "") -> str:
    before, inside, after = (html.escape(printable(part)) for part in excerpt(text, span, 200))
    inside = f"<b>{inside}</b>" if span else inside
    return f'<div style="font-size:16px">{name} <bdi>{before}{inside}{after}</bdi></div>'


def small(text: str) -> str:
    return f'<div style="opacity:.7;font-size:12px">{text}</div>'


def strong(text: str) -> str:
    return f'<div style="font-weight:600;margin-top:.8em">{text}</div>'


def table(rows: Sequence[str]) -> str:
    return f'<table style="border-collapse:collapse;border:none;color:inherit">{"".join(rows)}</table>'


def row(cells: Sequence[str], fills: Sequence[str] = ()) -> str:
    """A row of a table; the first cell is its label, and `fills` are the backgrounds of the others."""
    styles = ["text-align:left", *(f"text-align:right;background:{fill}" for fill in fills or ["none"] * len(cells))]
    inner = "".join(f'<td style="{_CELL};{style}">{cell}</td>' for cell, style in zip(cells, styles, strict=False))
    return f'<tr style="background:none">{inner}</tr>'


def bars(
    charts: Sequence[Chart],
    units: Sequence[UnitEntry],
    own: Sequence[int],
    most: int = MOST,
    end: float | None = None,
) -> str:
    """A row for each word, for what is set aside and for the axis, as `eyeline.views.bars.bars` draws them."""
    looks = charts[0].row.looks
    numbers = [chart.row.numbers for chart in charts]
    end = bars_end(charts) if end is None else end
    drawn = strongest(numbers, most, [place for place, look in enumerate(looks) if look.unit in own])

    def cells(row: Sequence[tuple[float, bool]], colours: Sequence[str]) -> list[str]:
        result = []
        for (number, hidden), colour in zip(row, colours, strict=True):
            bar = f"width:{_WIDE * number / end:.1f}px;height:1em;background:rgb({colour})"
            result.append(f'<div style="width:{_WIDE}px"><div style="{bar}"></div></div>')
            result.append(_HIDDEN if hidden else escaped_percent(number))
        return result

    rows = []
    if len(charts) > 1:
        rows.append(row(["", *(cell for chart in charts for cell in (html.escape(chart.heading), ""))]))
    for place in drawn:
        name = label(units[looks[place].unit])
        name = f"<b>{name}</b>" if looks[place].unit in own else name
        found = [(chart.row.numbers[place], chart.row.looks[place].hidden) for chart in charts]
        rows.append(row([name, *cells(found, COLOURS[: len(charts)])]))
    if left := rest(numbers, drawn):
        rows.append(row([small(html.escape(left))]))
    if charts[0].row.aside is not None:
        found = [(chart.row.aside or 0.0, False) for chart in charts]
        rows.append(row([small(aside_name(units, words)), *cells(found, [GREY] * len(charts))]))
    rows.append(row(["", *(cell for _ in charts for cell in (_axis(end), ""))]))
    return table(rows)


def _axis(end: float) -> str:
    style = f"display:flex;justify-content:space-between;width:{_WIDE}px;border-top:1px solid currentColor"
    return f'<div style="{style};opacity:.7;font-size:12px"><div>0</div><div>{end:.0%}</div></div>'


def escaped_percent(number: float) -> str:
    """A number in percent, escaped: "&lt;1%"."""
    return html.escape(percent(number))


def label(unit: UnitEntry) -> str:
    return "-" * unit.joins_before + words(named(unit.text)) + "-" * unit.joins_after


def matrix(
    found: DrawnMatrix,
    units: Sequence[UnitEntry],
    shown: Sequence[int],
    end: float,
    colour: str = COLOURS[0],
    most: int = WIDEST,
) -> str:
    """A shaded table of numbers: rows are queries, columns are keys; a dash marks a pair that the mask hides, and the
    last column, in grey, is what is set aside.

    Args:
        found: the numbers between the drawn units.
        units: all units.
        shown: the indices of those that are drawn.
        end: the number drawn in full shade, on a linear scale from zero.
        colour: the shade's colour, as red, green and blue.
        most: the largest number of words drawn, from the first.
    """
    count, shown = len(shown), shown[:most]
    aside = found.aside is not None
    rows = [row(["", *(label(units[index]) for index in shown), *([small(aside_name(units, words))] * aside)])]
    for place, index in enumerate(shown):
        numbers = found.numbers[place, :most].tolist()
        hidden = [False] * len(shown) if found.hidden is None else found.hidden[place, :most].tolist()
        fills = [f"rgba({colour},{min(number / end, 1):.2f})" for number in numbers]
        figures = [
            _HIDDEN if unseen else escaped_percent(number) if len(shown) <= _NUMBERED else ""
            for number, unseen in zip(numbers, hidden, strict=True)
        ]
        if found.aside is not None:
            fills.append(f"rgba({GREY},{found.aside[place]:.2f})")
            figures.append(escaped_percent(found.aside[place]) if len(shown) <= _NUMBERED else "")
        rows.append(row([label(units[index]), *figures], fills))
    cut = worded("{shown} of {count} words are drawn here; the PNG and the JSON have all.", shown=most, count=count)
    return f'<div style="overflow-x:auto">{table(rows)}</div>' + (small(html.escape(cut)) if count > most else "")


def matrix_end(matrices: Sequence[DrawnMatrix]) -> tuple[float, str]:
    """The end of the shades of matrices that are drawn together, and the legend that states it."""
    shades = Shades.of(matrices)
    text = worded("Shades, from 0 to {end}, are linear.", end=f"{shades.end:.0%}") + shades.beyond()
    if matrices[0].aside is not None:
        text += " " + worded("Grey: a scale of its own from 0 to 100%.")
    return shades.end, html.escape(text)


def cosines(series: Sequence[tuple[str, Sequence[LayerCosine]]]) -> str:
    rows = [row(["", *(html.escape(vector_name(entry.layer)) for entry in series[0][1])])]
    rows += [row([name, *(f"{entry.cosine:.3f}" for entry in entries)]) for name, entries in series]
    return table(rows)
