"""A split score in a notebook: HTML without scripts, its words escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views import why_findings as findings
from eyeline.views.html_parts import COLOURS, GREY, box, row, small, strong, table, words
from eyeline.views.labels import excerpt
from eyeline.views.provenance import provenance
from eyeline.views.why_findings import MOST, Bars, others_name, scale_end, signed

if TYPE_CHECKING:
    from eyeline.answers import Why

_SIDE = 120  # pixels on one side of 0


def why_html(answer: Why) -> str:
    """Render a split score as an HTML fragment."""
    before, inside, after = excerpt(answer.text, None, 200)
    lists = findings.bars(answer, MOST, words)
    end = scale_end(lists)
    parts = [
        f'<div style="font-size:16px">{words(before + inside + after)}</div>',
        small(html.escape(provenance(answer))),
        strong(findings.title(answer, words)),
        f"<div>{html.escape(findings.score_line(answer))}</div>",
    ]
    for one in lists:
        parts += [strong(one.title), _table(one, end)]
    return box([*parts, small(html.escape(findings.basis(answer, end))), strong(findings.found(answer, words))])


def _table(one: Bars, end: float) -> str:
    rows = [
        row([html.escape(name), *_cells(value, end, COLOURS[0] if value >= 0 else COLOURS[1])])
        for name, value in zip(one.names, one.values, strict=True)
    ]
    if one.others is not None:
        count, value = one.others
        rows.append(row([small(html.escape(others_name(count))), *_cells(value, end, GREY)]))
    ends = f"<div>-{end:g}</div><div>0</div><div>{end:g}</div>"
    style = f"display:flex;justify-content:space-between;width:{2 * _SIDE}px;border-top:1px solid currentColor"
    return table([*rows, row(["", "", f'<div style="{style};opacity:.7;font-size:12px">{ends}</div>'])])


def _cells(value: float, end: float, colour: str) -> list[str]:
    wide = _SIDE * min(abs(value) / end, 1.0)
    place = f"margin-left:{_SIDE - wide if value < 0 else _SIDE:.1f}px;width:{wide:.1f}px"
    bar = f'<div style="width:{2 * _SIDE}px"><div style="{place};height:1em;background:rgb({colour})"></div></div>'
    return [html.escape(signed(value)), bar]
