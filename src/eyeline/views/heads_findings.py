"""Sentences on the findings of pictures of heads, and the rules of their labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eyeline.views.labels import listed_in_english, percent, printable

if TYPE_CHECKING:
    from eyeline.answers import Heads
    from eyeline.answers.behaviour.all_heads import HeadEntry
    from eyeline.answers.behaviour.head_labels import Label

MIXED = "mixed"


_CLEAREST = 3  # the number of heads of each kind listed by default


def found(answer: Heads) -> str:
    """The sentence that counts the heads of each kind, most first."""
    counts = Counter(entry.label for entry in answer.heads)
    ordered = sorted(counts, key=lambda label: (label == MIXED, -counts[label]))
    return f"Of {len(answer.heads)} heads: {', '.join(f'{label} {counts[label]}' for label in ordered)}."


def conventions(answer: Heads) -> list[str]:
    """The notes on definitions: the tokens that measures are averaged over, their sources, and the measures that this
    text lacks."""
    count, special = answer.token_count, answer.special_tokens
    signs = answer.punctuation_tokens
    lines = [
        f"Means over all {count} tokens{_with(special)}, as Clark et al. (2019) have it: the share on the token "
        "before, which the first hasn't, is divided by n too. Entropy is in nats, distance in tokens.",
        (
            f"special: on {listed_in_english(special)}; "
            if special
            else "special: this tokenizer adds no special tokens; "
        )
        + (f"punctuation: on {_few(signs)}" if signs else "punctuation: none in this text."),
    ]
    sink, repeated = answer.sink_tokens, answer.repeated_tokens
    text = f"sink: what the first {sink} tokens give to the first (Gu et al. 2024)"
    text += ", fewer than their 64, so that it takes more to be named one. " if sink < 64 else ". "
    if repeated:
        text += f"induction: what goes one past the earlier copy of {repeated} random tokens (Olsson et al. 2022), "
        text += f"the mean of {answer.repeated_draws} draws"
        text += "." if answer.causal else "; no head is named for it where tokens look both ways."
    lines.append(text)
    if math.log(count) <= 3.8:
        lines.append(f"No head can be broad here: {count} tokens leave at most {math.log(count):.2f} nats.")
    return lines


def _with(special: Sequence[str]) -> str:
    return f", {listed_in_english(special)} too" if special else ""


def _few(signs: Sequence[str]) -> str:
    return " ".join(map(printable, signs[:12])) + (" …" if len(signs) > 12 else "")


def clearest(answer: Heads) -> Iterable[HeadEntry]:
    """A few heads of each kind, with the largest values of the measure that defines it."""
    for label in answer.labels:
        own = [entry for entry in answer.heads if entry.label == label.label]
        yield from sorted(own, key=lambda entry: -value(entry, label.measure))[:_CLEAREST]


def value(entry: HeadEntry, measure: str) -> float:
    value = getattr(entry, measure)
    return -math.inf if value is None else float(value)


def rule(label: Label) -> str:
    """The rule by which a label is given.

    >>> from eyeline.answers.behaviour.head_labels import Label
    >>> rule(Label("broad", "broad", "entropy", 3.8, "Clark et al. 2019"))
    'entropy above 3.8'
    """
    return f"{label.measure} above {label.above:g}"


def figure(entry: HeadEntry, measure: str) -> str:
    value = getattr(entry, measure)
    if value is None or (measure == "next" and not value):
        return "–"
    if measure == "entropy":
        return f"{value:.2f}"
    return f"{value:.{0 if value >= 99.95 else 1}f}" if measure == "distance" else percent(value)
