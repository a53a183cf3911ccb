"""Comparisons in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars, bars_end, cosines
from eyeline.views.drawing import beside, note, say, title
from eyeline.views.drawn import drawn_row
from eyeline.views.findings import compared, quantity_note
from eyeline.views.ink import Ink
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Comparison
    from eyeline.answers.comparison import Side


def comparison(answer: Comparison, ink: Ink) -> Iterator[Text]:
    """Draw a comparison as lines: the two texts, the cosines, and the words that the word looks at in each."""
    question, sides = answer.question, answer.sides
    for side in sides:
        spans = [(side.units[index].start or 0, side.units[index].end or 0) for index in side.token_units]
        yield title(side.text, (spans[0][0], spans[-1][1]), f"{side.name}  ", ink)
    yield note(provenance(answer), ink, indent=0)
    for side in sides:
        for line in reading_notes(side.trace, side.unknown, ink.words):
            yield note(f"{side.name}: {line}", ink, indent=0)
    yield say("", ink)
    name = ink.words(question.token)
    yield say(worded("How alike {word} is in A and in B", word=name), ink)
    yield from cosines([answer.cosines], [worded("cosine")], ink)
    yield note(worded("cosine of its two vectors, as embedding and after each layer: 1 is the same direction"), ink)
    yield say("", ink)
    yield say(worded("{word} looks at", word=name), ink)
    yield from _sides(sides, question.shares, ink, question.top or MOST)
    taken = [side.set_aside for side in sides] if question.shares else []
    yield note(quantity_note([*sides[0].units, *sides[1].units], question.shares, taken, ink.words), ink)
    yield say("", ink)
    for line in compared(answer, ink.words):
        yield say(line, ink)


def _sides(sides: Sequence[Side], shares: bool, ink: Ink, most: int) -> Iterator[Text]:
    """The bars of both sides, on one scale."""
    together = ink.width >= 70
    cells = (ink.width - 2) // 2
    half = Ink(ink.encoding, cells) if together else ink
    charts = [Chart(worded("in {name}", name=side.name), drawn_row(side.looks_at, shares)) for side in sides]
    end = bars_end(charts)
    blocks = [
        bars([chart], side.units, side.token_units, half, most, end) for chart, side in zip(charts, sides, strict=True)
    ]
    yield from beside(blocks, cells + 2 if together else ink.width, ink)
