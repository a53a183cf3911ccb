"""A toy in a terminal: the tables of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eyeline.views.drawing import note, say
from eyeline.views.ink import Ink
from eyeline.views.labels import named
from eyeline.views.toy_tables import ToyTable, example, found, tables
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers.toy_attention import Toy

_CELL = 8


def toy(answer: Toy, ink: Ink) -> Iterator[Text]:
    """Draw a toy as lines: the given vectors, then a table for each step."""
    d = answer.q.shape[1]
    yield say(f"softmax(QKᵀ / √{d}) V" if answer.divided else "softmax(QKᵀ) V", ink)
    steps = tables(answer)
    labels = [ink.words(named(word)) for word in answer.words]
    left = ink.widest(labels)
    least = max(_CELL, min(ink.widest(labels) + 2, 12))
    cut = False
    for number, step in enumerate(steps):
        yield say("", ink)
        title = f"{number}  {step.title}" if number else step.title  # the first are the given numbers
        yield note(title, ink, indent=0)
        cell = max(least, 2 + max(len(ink.own(number)) for row in step.rows for number in row))
        fits = max((ink.width - left - 2) // cell, 1)
        cut = cut or fits < len(step.columns)
        yield from _lines(step, labels, left, cell, fits, ink)
    if cut:
        yield note(worded("A wider terminal, --csv or --json show all columns."), ink, indent=0)
    yield say("", ink)
    yield note(example(answer), ink, indent=0)
    yield say(found(answer), ink)


def _lines(step: ToyTable, labels: list[str], left: int, cell: int, fits: int, ink: Ink) -> Iterator[Text]:
    from rich.text import Text

    # One column for each word; the one after these, if there is one, is their sum.
    names = [(ink.own if place == len(labels) else ink.words)(head) for place, head in enumerate(step.columns[:fits])]
    heads = "".join(ink.fit(name, cell, right=True) for name in names)
    yield Text("  " + " " * left + heads, style="dim", no_wrap=True, overflow="crop")
    for label, row in zip(labels, step.rows, strict=True):
        cells = "".join(f"{ink.own(number):>{cell}}" for number in row[:fits])
        yield Text("  " + ink.fit(label, left) + cells, no_wrap=True, overflow="crop")
