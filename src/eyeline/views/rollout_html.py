"""Attention rollout in a notebook: HTML without scripts, its words escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart
from eyeline.views.drawn import drawn_matrix, drawn_row
from eyeline.views.html_parts import bars, box, matrix, matrix_end, small, strong, words
from eyeline.views.labels import excerpt
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.views.rollout_findings import basis, found
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Rollout


def rollout_html(answer: Rollout) -> str:
    """Render a rollout as an HTML fragment."""
    question, units = answer.question, answer.units
    before, inside, after = excerpt(answer.text, None, 200)
    parts = [
        f'<div style="font-size:16px">{words(before + inside + after)}</div>',
        small(html.escape(provenance(answer))),
        *map(small, reading_notes(answer.trace, answer.unknown, words)),
    ]
    if question.token is not None:
        name = words(question.token)
        parts += [
            strong(worded("{word} is made of", word=name)),
            bars(
                [Chart("", drawn_row(answer.made_of or (), question.shares))],
                units,
                question.units,
                question.top or MOST,
            ),
            small(basis(answer, words)),
        ]
    else:
        assert answer.matrix is not None
        drawn = drawn_matrix(answer.matrix, answer.shown, question.shares)
        end, legend = matrix_end([drawn])
        parts += [strong(worded("Who is made of whom")), matrix(drawn, units, answer.shown, end)]
        parts.append(small(f"{basis(answer, words)} {legend}"))
    return box([*parts, strong(found(answer, words))])
