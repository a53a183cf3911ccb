"""Attention step by step, for one token in one head: score, scale, softmax, weighted sum."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.advice import ask
from eyeline.views.bars import MOST, rest, strongest
from eyeline.views.ink import Ink
from eyeline.views.labels import head_name, named
from eyeline.views.provenance import run_name
from eyeline.views.steps_projections import origin, outcome
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Explanation
    from eyeline.answers.head_steps import HeadSteps, StepKey

_WHOLE = 64  # the number of cells in a line from which all columns fit
#: The columns of the tables in a narrower terminal: score, scaled, weight; and below these, the values.
_COLUMNS = ((0, 1, 2), (3, 4))


def steps(answer: Explanation, ink: Ink) -> list[Text]:
    """Draw a table for each run, one row per key token, then the meanings of the columns.

    Args:
        answer: an explanation with steps.
        ink: the terminal's ink.
    """
    from rich.text import Text

    runs = stepped_runs(answer)
    first = runs[0][1]
    words = ink.words(named(first.text))
    title = worded("How {head} rewrites {word}", head=head_name(first.layer, first.head), word=words)
    lines = [Text(ink.own(title), style="bold")]
    for remark in _remarks(answer, first, words):
        lines += _notes(remark, ink)
    several = len(runs) > 1
    if first.projections is not None:
        lines += [Text(), *origin(first, words, ink)]
    for name, found in runs:
        lines += [Text(), *([Text(ink.own(run_name(name)), style="bold")] if several else [])]
        for number, places in enumerate(_COLUMNS if ink.width < _WHOLE else [sum(_COLUMNS, ())]):
            lines += [*[Text()] * bool(number), *_table(found, places, ink, answer.question.top or MOST)]
    lines += [Text(), *_meanings([found for _, found in runs], words, ink), Text()]
    for name, found in runs:
        numbers = ", ".join(f"{number:.2f}" for number in found.output[:6])
        rest = ", … " + worded("{count} numbers", count=len(found.output)) if len(found.output) > 6 else ""
        told = {"word": words, "vector": f"[{numbers}{rest}]", "length": f"{found.output_length:.3f}"}
        if several:
            end = worded(
                "The sum of weight × value is the new vector of {word} in this head, {run}: {vector}, of length "
                "{length}.",
                run=run_name(name),
                **told,
            )
        else:
            end = worded(
                "The sum of weight × value is the new vector of {word} in this head: {vector}, of length {length}.",
                **told,
            )
        lines += [Text(line, style="bold") for line in ink.wrapped(end, 0)]
    return [*lines, *outcome(first, words, ink)]


def stepped_runs(answer: Explanation) -> list[tuple[str, HeadSteps]]:
    """The names and steps of the runs that have steps."""
    return [(run.name, run.steps) for run in answer.runs if run.steps is not None]


def _remarks(answer: Explanation, found: HeadSteps, words: str) -> Iterator[str]:
    """Notes on the head and its token, above the numbers."""
    if found.chosen == "hardest":
        yield worded("the head of its layer that looks hardest at one word; {head} takes another", head=ask("head", 0))
    pieces = len(answer.units[answer.question.units[0]].tokens)
    if pieces > 1:
        yield worded(
            "{word} is the first of the word's {count} pieces; {pieces} with another token takes another",
            word=words,
            count=pieces,
            pieces=ask("pieces"),
        )
    together = answer.model.heads // answer.model.key_heads
    if together > 1:
        head = together * found.key_head
        yield worded("H{first} to H{last} share their keys and values", first=head, last=head + together - 1)
    if _turned(answer, found):
        yield worded("q and k are as they are compared: turned by their places (rotary positions)")


def _turned(answer: Explanation, found: HeadSteps) -> bool:
    """Whether queries and keys are turned by their positions, as far as is known."""
    if found.projections is not None:
        return found.projections.rotary
    placing = answer.traces[0].placing if answer.traces else None
    return placing is not None and placing.kind == "rotary"


def _notes(text: str, ink: Ink) -> list[Text]:
    from rich.text import Text

    return [Text(line, style="dim") for line in ink.wrapped(text, 2)]


def _trained(found: HeadSteps) -> bool:
    """Whether scores were scaled by 1/√d."""
    return math.isclose(found.scale, 1 / math.sqrt(found.head_dim), rel_tol=1e-4)


def _heads(found: HeadSteps) -> tuple[str, ...]:
    how = f"÷ √{found.head_dim}" if _trained(found) else f"× {found.scale:g}"
    return ("q·k", how, "softmax", "|value|", "|w×value|")


def _table(found: HeadSteps, places: Sequence[int], ink: Ink, most: int) -> list[Text]:
    from rich.text import Text

    weights = [key.weight for key in found.keys]
    drawn = strongest([weights], most, [found.token])
    keys = [found.keys[place] for place in drawn]
    labels = [ink.words(named(key.text)) for key in keys]
    left = min(max(ink.widest(labels), 5), ink.width - 2 - 8 * len(places))
    column = min((ink.width - left - 2) // len(places), 10)
    ceiling = max(key.contribution_length for key in found.keys) or 1.0
    cells = min(ink.width - left - 4 - column * len(places), 24)
    heads = _heads(found)
    lines = [Text(" " * (left + 2) + "".join(f"{ink.own(heads[place]):>{column}}" for place in places), style="dim")]
    for label, key in zip(labels, keys, strict=True):
        itself = key.token == found.token
        line = Text(ink.own("• ") if itself else "  ").append(ink.fit(label, left), "bold cyan" if itself else "")
        numbers = _numbers(key)
        for place in places:
            line.append(f"{ink.own(numbers[place]):>{column}}", "bold" if place == 2 else "")
        if cells > 3 and 4 in places:
            line.append("  ").append(ink.bar(key.contribution_length, ceiling, cells), "cyan")
        lines.append(line)
    if cells > 3 and 4 in places:
        axis = ink.axis(f"{ceiling:.3g}", cells)
        lines.append(Text(" " * (left + 4 + column * len(places)) + axis, style="dim"))
    if others := rest([weights], drawn):
        lines += _notes(others, ink)
    if 2 in places:
        total = f"{found.weight_sum:.1%}"
        lines.append(Text("  " + ink.fit(worded("sum"), left + 2 * column) + f"{total:>{column}}", style="bold"))
    for line in lines:
        line.no_wrap = True
    return lines


def _numbers(key: StepKey) -> tuple[str, ...]:
    scaled, weight = ("−∞", "–") if key.hidden else (f"{key.scaled:.2f}", f"{key.weight:.1%}")
    return (f"{key.score:.2f}", scaled, weight, f"{key.value_length:.2f}", f"{key.contribution_length:.3f}")


def _meanings(runs: Sequence[HeadSteps], words: str, ink: Ink) -> list[Text]:
    """A line on the meaning of each column."""
    from rich.text import Text

    d = runs[0].head_dim
    score, _, softmax, value, taken = _heads(runs[0])
    some_hidden = any(key.hidden for found in runs for key in found.keys)
    hidden = worded("; −∞ where it may not look") if some_hidden else ""
    divided = worded("divided by √{d} = {root}, since dots of {d} numbers are large", d=d, root=f"{d**0.5:.3f}")
    scaled = {_heads(found)[1]: divided if _trained(found) else worded("not divided by √{d}", d="d") for found in runs}
    sums = ", ".join(f"{found.weight_sum:.6f}" for found in runs)
    lengths = ", ".join(f"{found.query_length:.2f}" for found in runs)
    meanings = {
        score: worded(
            "score: how well a token's key answers the query of {word} (of length {lengths})",
            word=words,
            lengths=lengths,
        ),
        **{head: meaning + hidden for head, meaning in scaled.items()},
        softmax: worded("weight: eˣ over the sum of all eˣ, so that the row sums to 1 (here: {sums})", sums=sums),
        value: worded("length of the value, the vector that a token passes on"),
        taken: worded("length of weight × value, what is taken of it; lengths don't add up, where vectors point apart"),
    }
    lines = []
    for head, meaning in meanings.items():
        first, *rest = ink.wrapped(meaning, 13)
        lines += [f"  {ink.own(head):<11}{first[13:]}", *rest]
    return [Text(line, style="dim") for line in lines]
