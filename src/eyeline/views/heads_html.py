"""Heads in a notebook: HTML without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from eyeline.views.heads_findings import clearest, conventions, figure, found, kind_names, rules
from eyeline.views.html_parts import box, row, small, strong, table, words
from eyeline.views.labels import excerpt, head_name, layer_name
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.views.signs import SIGNS
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Heads
    from eyeline.answers.behaviour.all_heads import HeadEntry


def heads_html(answer: Heads) -> str:
    """Render the picture, its legend and the clearest heads of each kind as an HTML fragment."""
    before, inside, after = excerpt(answer.text, None, 200)
    parts = [
        f'<div style="font-size:16px">{words(before + inside + after)}</div>',
        small(html.escape(provenance(answer))),
        *map(small, reading_notes(answer.trace, answer.unknown, words)),
        f'<div style="overflow-x:auto">{_picture(answer)}</div>',
        _legend(answer),
        strong(html.escape(found(answer))),
        strong(html.escape(worded("The clearest of each kind"))),
        _table(answer),
        *(small(html.escape(line)) for line in conventions(answer)),
    ]
    return box(parts)


def _picture(answer: Heads) -> str:
    count, names = answer.model.heads, kind_names(answer)
    rows = [row(["", *(f"H{head}" for head in range(count))])]
    for layer, entries in groupby(answer.heads, key=lambda entry: entry.layer):
        cells = [_cell(entry, names) for entry in entries]
        rows.append(row([layer_name(layer), *(sign for sign, _ in cells)], [fill for _, fill in cells]))
    return table(rows)


def _cell(entry: HeadEntry, names: Mapping[str, str]) -> tuple[str, str]:
    """A head's sign, and the colour of its cell."""
    sign = SIGNS[entry.label]
    title = html.escape(
        f"{head_name(entry.layer, entry.head)}: {', '.join(names[label] for label in entry.labels)}", quote=True
    )
    ink = "color:black" if sign.colour else "opacity:.5"
    return f'<span style="{ink}" title="{title}">{"" if sign.fills else sign.sign}&nbsp;</span>', sign.colour or "none"


def _legend(answer: Heads) -> str:
    counts = Counter(entry.label for entry in answer.heads)
    names = kind_names(answer)
    rows = []
    for name, (when, source) in rules(answer).items():
        sign = SIGNS[name]
        mark = f"<span>{sign.sign} {html.escape(names[name])}</span>"
        fill = sign.colour or "none"
        swatch = f'<div style="width:1em;height:1em;background:{fill}"></div>'
        rows.append(row([swatch, mark, str(counts[name]), html.escape(f"{when} · {source}" if source else when)]))
    return table(rows)


def _table(answer: Heads) -> str:
    names = [measure.name for measure in answer.measures]
    rows = [row([worded("head"), worded("kind"), *names])]
    kinds = kind_names(answer)
    for entry in clearest(answer):
        numbers = [html.escape(figure(entry, name)) for name in names]
        rows.append(row([head_name(entry.layer, entry.head), html.escape(kinds[entry.label]), *numbers]))
    return f'<div style="overflow-x:auto">{table(rows)}</div>'
