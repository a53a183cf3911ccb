"""Effects in a terminal: the heads and looks that matter most as bars, a map of all heads, and how looking agrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.advice import ask
from eyeline.views.drawing import note, say
from eyeline.views.effects_findings import (
    MOST,
    agreement,
    agreement_note,
    columns,
    cut_by,
    edges_note,
    found,
    map_end,
    measured,
    nice_end,
    number,
    scale_note,
    signed,
    stopped,
    token_label,
    unit,
)
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt, head_name, layer_name, percent
from eyeline.views.provenance import provenance
from eyeline.views.reading import reading_notes
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Effects

_LONGEST = 40  # the largest number of cells in a bar
_HELPED, _HINDERED = "cyan", "yellow"


@dataclass(frozen=True)
class _BarRow:
    """A head or a look: its name, its effect, and the numbers beside it."""

    label: str
    effect: float
    beside: tuple[str, ...]


def effects(answer: Effects, ink: Ink, *, top: int | None = None) -> Iterator[Text]:
    """Draw effects as lines.

    Args:
        answer: the effects.
        ink: how to draw.
        top: how many heads, and how many looks, are listed; 12 if not given.
    """
    before, inside, after = excerpt(answer.text, None, max(ink.width * 2 - 20, 40))
    yield say(ink.sentence(before + inside + after), ink)
    yield note(provenance(answer), ink, indent=0)
    for line in (*reading_notes(answer.trace, answer.unknown, ink.words), *answer.notes):
        yield note(line, ink, indent=0)
    yield say(measured(answer, ink.words), ink)
    if line := stopped(answer):
        yield say(line, ink)
    yield say("", ink)
    heads = answer.ordered[: top or MOST]
    yield say(worded("The heads that matter most"), ink)
    yield from _bars(answer, [_of_head(answer, *place) for place in heads], _names(answer, edges=False), ink)
    if left := len(answer.ordered) - len(heads):
        yield note(_rest(answer, left, float(answer.heads[answer.ordered[len(heads)]])), ink)
    yield note(cut_by(answer), ink)
    yield note(columns(answer), ink)
    if answer.edges:
        yield say("", ink)
        yield say(worded("The looks that matter most"), ink)
        edges = answer.edges[: top or MOST]
        rows = [
            _BarRow(
                f"{head_name(edge.layer, edge.head):7}{token_label(answer, edge.query, ink.words)} "
                f"{ink.own('→')} {token_label(answer, edge.key, ink.words)}",
                edge.effect,
                (percent(edge.weight), *(() if edge.passed is None else (f"{edge.passed:.2f}",))),
            )
            for edge in edges
        ]
        yield from _bars(answer, rows, _names(answer, edges=True), ink)
        if left := len(answer.edges) - len(edges):
            yield note(_rest(answer, left, answer.edges[len(edges)].effect), ink)
        yield note(edges_note(answer), ink)
    yield say("", ink)
    yield from _map(answer, ink)
    yield say("", ink)
    yield say(worded("Do looking and mattering agree?"), ink)
    for line in agreement(answer):
        yield note(line, ink)
    yield note(agreement_note(), ink)
    yield say("", ink)
    yield say(found(answer, ink.words), ink)


def _rest(answer: Effects, left: int, largest: float) -> str:
    return worded(
        "and {count} more, the largest at {effect}; {csv} gives all.",
        count=left,
        effect=number(answer, largest),
        csv=ask("csv"),
    )


def _names(answer: Effects, *, edges: bool) -> tuple[str, ...]:
    """The headings of the numbers beside the effects."""
    slope = () if edges or answer.first_order is None else (worded("slope"),)
    passed = () if answer.passed is None else (worded("passed on"),)
    return (unit(answer), *slope, worded("weight"), *passed)


def _of_head(answer: Effects, layer: int, head: int) -> _BarRow:
    place = layer, head
    slope = () if answer.first_order is None else (number(answer, float(answer.first_order[place])),)
    passed = () if answer.passed is None else (f"{answer.passed[place]:.2f}",)
    return _BarRow(
        head_name(layer, head), float(answer.heads[place]), (*slope, percent(float(answer.looks[place])), *passed)
    )


def _bars(answer: Effects, rows: Sequence[_BarRow], names: Sequence[str], ink: Ink) -> Iterator[Text]:
    """A line for each row, with a bar from the zero of one scale; effects below it go to the left."""
    from rich.cells import cell_len
    from rich.text import Text

    if not rows:
        return
    numbers = [(number(answer, row.effect), *row.beside) for row in rows]
    cells = [max(cell_len(ink.own(text)) for text in column) + 2 for column in zip(names, *numbers, strict=True)]
    labels = [row.label for row in rows]
    left = min(max(map(cell_len, labels)), max(ink.width - sum(cells) - 14, 10))
    below = any(row.effect < 0 for row in rows)
    room = max(min(ink.width - 4 - left - sum(cells), _LONGEST), 6)
    half = room // 2 if below else 0
    right = room - half - below
    end = nice_end(max(abs(row.effect) for row in rows))
    heading = "".join(ink.fit(ink.own(name), width, right=True) for name, width in zip(names, cells, strict=True))
    yield Text(" " * (4 + left + room) + heading, style="dim", no_wrap=True, overflow="crop")
    for row, texts in zip(rows, numbers, strict=True):
        line = Text("  " + ink.fit(row.label, left) + "  ", no_wrap=True, overflow="crop")
        if below:
            line.append(_leftward(-row.effect, end, half, ink), _HINDERED).append("│" if ink.unicode else "|", "dim")
        line.append(ink.fit(ink.bar(max(row.effect, 0.0), end, right), right), _HELPED)
        line.append(
            "".join(ink.fit(ink.own(text), width, right=True) for text, width in zip(texts, cells, strict=True))
        )
        yield line
    yield Text(" " * (4 + left) + _axis(end, half, right, ink), style="dim", no_wrap=True, overflow="crop")


def _leftward(size: float, end: float, cells: int, ink: Ink) -> str:
    """A bar that goes from right to left, to the nearest half of a cell."""
    halves = max(round(size / end * cells * 2), 0)
    if not ink.unicode:
        return ("#" * round(halves / 2)).rjust(cells)
    return ("▐" * (halves % 2) + "█" * (halves // 2)).rjust(cells)


def _axis(end: float, half: int, right: int, ink: Ink) -> str:
    """The axis below the bars: from -end, where bars go to the left, over 0 to the end."""
    if not half:
        return ink.axis(f"{end:g}", right)
    dash = "─" if ink.unicode else "-"
    low, high = ink.own(f"−{end:g}"), f"{end:g}"
    return f"{low} {dash * max(half - len(low) - 2, 0)} 0 {dash * max(right - len(high) - 2, 0)} {high}"


def _map(answer: Effects, ink: Ink) -> Iterator[Text]:
    """A line for each layer, with a shade, and its sign, for each head."""
    from rich.text import Text

    end, _ = map_end(answer)
    layers, count = answer.heads.shape
    corner = worded("head")
    left = max(len(layer_name(layers - 1)), len(corner)) + 1
    room = ink.width - left - 2
    cell = 3 if 3 * count <= room else 2
    fits = max(min(count, room // cell), 1)
    step = 1 if cell == 3 else 5
    ticks = "".join(str(head).rjust(cell * (step if head else 1)) for head in range(0, fits, step))
    yield say(worded("All heads"), ink)
    yield Text("  " + corner.ljust(left) + ticks, style="dim", no_wrap=True, overflow="crop")
    for layer in range(layers):
        line = Text("  " + layer_name(layer).rjust(left - 1) + " ", no_wrap=True, overflow="crop")
        for effect in answer.heads[layer, :fits].tolist():
            line.append(" " * (cell - 2)).append(*_cell(effect, end, ink, signed(answer)))
        yield line
    yield note(scale_note(answer), ink)
    if fits < count:
        yield note(
            worded(
                "{fits} of {count} heads fit here: a wider terminal, {png} or {csv} shows all.",
                fits=fits,
                count=count,
                png=ask("png"),
                csv=ask("csv"),
            ),
            ink,
        )


def _cell(effect: float, end: float, ink: Ink, with_sign: bool) -> tuple[str, str]:
    """Two characters for a head, and their style: its shade, doubled or with its sign."""
    if math.isnan(effect):
        return ink.own("– "), "dim"
    shade = ink.shade(abs(effect), end)
    if not with_sign or shade == " ":
        return shade * 2, _HELPED
    return ("+" if effect > 0 else "-") + shade, _HELPED if effect > 0 else _HINDERED
