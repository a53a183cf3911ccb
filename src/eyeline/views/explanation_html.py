"""Explanations in a notebook: HTML without scripts, words escaped, for light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST
from eyeline.views.findings import (
    basis,
    changes,
    found,
    hardest_title,
    heading,
    moved_means,
    unchanged,
    unknown,
)
from eyeline.views.html_parts import COLOURS, bars, box, cosines, label, matrix, row, small, strong, table, title, words
from eyeline.views.ink import Ink
from eyeline.views.labels import head_name, percent, seen
from eyeline.views.new_tokens import HEADING, explained, labelled, new_span, piece, top
from eyeline.views.scale import shade_ceiling
from eyeline.views.steps_terminal import steps

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
        small(html.escape(heading(answer))),
        *(small(line) for line in (html.escape(unchanged(answer)), unknown(answer.unknown, words)) if line),
    ]
    if answer.generated is not None:
        parts += _generated(answer, answer.generated)
    if runs[0].steps is not None:
        parts.append(_drawn(answer))
    elif question.token is None:
        shown = [units[index] for index in answer.shown]
        heavy = [place for place, unit in enumerate(shown) if unit.start is None]
        ceiling, _ = shade_ceiling([run.matrix.shares.tolist() for run in runs], heavy)
        for number, run in enumerate(runs):
            parts.append(
                strong(_run_name("Who looks at whom", run, runs)) + matrix(run.matrix, shown, ceiling, COLOURS[number])
            )
        parts.append(small(basis(answer, "", words)))
    else:
        name = words(question.token)
        parts.append(strong(f"{name} looks at"))
        names = [run.name if len(runs) > 1 else "" for run in runs]
        charts = [(run, one.looks_at or ()) for run, one in zip(names, runs, strict=True)]
        most = question.top or MOST
        parts += [bars(charts, units, question.units, most), small(basis(answer, name, words))]
    if runs[0].steps is None:
        parts.append(strong(found(answer, words)))
        parts += [strong(changes(answer, words))] if len(runs) > 1 else []
    if question.token is not None and runs[0].steps is None:
        parts += [_heads(run, _run_name("", run, runs), question.layer, question.units) for run in runs]
        moved = [(_run_name("cosine", run, runs), run.moved) for run in runs if run.moved is not None]
        if moved:
            parts.append(strong(f"How far {words(question.token)} has moved from its own embedding") + cosines(moved))
            parts.append(small(html.escape(moved_means())))
    return box(parts)


def _run_name(text: str, run: ExplainedRun, runs: Sequence[ExplainedRun]) -> str:
    return f"{text}: {html.escape(run.name)}" if len(runs) > 1 else text


def _generated(answer: Explanation, found: Generated) -> list[str]:
    """The table of generated tokens, a row each."""
    rows = [row(["new", "", "probability", "before", '<div style="text-align:left">looked at</div>'])]
    for step in found.steps:
        bar = f"width:{80 * step.probability:.0f}px;height:1em;background:rgb({COLOURS[0]})"
        seen_most = [f"{label(answer.units[look.unit])} {percent(look.share or 0.0)}" for look in top(step)]
        rows.append(
            row(
                [
                    f"<b>{piece(step.new, words)}</b>",
                    f'<div style="width:80px"><div style="{bar}"></div></div>',
                    percent(step.probability).replace("<", "&lt;"),
                    piece(step.by, words),
                    f'<div style="text-align:left">{"&ensp; ".join(seen_most)}</div>',
                ]
            )
        )
    return [strong(HEADING), table(rows), small(explained(answer, found, words))]


def _heads(run: ExplainedRun, name: str, layer: int, own: Sequence[int]) -> str:
    rows = []
    for head in run.hardest_heads or []:
        rows.append(
            row(
                [
                    head_name(head.layer, head.head),
                    f"→ {seen(head, own, words)}",
                    percent(head.weight).replace("<", "&lt;"),
                ]
            )
        )
    heading = strong(hardest_title(layer) + name)
    return heading + table(rows) + small("of everything that the head gives, the tokens set aside included")


def _drawn(answer: Explanation) -> str:
    """The steps, as the terminal draws them."""
    lines = steps(answer, Ink("utf-8", 100))
    text = html.escape("\n".join(line.plain for line in lines))
    return f'<pre style="color:inherit;background:none;line-height:1.3">{text}</pre>'
