"""Attention rollout in a terminal: each word's share in a token's vector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eyeline.views.advice import ask
from eyeline.views.bars import MOST, Chart, bars
from eyeline.views.drawing import note, say
from eyeline.views.drawn import drawn_matrix, drawn_row
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt
from eyeline.views.matrix_terminal import matrix, shades_note
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.views.rollout_findings import basis, found
from eyeline.views.scale import Shades
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Rollout


def rollout(answer: Rollout, ink: Ink) -> Iterator[Text]:
    """Draw a rollout as lines: bars for one token, a words × words matrix for all."""
    question, units = answer.question, answer.units
    before, inside, after = excerpt(answer.text, None, max(ink.width * 2 - 20, 40))
    yield say(ink.sentence(before + inside + after), ink)
    yield note(provenance(answer), ink, indent=0)
    for line in reading_notes(answer.trace, answer.unknown, ink.words):
        yield note(line, ink, indent=0)
    yield say("", ink)
    if question.token is not None:
        name = ink.words(question.token)
        yield say(worded("{word} is made of", word=name), ink)
        chart = Chart("", drawn_row(answer.made_of or (), question.shares))
        yield from bars([chart], units, question.units, ink, question.top or MOST)
        yield note(basis(answer, ink.words), ink)
    else:
        assert answer.matrix is not None
        yield say(worded("Who is made of whom"), ink)
        drawn = drawn_matrix(answer.matrix, answer.shown, question.shares)
        shades = Shades.of([drawn])
        lines, fits = matrix(drawn, units, answer.shown, shades, ink)
        yield from lines
        yield say("", ink)
        yield note(f"{basis(answer, ink.words)} {shades_note(shades, drawn, units, ink)}", ink)
        if fits < len(answer.shown):
            yield note(
                worded(
                    "{fits} of {count} words fit here: a wider terminal or {json} shows all.",
                    fits=fits,
                    count=len(answer.shown),
                    json=ask("json"),
                ),
                ink,
            )
    yield say("", ink)
    yield say(found(answer, ink.words), ink)
