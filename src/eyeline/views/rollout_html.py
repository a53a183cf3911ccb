"""Attention rollout in a notebook: HTML without scripts, its words escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST
from eyeline.views.findings import unknown
from eyeline.views.html_parts import bars, box, matrix, small, strong, words
from eyeline.views.labels import excerpt
from eyeline.views.rollout_findings import basis, found, heading
from eyeline.views.scale import shade_ceiling

if TYPE_CHECKING:
    from eyeline.answers import Rollout


def rollout_html(answer: Rollout) -> str:
    """Render a rollout as an HTML fragment."""
    question, units = answer.question, answer.units
    before, inside, after = excerpt(answer.text, None, 200)
    parts = [
        f'<div style="font-size:16px">{words(before + inside + after)}</div>',
        small(html.escape(heading(answer))),
        *([small(said)] if (said := unknown(answer.unknown, words)) else []),
    ]
    if question.token is not None:
        name = words(question.token)
        parts += [
            strong(f"{name} is made of"),
            bars([("", answer.made_of or [])], units, question.units, question.top or MOST),
        ]
        parts.append(small(basis(answer, name)))
    else:
        assert answer.matrix is not None
        shown = [units[index] for index in answer.shown]
        heavy = [place for place, unit in enumerate(shown) if unit.start is None]
        ceiling, _ = shade_ceiling([answer.matrix.shares.tolist()], heavy)
        parts += [strong("Who is made of whom"), matrix(answer.matrix, shown, ceiling)]
        parts.append(small(html.escape(basis(answer, ""))))
    return box([*parts, strong(found(answer, words))])
