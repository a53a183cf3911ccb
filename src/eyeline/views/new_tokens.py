"""The table of generated tokens: the probability of each, and the words that the token before it looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eyeline.views.findings import Words, set_aside_names
from eyeline.views.ink import Ink
from eyeline.views.labels import named, percent, printable

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Explanation
    from eyeline.answers.entries import Look, UnitEntry
    from eyeline.answers.generation import Generated, NewToken, PieceEntry

HEADING = "The new tokens, and whom the token before each looked at"
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


def top(step: NewToken, most: int = MOST) -> list[Look]:
    """The words with the largest shares, largest first, without those that round to 0%."""
    ordered = sorted(step.looks_at, key=lambda look: -(look.share or 0.0))
    return [look for look in ordered[:most] if (look.share or 0.0) >= 0.005]


def piece(one: PieceEntry, words: Words) -> str:
    """The label of a token: a hyphen marks each side where its word continues."""
    return "-" * one.joins_before + words(named(one.text)) + "-" * one.joins_after


def choice(found: Generated) -> str:
    """The sentence that says how new tokens were chosen."""
    if not found.temperature:
        return "The likeliest token is taken each time."
    top_p = "" if found.top_p is None else f" from the likeliest that have {found.top_p:g} together"
    seed = "" if found.seed is None else f", seed {found.seed}"
    return f"Tokens are drawn at temperature {found.temperature:g}{top_p}{seed}."


def explained(answer: Explanation, found: Generated, words: Words = printable) -> str:
    """The note below the table of new tokens."""
    aside = set_aside_names(answer.units, words)
    given = f"what the token before gives to the {answer.question.unit}s" if aside else "all that it gives"
    text = f"{choice(found)} The first % is the token's probability, the others are of {given}."
    if aside:
        taken = [step.set_aside for step in found.steps]
        text += f" {aside}, set aside, took {percent(sum(taken) / len(taken))} on average."
    if found.ended:
        text += " The last token ends a text."
    return text


def new_tokens(answer: Explanation, found: Generated, ink: Ink) -> Iterator[Text]:
    """The table of new tokens, one line each."""
    from rich.text import Text

    steps = found.steps
    new = [piece(step.new, ink.words) for step in steps]
    by = [piece(step.by, ink.words) for step in steps]
    left, middle = max(ink.widest(new), 3), max(ink.widest(by), 6)
    yield Text(HEADING, style="bold")
    heads = f"  {'new':{left}}  {'probability':{_BAR + 5}}  {'before':{middle}}  looked at"
    yield Text(heads[: ink.width].rstrip(), style="dim", no_wrap=True)
    for label, before, step in zip(new, by, steps, strict=True):
        line = Text("  ", no_wrap=True, overflow="crop").append(ink.fit(label, left), "bold cyan").append("  ")
        line.append(ink.fit(ink.bar(step.probability, 1.0, _BAR), _BAR), "cyan")
        line.append(f"{percent(step.probability):>5}").append("  " + ink.fit(before, middle), "dim").append("  ")
        yield _looks(line, top(step), answer.units, ink)


def _looks(line: Text, looks: Sequence[Look], units: Sequence[UnitEntry], ink: Ink) -> Text:
    """Append the words with the largest shares to a line: as many as fit, at least one."""
    from rich.cells import cell_len

    for number, look in enumerate(looks):
        label = ink.label(units[look.unit])
        figure = f" {percent(look.share or 0.0)}"
        room = ink.width - line.cell_len - len(figure) - 2 * bool(number)
        if number and cell_len(label) > room:
            break
        line.append("  " * bool(number)).append(ink.fit(label, min(cell_len(label), max(room, 1))))
        line.append(figure, "cyan")
    return line
