"""Comparisons in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars, cosines
from eyeline.views.drawing import beside, note, say, title
from eyeline.views.findings import (
    compared,
    heading,
    set_aside_names,
    unknown,
)
from eyeline.views.ink import Ink
from eyeline.views.labels import percent
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Comparison
    from eyeline.answers.comparison import Side


def comparison(answer: Comparison, ink: Ink, most: int = MOST) -> Iterator[Text]:
    """Draw a comparison as lines: the two texts, the cosines, and the words that the word looks at in each."""
    question, sides = answer.question, answer.sides
    for side in sides:
        spans = [(side.units[index].start or 0, side.units[index].end or 0) for index in side.token_units]
        yield title(side.text, (spans[0][0], spans[-1][1]), f"{side.name}  ", ink)
    yield note(heading(answer), ink, indent=0)
    for side in sides:
        if said := unknown(side.unknown, ink.words):
            yield note(f"{side.name}: {said}", ink, indent=0)
    yield say("", ink)
    name = ink.words(question.token)
    yield say(f"How alike {name} is in A and in B", ink)
    yield from cosines([answer.cosines], ["cosine"], ink)
    yield note(worded("cosine of its two vectors, as embedding and after each layer: 1 is the same direction"), ink)
    yield say("", ink)
    yield say(f"{name} looks at", ink)
    yield from _sides(sides, ink, most)
    parts = [
        f"In {side.name}, {set_aside_names(side.units, ink.words)} took {percent(side.set_aside)}."
        for side in sides
        if side.set_aside
    ]
    yield note(
        " ".join(
            ["Bars are shares of what it gives to the words.", *parts]
            if parts
            else ["Bars are shares of all that it gives."]
        ),
        ink,
    )
    yield say("", ink)
    for line in compared(answer, ink.words):
        yield say(line, ink)


def _sides(sides: Sequence[Side], ink: Ink, most: int) -> Iterator[Text]:
    together = ink.width >= 70
    cells = (ink.width - 2) // 2
    blocks = []
    for side in sides:
        half = Ink(ink.encoding, cells) if together else ink
        charts = [Chart(f"in {side.name}", side.looks_at)]
        lines, _ = bars(charts, side.units, side.token_units, half, most)
        blocks.append(lines)
    yield from beside(blocks, cells + 2 if together else ink.width, ink)
