"""Explanations in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars, cosines
from eyeline.views.drawing import beside, note, say, title
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
from eyeline.views.ink import Ink
from eyeline.views.labels import head_name, percent, seen
from eyeline.views.matrix_terminal import matrix
from eyeline.views.new_tokens import explained, labelled, new_span, new_tokens
from eyeline.views.scale import shade_ceiling
from eyeline.views.steps_terminal import steps

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Explanation
    from eyeline.answers.explanation import ExplainedRun


_PLUS = " + is new."


def explanation(answer: Explanation, ink: Ink) -> Iterator[Text]:
    """Draw an explanation as lines: the question, the picture, and its finding in one sentence."""
    question, units, runs = answer.question, answer.units, answer.runs
    spans = [(units[index].start or 0, units[index].end or 0) for index in question.units]
    yield title(answer.text, (spans[0][0], spans[-1][1]) if spans else new_span(answer), "", ink)
    yield note(heading(answer), ink, indent=0)
    for line in filter(None, (unchanged(answer), unknown(answer.unknown, ink.words))):
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
    charts = [Chart(run.name if len(runs) > 1 else "", run.looks_at or []) for run in runs]
    yield say(f"{name} looks at", ink)
    lines, cut = bars(charts, units, own, ink, question.top or MOST)
    yield from lines
    signs = _PLUS if answer.generated is not None else ""
    signs += " A bar that ends in » is longer than it is drawn." if cut else ""
    yield note(basis(answer, name, ink.words) + signs, ink)
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
    if len(runs) > 1:
        yield say(changes(answer, ink.words), ink)
    yield say("", ink)
    yield from _heads(runs, own, question.layer, ink)
    moved = [(run.name, run.moved) for run in runs if run.moved is not None]
    if moved:
        yield say("", ink)
        yield say(f"How far {name} has moved from its own embedding", ink)
        names = ["cosine"] if len(runs) == 1 else [run for run, _ in moved]
        yield from cosines([entries for _, entries in moved], names, ink)
        yield note(moved_means(), ink)


def _heads(runs: Sequence[ExplainedRun], own: Sequence[int], layer: int, ink: Ink) -> Iterator[Text]:
    from rich.text import Text

    yield say(hardest_title(layer), ink)
    columns = [[(head, seen(head, own, ink.words)) for head in run.hardest_heads or []] for run in runs]
    cells = ink.widest([word for column in columns for _, word in column])
    blocks: list[list[Text]] = []
    for number, (run, column) in enumerate(zip(runs, columns, strict=True)):
        name = ink.fit(ink.own(run.name), cells + 16)
        block = [Text(f"  {name}", style="dim", no_wrap=True)] if len(runs) > 1 else []
        for head, word in column:
            line = Text(f"  {head_name(head.layer, head.head):<6} ", no_wrap=True).append(ink.own("→ "), "dim")
            line.append(ink.fit(word, cells), "cyan" if not number else "yellow")
            block.append(line.append(f"{percent(head.weight):>5} "))
        blocks.append(block)
    yield from beside(blocks, cells + 21, ink)
    yield note("of everything that the head gives, the tokens set aside included", ink)


def pictures(answer: Explanation, ink: Ink) -> Iterator[Text]:
    """Draw the attention between all words, a matrix for each run, and its finding in one sentence."""
    units, runs = labelled(answer), answer.runs
    shown = [units[index] for index in answer.shown]
    heavy = [place for place, unit in enumerate(shown) if unit.set_aside or unit.start is None]
    ceiling, _ = shade_ceiling([run.matrix.shares.tolist() for run in runs], heavy)
    fits = len(shown)
    for run in runs:
        yield say("Who looks at whom" + (f": {run.name}" if len(runs) > 1 else ""), ink)
        lines, fits = matrix(run.matrix, shown, ceiling, ink)
        yield from lines
        yield say("", ink)
    signs = _PLUS if answer.generated is not None else ""
    yield note(f"{basis(answer, '', ink.words)}{signs} {ink.shade_legend(ceiling)}", ink)
    if fits < len(shown):
        yield note(f"{fits} of {len(shown)} words fit here: a wider terminal, --png or --json shows all.", ink)
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
    if len(runs) > 1:
        yield say(changes(answer, ink.words), ink)
