"""Effects in a notebook and as a page without scripts: HTML, words escaped, for light and dark pages."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyeline.views.effects_findings import (
    MOST,
    agreement,
    agreement_note,
    columns,
    cut_by,
    edges_note,
    found,
    map_end,
    measured,
    nice_end,
    number,
    scale_note,
    stopped,
    token_label,
    unit,
)
from eyeline.views.html_parts import COLOURS, box, escaped_percent, row, small, strong, table, words
from eyeline.views.labels import excerpt, head_name, layer_name, printable
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.words import language, worded

if TYPE_CHECKING:
    from eyeline.answers import Effects

_WIDE = 240  # pixels of a bar's whole scale


def effects_html(answer: Effects) -> str:
    """Render effects as an HTML fragment: the heads and looks that matter most, the map, and how looking agrees."""
    before, inside, after = excerpt(answer.text, None, 200)
    heads = answer.ordered[:MOST]
    parts = [
        f'<div style="font-size:16px">{words(before + inside + after)}</div>',
        small(html.escape(provenance(answer))),
        *map(small, reading_notes(answer.trace, answer.unknown, words)),
        *(small(html.escape(printable(line))) for line in answer.notes),
        f"<div>{measured(answer, words)}</div>",
        *(strong(html.escape(line)) for line in filter(None, (stopped(answer),))),
        strong(html.escape(worded("The heads that matter most"))),
        _bars(answer, [_of_head(answer, *place) for place in heads], edges=False),
        small(html.escape(cut_by(answer))),
        small(html.escape(columns(answer))),
    ]
    if answer.edges:
        rows = [
            (
                f"{head_name(edge.layer, edge.head)} {token_label(answer, edge.query, words)} → "
                f"{token_label(answer, edge.key, words)}",
                edge.effect,
                [escaped_percent(edge.weight), *([] if edge.passed is None else [f"{edge.passed:.2f}"])],
            )
            for edge in answer.edges[:MOST]
        ]
        parts += [
            strong(html.escape(worded("The looks that matter most"))),
            _bars(answer, rows, edges=True),
            small(html.escape(edges_note(answer))),
        ]
    parts += [
        strong(html.escape(worded("All heads"))),
        f'<div style="overflow-x:auto">{_map(answer)}</div>',
        small(html.escape(scale_note(answer))),
        strong(html.escape(worded("Do looking and mattering agree?"))),
        *(f"<div>{html.escape(line)}</div>" for line in agreement(answer)),
        small(html.escape(agreement_note())),
        strong(found(answer, words)),
    ]
    return box(parts)


def effects_page(answer: Effects) -> str:
    """A whole HTML file of effects, without scripts: it reads in light and in dark."""
    title = html.escape(printable(f"{answer.text[:60]} · {provenance(answer)}"))
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n</head>\n<body>\n{effects_html(answer)}\n</body>\n</html>\n"
    )


def _of_head(answer: Effects, layer: int, head: int) -> tuple[str, float, list[str]]:
    place = layer, head
    beside = [] if answer.first_order is None else [number(answer, float(answer.first_order[place]))]
    beside.append(escaped_percent(float(answer.looks[place])))
    if answer.passed is not None:
        beside.append(f"{answer.passed[place]:.2f}")
    return head_name(layer, head), float(answer.heads[place]), beside


def _bars(answer: Effects, rows: Sequence[tuple[str, float, list[str]]], *, edges: bool) -> str:
    """A row for each head or look, with a bar from the zero of one scale; effects below it go to the left."""
    end = nice_end(max((abs(effect) for _, effect, _ in rows), default=0.0))
    below = any(effect < 0 for _, effect, _ in rows)
    slope = [] if edges or answer.first_order is None else [worded("slope")]
    passed = [] if answer.passed is None else [worded("passed on")]
    names = [unit(answer), *slope, worded("weight"), *passed]
    lines = [row(["", "", *map(html.escape, names)])]
    for name, effect, beside in rows:
        lines.append(row([name, _bar(effect, end, below), number(answer, effect), *beside]))
    lines.append(row(["", _axis(end, below)]))
    return table(lines)


def _bar(effect: float, end: float, below: bool) -> str:
    zero = _WIDE / 2 if below else 0.0
    wide = abs(effect) / end * (_WIDE / 2 if below else _WIDE)
    left = zero - wide if effect < 0 else zero
    colour = COLOURS[effect < 0]
    line = f"position:absolute;left:{zero:.1f}px;top:0;height:100%;border-left:1px solid currentColor;opacity:.5"
    bar = f"position:absolute;left:{left:.1f}px;top:0;width:{wide:.1f}px;height:100%;background:rgb({colour})"
    inner = f'<div style="{bar}"></div>' + (f'<div style="{line}"></div>' if below else "")
    return f'<div style="position:relative;width:{_WIDE}px;height:1em">{inner}</div>'


def _axis(end: float, below: bool) -> str:
    ticks = [f"−{end:g}", "0", f"{end:g}"] if below else ["0", f"{end:g}"]
    sides = ["left", "center", "right"] if below else ["left", "right"]
    style = f"display:grid;grid-template-columns:repeat({len(ticks)},1fr);width:{_WIDE}px"
    style += ";border-top:1px solid currentColor;opacity:.7;font-size:12px"
    inner = "".join(f'<div style="text-align:{side}">{tick}</div>' for side, tick in zip(sides, ticks, strict=True))
    return f'<div style="{style}">{inner}</div>'


def _map(answer: Effects) -> str:
    end, _ = map_end(answer)
    rows = [row(["", *(f"H{head}" for head in range(answer.heads.shape[1]))])]
    for layer, effects in enumerate(answer.heads.tolist()):
        cells, fills = [], []
        for head, effect in enumerate(effects):
            title = html.escape(f"{head_name(layer, head)}: {number(answer, effect)}", quote=True)
            cells.append(f'<span title="{title}">{"–" if math.isnan(effect) else "&nbsp;&nbsp;"}</span>')
            share = 0.0 if math.isnan(effect) else min(abs(effect) / end, 1)
            fills.append(f"rgba({COLOURS[effect < 0]},{share:.2f})")
        rows.append(row([layer_name(layer), *cells], fills))
    return table(rows)
