"""Attention rollout in a terminal: each word's share in a token's vector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars
from eyeline.views.drawing import note, say
from eyeline.views.findings import unknown
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt
from eyeline.views.matrix_terminal import matrix
from eyeline.views.rollout_findings import basis, found, heading
from eyeline.views.scale import shade_ceiling

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Rollout


def rollout(answer: Rollout, ink: Ink) -> Iterator[Text]:
    """Draw a rollout as lines: bars for one token, a words × words matrix for all."""
    question, units = answer.question, answer.units
    before, inside, after = excerpt(answer.text, None, max(ink.width * 2 - 20, 40))
    yield say(ink.sentence(before + inside + after), ink)
    yield note(heading(answer), ink, indent=0)
    if said := unknown(answer.unknown, ink.words):
        yield note(said, ink, indent=0)
    yield say("", ink)
    if question.token is not None:
        name = ink.words(question.token)
        yield say(f"{name} is made of", ink)
        chart = Chart("", answer.made_of or [])
        lines, cut = bars([chart], units, question.units, ink, question.top or MOST)
        yield from lines
        yield note(basis(answer, name) + (" A bar that ends in » is longer than it is drawn." if cut else ""), ink)
    else:
        assert answer.matrix is not None
        yield say("Who is made of whom", ink)
        shown = [units[index] for index in answer.shown]
        heavy = [place for place, unit in enumerate(shown) if unit.set_aside or unit.start is None]
        ceiling, _ = shade_ceiling([answer.matrix.shares.tolist()], heavy)
        lines, fits = matrix(answer.matrix, shown, ceiling, ink)
        yield from lines
        yield say("", ink)
        yield note(f"{basis(answer, '')} {ink.shade_legend(ceiling)}", ink)
        if fits < len(shown):
            yield note(f"{fits} of {len(shown)} words fit here: a wider terminal or --json shows all.", ink)
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
