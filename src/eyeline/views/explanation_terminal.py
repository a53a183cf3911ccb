"""Explanations in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.advice import ask
from eyeline.views.bars import MOST, Chart, bars, cosines
from eyeline.views.drawing import beside, note, say, title
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
from eyeline.views.ink import Ink
from eyeline.views.labels import head_name, percent, seen
from eyeline.views.matrix_terminal import matrix, shades_note
from eyeline.views.new_tokens import explained, labelled, new_span, new_tokens
from eyeline.views.provenance import provenance, run_name
from eyeline.views.reading import reading_notes
from eyeline.views.scale import Shades
from eyeline.views.steps_terminal import steps
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Explanation
    from eyeline.answers.explanation import ExplainedRun


def _new_sign(answer: Explanation) -> str:
    return " " + worded("+ is new.") if answer.generated is not None else ""


def explanation(answer: Explanation, ink: Ink) -> Iterator[Text]:
    """Draw an explanation as lines: the question, the picture, and its finding in one sentence."""
    question, units, runs = answer.question, answer.units, answer.runs
    spans = [(units[index].start or 0, units[index].end or 0) for index in question.units]
    yield title(answer.text, (spans[0][0], spans[-1][1]) if spans else new_span(answer), "", ink)
    yield note(provenance(answer), ink, indent=0)
    notes = reading_notes(answer.traces[0], answer.unknown, ink.words)
    for line in filter(None, (unchanged(answer), *notes)):
        yield note(line, ink, indent=0)
    yield say("", ink)
    if answer.generated is not None:
        yield from new_tokens(answer, answer.generated, ink)
        yield note(explained(answer, answer.generated, ink.words), ink)
        yield say("", ink)
    if runs[0].steps is not None:
        yield from steps(answer, ink)
    elif question.token is None:
        yield from pictures(answer, ink)
    else:
        yield from _looked(answer, question.token, ink)


def _looked(answer: Explanation, token: str, ink: Ink) -> Iterator[Text]:
    question, units, runs = answer.question, labelled(answer), answer.runs
    own, name = question.units, ink.words(token)
    charts = [
        Chart(run_name(run.name) if len(runs) > 1 else "", drawn_row(run.looks_at or (), question.shares))
        for run in runs
    ]
    yield say(worded("{word} looks at", word=name), ink)
    yield from bars(charts, units, own, ink, question.top or MOST)
    yield note(basis(answer, ink.words) + _new_sign(answer), ink)
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
    if len(runs) > 1:
        yield say(changes(answer, ink.words), ink)
    yield say("", ink)
    yield from _heads(runs, own, question.layer, ink)
    moved = [(run.name, run.moved) for run in runs if run.moved is not None]
    if moved:
        yield say("", ink)
        yield say(worded("How far {word} has moved from its own embedding", word=name), ink)
        names = [worded("cosine")] if len(runs) == 1 else [run_name(run) for run, _ in moved]
        yield from cosines([entries for _, entries in moved], names, ink)
        yield note(moved_means(), ink)


def _heads(runs: Sequence[ExplainedRun], own: Sequence[int], layer: int, ink: Ink) -> Iterator[Text]:
    from rich.text import Text

    yield say(hardest_title(layer), ink)
    columns = [[(head, seen(head, own, ink.words)) for head in run.hardest_heads or []] for run in runs]
    cells = ink.widest([word for column in columns for _, word in column])
    blocks: list[list[Text]] = []
    for number, (run, column) in enumerate(zip(runs, columns, strict=True)):
        name = ink.fit(ink.own(run_name(run.name)), cells + 16)
        block = [Text(f"  {name}", style="dim", no_wrap=True)] if len(runs) > 1 else []
        for head, word in column:
            line = Text(f"  {head_name(head.layer, head.head):<6} ", no_wrap=True).append(ink.own("→ "), "dim")
            line.append(ink.fit(word, cells), "cyan" if not number else "yellow")
            block.append(line.append(f"{percent(head.weight):>5} "))
        blocks.append(block)
    yield from beside(blocks, cells + 21, ink)
    yield note(weights_of_heads(), ink)


def pictures(answer: Explanation, ink: Ink) -> Iterator[Text]:
    """Draw the attention between all words, a matrix for each run, and its finding in one sentence."""
    units, runs = labelled(answer), answer.runs
    shown = answer.shown
    drawn = [drawn_matrix(run.matrix, shown, answer.question.shares) for run in runs]
    shades = Shades.of(drawn)
    fits = len(shown)
    for run, numbers in zip(runs, drawn, strict=True):
        yield say(worded("Who looks at whom") + (f": {run_name(run.name)}" if len(runs) > 1 else ""), ink)
        lines, fits = matrix(numbers, units, shown, shades, ink)
        yield from lines
        yield say("", ink)
    yield note(f"{basis(answer, ink.words)}{_new_sign(answer)} {shades_note(shades, drawn[0], units, ink)}", ink)
    if fits < len(shown):
        yield note(
            worded(
                "{fits} of {count} words fit here: a wider terminal, {png} or {json} shows all.",
                fits=fits,
                count=len(shown),
                png=ask("png"),
                json=ask("json"),
            ),
            ink,
        )
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
    if len(runs) > 1:
        yield say(changes(answer, ink.words), ink)
