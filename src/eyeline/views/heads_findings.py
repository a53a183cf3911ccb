"""Sentences on the findings of pictures of heads, and the rules of their labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eyeline.views.labels import listed, percent, printable
from eyeline.words import page_text, translation, worded

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
    names = kind_names(answer)
    kinds = ", ".join(f"{names[label]} {counts[label]}" for label in ordered)
    return worded("Of {count} heads: {kinds}.", count=len(answer.heads), kinds=kinds)


def kind_names(answer: Heads, short: bool = False) -> dict[str, str]:
    """The names of the kinds of heads in the current language, by their labels; mixed, which has no rule, last."""
    keys = {label.label: label.key for label in answer.labels} | {MIXED: MIXED}
    return {label: page_text(f"kind.short.{key}" if short else f"kind.{key}") for label, key in keys.items()}


def rules(answer: Heads) -> dict[str, tuple[str, str]]:
    """The rule of each label and the source of its threshold, empty for mixed, which has none."""
    found = {label.label: (rule(label), translation(label.source)) for label in answer.labels}
    return found | {MIXED: (worded("none of these"), "")}


def conventions(answer: Heads) -> list[str]:
    """The notes on definitions: the tokens that measures are averaged over, their sources, and the measures that this
    text lacks."""
    count, special = answer.token_count, answer.special_tokens
    signs = answer.punctuation_tokens
    averaged = (
        worded(
            "Means over all {count} tokens, {special} too, as Clark et al. (2019) have it:",
            count=count,
            special=listed(special),
        )
        if special
        else worded("Means over all {count} tokens, as Clark et al. (2019) have it:", count=count)
    )
    lines = [
        averaged
        + " "
        + worded("the share on the token before, which the first hasn't, is divided by n too.")
        + " "
        + worded("Entropy is in nats, distance in tokens."),
        (
            worded("special: on {tokens};", tokens=listed(special))
            if special
            else worded("special: this tokenizer adds no special tokens;")
        )
        + " "
        + (
            worded("punctuation: on {signs}", signs=_few(signs)) if signs else worded("punctuation: none in this text.")
        ),
    ]
    sink, repeated = answer.sink_tokens, answer.repeated_tokens
    parts = [
        worded(
            "sink: what the first {count} tokens give to the first (Gu et al. 2024), fewer than their 64, so that it "
            "takes more to be named one.",
            count=sink,
        )
        if sink < 64
        else worded("sink: what the first {count} tokens give to the first (Gu et al. 2024).", count=sink)
    ]
    if repeated:
        drawn = {"count": repeated, "draws": answer.repeated_draws}
        parts.append(
            worded(
                "induction: what goes one past the earlier copy of {count} random tokens (Olsson et al. 2022), the "
                "mean of {draws} draws.",
                **drawn,
            )
            if answer.causal
            else worded(
                "induction: what goes one past the earlier copy of {count} random tokens (Olsson et al. 2022), the "
                "mean of {draws} draws; no head is named for it where tokens look both ways.",
                **drawn,
            )
        )
    lines.append(" ".join(parts))
    if math.log(count) <= 3.8:
        lines.append(
            worded(
                "No head can be broad here: {count} tokens leave at most {most:.2f} nats.",
                count=count,
                most=math.log(count),
            )
        )
    return lines


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
    return worded("{measure} above {value}", measure=label.measure, value=f"{label.above:g}")


def figure(entry: HeadEntry, measure: str) -> str:
    value = getattr(entry, measure)
    if value is None or (measure == "next" and not value):
        return "–"
    if measure == "entropy":
        return f"{value:.2f}"
    return f"{value:.{0 if value >= 99.95 else 1}f}" if measure == "distance" else percent(value)
