"""Comparisons in a notebook: HTML without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars_end
from eyeline.views.drawn import drawn_row
from eyeline.views.findings import compared, quantity_note
from eyeline.views.html_parts import bars, box, cosines, small, strong, title, words
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Comparison


def comparison_html(answer: Comparison) -> str:
    """Render a comparison as an HTML fragment."""
    question, sides = answer.question, answer.sides
    parts = []
    for side in sides:
        spans = [(side.units[index].start or 0, side.units[index].end or 0) for index in side.token_units]
        parts.append(title(side.text, (spans[0][0], spans[-1][1]), side.name))
    name = words(question.token)
    parts.append(small(html.escape(provenance(answer))))
    parts += [
        small(f"{side.name}: {line}") for side in sides for line in reading_notes(side.trace, side.unknown, words)
    ]
    parts += [strong(worded("How alike {word} is in A and in B", word=name))]
    parts.append(cosines([(worded("cosine"), answer.cosines)]))
    charts = [Chart("", drawn_row(side.looks_at, question.shares)) for side in sides]
    end = bars_end(charts)
    for chart, side in zip(charts, sides, strict=True):
        parts.append(strong(worded("In {name}, {word} looks at", name=side.name, word=name)))
        parts.append(bars([chart], side.units, side.token_units, question.top or MOST, end))
    taken = [side.set_aside for side in sides] if question.shares else []
    parts.append(small(quantity_note([*sides[0].units, *sides[1].units], question.shares, taken, words)))
    parts += [strong(line) for line in compared(answer, words)]
    return box(parts)
