"""Comparisons in a notebook: HTML without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views.findings import (
    compared,
    heading,
    set_aside_names,
    unknown,
)
from eyeline.views.html_parts import bars, box, cosines, small, strong, title, words
from eyeline.views.labels import percent

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
    parts.append(small(html.escape(heading(answer))))
    said = ((side.name, unknown(side.unknown, words)) for side in sides)
    parts += [small(f"{side}: {line}") for side, line in said if line]
    parts += [strong(f"How alike {name} is in A and in B")]
    parts.append(cosines([("cosine", answer.cosines)]))
    for side in sides:
        parts.append(strong(f"In {side.name}, {name} looks at"))
        parts.append(bars([("", side.looks_at)], side.units, side.token_units))
        if side.set_aside:
            parts.append(small(f"{set_aside_names(side.units, words)}, set aside, took {percent(side.set_aside)}."))
    parts += [strong(line) for line in compared(answer, words)]
    return box(parts)
