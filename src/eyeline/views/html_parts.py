"""HTML parts for notebooks: without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, rest, strongest
from eyeline.views.labels import excerpt, named, percent, printable, vector_name
from eyeline.views.scale import bar_ceiling
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.entries import LayerCosine, Look, UnitEntry, UnitMatrix

# Colours that are visible on white and on black; the text has the page's own colour.
COLOURS = ("45,140,200", "215,140,30")


_CELL = "padding:2px 8px;border:none;background:none;color:inherit"


#: The largest number of words drawn in a matrix.
WIDEST = 100
_HIDDEN = '<div style="opacity:.5">–</div>'


def words(text: str) -> str:
    """The user's words, escaped, in their own reading direction."""
    return f"<bdi>{html.escape(printable(text))}</bdi>"


def box(parts: Sequence[str]) -> str:
    style = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;color:inherit;max-width:60em"
    return f'<div class="eyeline" style="{style}">{"".join(parts)}</div>'


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
    charts: Sequence[tuple[str, Sequence[Look]]], units: Sequence[UnitEntry], own: Sequence[int], most: int = MOST
) -> str:
    """A row for each word, as `eyeline.views.bars.bars` draws it."""
    shown = [[look for look in looks if look.share is not None] for _, looks in charts]
    numbers = [[look.share or 0.0 for look in looks] for looks in shown]
    ceiling, _ = bar_ceiling(*numbers)
    drawn = strongest(numbers, most, [place for place, look in enumerate(shown[0]) if look.unit in own])
    rows = [row(["", *(cell for name, _ in charts for cell in (html.escape(name), ""))])] if len(charts) > 1 else []
    for place in drawn:
        look = shown[0][place]
        name = label(units[look.unit])
        cells = [f"<b>{name}</b>" if look.unit in own else name]
        for number, looks in enumerate(shown):
            share = looks[place].share or 0.0
            width = 240 * min(share / ceiling, 1)
            edge = "border-right:3px double currentColor" if share > ceiling * 1.0001 else ""
            bar = f"width:{width:.0f}px;height:1em;background:rgb({COLOURS[number]});{edge}"
            figure = _HIDDEN if looks[place].hidden else percent(share).replace("<", "&lt;")
            cells += [f'<div style="width:240px"><div style="{bar}"></div></div>', figure]
        rows.append(row(cells))
    left = rest(numbers, drawn)
    return table(rows) + (small(html.escape(left)) if left else "")


def label(unit: UnitEntry) -> str:
    return "-" * unit.joins_before + words(named(unit.text)) + "-" * unit.joins_after


def matrix(
    found: UnitMatrix, shown: Sequence[UnitEntry], ceiling: float, colour: str = COLOURS[0], most: int = WIDEST
) -> str:
    """A shaded table of shares: rows are queries, columns are keys; a dash marks a pair that the mask hides.

    Args:
        found: the shares, and the hidden pairs.
        shown: the words.
        ceiling: the share drawn in full shade.
        colour: the shade's colour, as red, green and blue.
        most: the largest number of words drawn, from the first.
    """
    count, shown = len(shown), shown[:most]
    rows = [row(["", *map(label, shown)])]
    shares = found.shares[:most, :most].tolist()
    hidden = [[False] * len(shown)] * len(shown) if found.hidden is None else found.hidden[:most, :most].tolist()
    for unit, given, dark in zip(shown, shares, hidden, strict=True):
        fills = [f"rgba({colour},{min(share / ceiling, 1):.2f})" for share in given]
        numbers = [
            _HIDDEN if unseen else percent(share).replace("<", "&lt;") if len(shown) <= 24 else ""
            for share, unseen in zip(given, dark, strict=True)
        ]
        rows.append(row([label(unit), *numbers], fills))
    cut = worded("{shown} of {count} words are drawn here; the PNG and the JSON have all.", shown=most, count=count)
    return f'<div style="overflow-x:auto">{table(rows)}</div>' + (small(html.escape(cut)) if count > most else "")


def cosines(series: Sequence[tuple[str, Sequence[LayerCosine]]]) -> str:
    rows = [row(["", *(html.escape(vector_name(entry.layer)) for entry in series[0][1])])]
    rows += [row([name, *(f"{entry.cosine:.3f}" for entry in entries)]) for name, entries in series]
    return table(rows)
