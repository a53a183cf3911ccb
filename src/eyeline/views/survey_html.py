"""A survey in a notebook: HTML without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views.html_parts import box, row, small, strong, table, words
from eyeline.views.survey_findings import (
    counted_kinds,
    extremes,
    lost,
    names,
    provenance,
    rule,
    size,
    skipped,
    unfinished,
)

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey

_WIDE = 240  # pixels of a bar of all heads


def survey_html(answer: Survey) -> str:
    """Render a survey's size, its kinds of heads and its most extreme heads as an HTML fragment."""
    parts = [f'<div style="font-size:16px">{words(size(answer))}</div>', small(html.escape(provenance(answer)))]
    if not answer.complete:
        parts.append(strong(html.escape(unfinished(answer))))
    if not answer.tabled:
        return box(parts)
    rows = answer.rows()
    lines = []
    for _, name, count, clearest, kind in counted_kinds(answer, rows):
        bar = f'<div style="width:{_WIDE * count / max(len(rows), 1):.1f}px;height:.8em;background:currentColor"></div>'
        heads = names(clearest, kind["measure"]) if kind else []
        told = ", ".join(heads) or (rule(kind) if kind else "")
        lines.append(row([html.escape(name), str(count), bar, html.escape(told)]))
    parts += [table(lines), table([row([html.escape(title), html.escape(heads)]) for title, heads in extremes(rows)])]
    parts += [small(html.escape(line)) for line in (skipped(answer), lost(answer)) if line]
    return box(parts)
