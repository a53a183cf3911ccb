"""A toy in a notebook: HTML without scripts, its words escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from eyeline.views.html_parts import box, row, small, strong, table, words
from eyeline.views.labels import named
from eyeline.views.toy_tables import example, found, tables

if TYPE_CHECKING:
    from eyeline.answers.toy_attention import Toy


def toy_html(answer: Toy) -> str:
    """Render a toy as an HTML fragment: a table for each step."""
    labels = [words(named(word)) for word in answer.words]
    parts = []
    for step in tables(answer):
        rows = [row(["", *map(words, step.columns)])]
        rows += [row([label, *numbers]) for label, numbers in zip(labels, step.rows, strict=True)]
        parts.append(
            f'<div style="display:inline-block;margin-right:2em">{small(html.escape(step.title))}{table(rows)}</div>'
        )
    return box([*parts, small(html.escape(example(answer))), strong(html.escape(found(answer)))])
