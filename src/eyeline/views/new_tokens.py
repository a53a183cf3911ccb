"""The table of generated tokens: the probability of each, and the words that the token before it looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eyeline.views.drawn import drawn_row
from eyeline.views.findings import Words, aside_name
from eyeline.views.ink import Ink
from eyeline.views.labels import named, percent, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Explanation
    from eyeline.answers.entries import Look, UnitEntry
    from eyeline.answers.generation import Generated, NewToken, PieceEntry

_BAR = 8  # cells of a probability of 1
MOST = 4  # the largest number of words named


def labelled(answer: Explanation) -> Sequence[UnitEntry]:
    """The units with their labels in pictures: those of generated units begin with a +."""
    units, found = answer.units, answer.generated
    if found is None:
        return units
    first = found.prompt_tokens
    return [_as_new(unit) if unit.tokens[-1] >= first else unit for unit in units]


def _as_new(unit: UnitEntry) -> UnitEntry:
    return replace(unit, text="+" + "-" * unit.joins_before + named(unit.text), joins_before=False)


def new_span(answer: Explanation) -> tuple[int, int] | None:
    """The span of the generated part of the text; None without one."""
    found = answer.generated
    return None if found is None else (found.prompt_end, len(answer.text))


def heading() -> str:
    """The title of the table."""
    return worded("The new tokens, and whom the token before each looked at")


def top(step: NewToken, shares: bool, most: int = MOST) -> list[tuple[float, Look]]:
    """The words with the largest numbers, and these, largest first, without those that round to 0%."""
    return [pair for pair in drawn_row(step.looks_at, shares).largest(most) if pair[0] >= 0.005]


def piece(one: PieceEntry, words: Words) -> str:
    """The label of a token: a hyphen marks each side where its word continues."""
    return "-" * one.joins_before + words(named(one.text)) + "-" * one.joins_after


def choice(found: Generated) -> str:
    """The sentence that says how new tokens were chosen."""
    if not found.temperature:
        return worded("The likeliest token is taken each time.")
    text = worded("Tokens are drawn at temperature {temperature}", temperature=f"{found.temperature:g}")
    if found.top_p is not None:
        text += " " + worded("from the likeliest that have {share} together", share=f"{found.top_p:g}")
    return text + ("." if found.seed is None else f", seed {found.seed}.")


def explained(answer: Explanation, found: Generated, words: Words = printable) -> str:
    """The note below the table of new tokens."""
    parts = [choice(found)]
    if answer.question.shares:
        parts.append(worded("The first % is the token's probability, the others are shares of the words."))
    else:
        parts.append(worded("The first % is the token's probability, the others are weights."))
    if any(unit.set_aside for unit in answer.units):
        taken = [step.set_aside for step in found.steps]
        parts.append(
            worded(
                "{names} took {weight} on average.",
                names=aside_name(answer.units, words),
                weight=percent(sum(taken) / len(taken)),
            )
        )
    if found.ended:
        parts.append(worded("The last token ends a text."))
    return " ".join(parts)


def new_tokens(answer: Explanation, found: Generated, ink: Ink) -> Iterator[Text]:
    """The table of new tokens, one line each."""
    from rich.cells import cell_len
    from rich.text import Text

    steps = found.steps
    new = [piece(step.new, ink.words) for step in steps]
    by = [piece(step.by, ink.words) for step in steps]
    names = [ink.own(name) for name in (worded("new"), worded("probability"), worded("before"), worded("looked at"))]
    left, middle = max(ink.widest(new), cell_len(names[0])), max(ink.widest(by), cell_len(names[2]))
    yield Text(ink.own(heading()), style="bold")
    cells = [ink.fit(name, wide) for name, wide in zip(names, (left, _BAR + 5, middle), strict=False)]
    heads = "".join(f"  {cell}" for cell in [*cells, names[3]])
    yield Text(heads, style="dim", no_wrap=True, overflow="crop")
    for label, before, step in zip(new, by, steps, strict=True):
        line = Text("  ", no_wrap=True, overflow="crop").append(ink.fit(label, left), "bold cyan").append("  ")
        line.append(ink.fit(ink.bar(step.probability, 1.0, _BAR), _BAR), "cyan")
        line.append(f"{percent(step.probability):>5}").append("  " + ink.fit(before, middle), "dim").append("  ")
        yield _looks(line, top(step, answer.question.shares), answer.units, ink)


def _looks(line: Text, looks: Sequence[tuple[float, Look]], units: Sequence[UnitEntry], ink: Ink) -> Text:
    """Append the words with the largest numbers to a line: as many as fit, at least one."""
    from rich.cells import cell_len

    for place, (number, look) in enumerate(looks):
        label = ink.label(units[look.unit])
        figure = f" {percent(number)}"
        room = ink.width - line.cell_len - len(figure) - 2 * bool(place)
        if place and cell_len(label) > room:
            break
        line.append("  " * bool(place)).append(ink.fit(label, min(cell_len(label), max(room, 1))))
        line.append(figure, "cyan")
    return line
