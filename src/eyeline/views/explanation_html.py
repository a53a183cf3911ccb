"""Explanations in a notebook: HTML without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart
from eyeline.views.drawn import drawn_matrix, drawn_row
from eyeline.views.findings import (
    basis,
    changes,
    found,
    hardest_title,
    moved_means,
    unchanged,
    weights_of_heads,
)
from eyeline.views.html_parts import (
    COLOURS,
    bars,
    box,
    cosines,
    escaped_percent,
    label,
    matrix,
    matrix_end,
    row,
    small,
    strong,
    table,
    title,
    words,
)
from eyeline.views.ink import Ink
from eyeline.views.labels import head_name, seen
from eyeline.views.new_tokens import explained, heading, labelled, new_span, piece, top
from eyeline.views.provenance import provenance, run_name
from eyeline.views.reading import reading_notes
from eyeline.views.steps_terminal import steps
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Explanation
    from eyeline.answers.explanation import ExplainedRun
    from eyeline.answers.generation import Generated


def explanation_html(answer: Explanation) -> str:
    """Render an explanation as an HTML fragment."""
    question, units, runs = answer.question, labelled(answer), answer.runs
    spans = [(units[index].start or 0, units[index].end or 0) for index in question.units]
    parts = [
        title(answer.text, (spans[0][0], spans[-1][1]) if spans else new_span(answer)),
        small(html.escape(provenance(answer))),
        *([small(html.escape(line))] if (line := unchanged(answer)) else []),
        *map(small, reading_notes(answer.traces[0], answer.unknown, words)),
    ]
    if answer.generated is not None:
        parts += _generated(answer, answer.generated)
    if runs[0].steps is not None:
        parts.append(_drawn(answer))
    elif question.token is None:
        drawn = [drawn_matrix(run.matrix, answer.shown, question.shares) for run in runs]
        end, legend = matrix_end(drawn)
        for run, numbers, colour in zip(runs, drawn, COLOURS, strict=False):
            heading_line = strong(_titled(worded("Who looks at whom"), run, runs))
            parts.append(heading_line + matrix(numbers, units, answer.shown, end, colour))
        parts.append(small(f"{basis(answer, words)} {legend}"))
    else:
        name = words(question.token)
        parts.append(strong(worded("{word} looks at", word=name)))
        charts = [Chart(run_name(run.name), drawn_row(run.looks_at or (), question.shares)) for run in runs]
        parts += [bars(charts, units, question.units, question.top or MOST), small(basis(answer, words))]
    if runs[0].steps is None:
        parts.append(strong(found(answer, words)))
        parts += [strong(changes(answer, words))] if len(runs) > 1 else []
    if question.token is not None and runs[0].steps is None:
        parts += [_heads(run, _titled("", run, runs), question.layer, question.units) for run in runs]
        moved = [(_titled(worded("cosine"), run, runs), run.moved) for run in runs if run.moved is not None]
        if moved:
            moved_title = worded("How far {word} has moved from its own embedding", word=words(question.token))
            parts.append(strong(moved_title) + cosines(moved))
            parts.append(small(html.escape(moved_means())))
    return box(parts)


def _titled(text: str, run: ExplainedRun, runs: Sequence[ExplainedRun]) -> str:
    """A title, with the run's name if there are several."""
    return f"{text}: {html.escape(run_name(run.name))}" if len(runs) > 1 else text


def _generated(answer: Explanation, found: Generated) -> list[str]:
    """The table of generated tokens, a row each."""
    heads = [worded("new"), "", worded("probability"), worded("before")]
    rows = [row([*heads, f'<div style="text-align:left">{worded("looked at")}</div>'])]
    for step in found.steps:
        bar = f"width:{80 * step.probability:.0f}px;height:1em;background:rgb({COLOURS[0]})"
        seen_most = [
            f"{label(answer.units[look.unit])} {escaped_percent(number)}"
            for number, look in top(step, answer.question.shares)
        ]
        rows.append(
            row(
                [
                    f"<b>{piece(step.new, words)}</b>",
                    f'<div style="width:80px"><div style="{bar}"></div></div>',
                    escaped_percent(step.probability),
                    piece(step.by, words),
                    f'<div style="text-align:left">{"&ensp; ".join(seen_most)}</div>',
                ]
            )
        )
    return [strong(heading()), table(rows), small(explained(answer, found, words))]


def _heads(run: ExplainedRun, name: str, layer: int, own: Sequence[int]) -> str:
    rows = []
    for head in run.hardest_heads or []:
        rows.append(
            row(
                [
                    head_name(head.layer, head.head),
                    f"→ {seen(head, own, words)}",
                    escaped_percent(head.weight),
                ]
            )
        )
    heading = strong(hardest_title(layer) + name)
    return heading + table(rows) + small(weights_of_heads())


def _drawn(answer: Explanation) -> str:
    """The steps, as the terminal draws them."""
    lines = steps(answer, Ink("utf-8", 100))
    text = html.escape("\n".join(line.plain for line in lines))
    return f'<pre style="color:inherit;background:none;line-height:1.3">{text}</pre>'
