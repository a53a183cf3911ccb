"""Sentences and numbers of effects: what is measured, how heads are cut, and how far looking agrees with mattering."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from eyeline.views.findings import Words
from eyeline.views.labels import head_name, listed, named, percent, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Effects

#: How many heads and edges are listed by default.
MOST = 12


def signed(answer: Effects) -> bool:
    """Whether an effect may be below 0: a cosine can only fall."""
    return answer.question.next is not None


def number(answer: Effects, effect: float) -> str:
    """An effect, in nats with its sign, or 1 - cosine: to three digits of the largest."""
    if math.isnan(effect):
        return "–"
    largest = max((abs(value) for value in answer.heads.ravel().tolist() if not math.isnan(value)), default=0.0)
    places = 2 if not largest > 0 else min(max(2 - math.floor(math.log10(largest)), 0), 9)
    return f"{effect:{'+' if signed(answer) else ''}.{places}f}".replace("-", "−")


def unit(answer: Effects) -> str:
    """The name of effects' numbers."""
    return worded("nats") if signed(answer) else worded("1 − cosine")


def measured(answer: Effects, words: Words = printable) -> str:
    """The sentence on what is measured."""
    question = answer.question
    first, rival = question.next, question.rather
    if first is not None and rival is not None:
        return worded(
            "Measured: how far the log-probability of {next} as the next token is above that of {rather}: {base} nats "
            "({share} and {other}).",
            next=quoted(first.text, words),
            rather=quoted(rival.text, words),
            base=f"{answer.base:+.2f}".replace("-", "−"),
            share=percent(first.probability),
            other=percent(rival.probability),
        )
    if first is not None:
        return worded(
            "Measured: the log-probability of {next} as the next token: {base} nats ({share}).",
            next=quoted(first.text, words),
            base=f"{answer.base:.2f}".replace("-", "−"),
            share=percent(first.probability),
        )
    if question.token is not None:
        return worded("Measured: the vector of {word} after the last layer.", word=words(question.token))
    return worded("Measured: the text's vector, made of its tokens' after the last layer.")


def quoted(text: str, words: Words = printable) -> str:
    """A token in quotes, since the space before it counts."""
    return f"“{words(text)}”"


def cut_by(answer: Effects) -> str:
    """The sentence on what an effect is: what is cut, and which sign it has."""
    by = answer.question.by
    if by == "mean":
        how = worded(
            "A head is cut by putting its mean output over {count} tokens of other texts in place of its own.",
            count=answer.question.over_tokens or 0,
        )
    elif by == "uniform":
        how = worded("A head is cut by letting it look everywhere alike.")
    else:
        how = worded("A head is cut by setting its output to 0, before W_o.")
    if signed(answer):
        return f"{how} " + worded(
            "Its effect is how far the measure falls: + where the head helped, − where it hindered."
        )
    return f"{how} " + worded("Its effect is 1 − the cosine of the vector with and without the cut.")


def columns(answer: Effects) -> str:
    """The sentence on what stands beside an effect."""
    question = answer.question
    if question.next is not None:
        whose = worded("of the last token")
    elif question.token is not None:
        whose = worded("of the measured word")
    else:
        whose = worded("of a token, the mean over all")
    text = worded("weight: a head's strongest look {whose}.", whose=whose)
    if answer.passed is not None:
        text += " " + worded("passed on: the largest weight × length of v·W_o in that row (Kobayashi et al. 2020).")
    if answer.first_order is not None:
        text += " " + worded("slope: along the head's gate, the effect if all were linear (one backward pass).")
    return text


def edges_note(answer: Effects) -> str:
    """The sentence on the edges, if any were cut."""
    if not answer.edges:
        return ""
    heads = len({(edge.layer, edge.head) for edge in answer.edges})
    if answer.passed is None:
        return worded(
            "Cut: the {count} looks with the largest weights, of the {heads} heads that matter most; the rest of the "
            "row is renormalised.",
            count=len(answer.edges),
            heads=heads,
        )
    return worded(
        "Cut: the {count} looks that pass on most, of the {heads} heads that matter most; the rest of the row is "
        "renormalised.",
        count=len(answer.edges),
        heads=heads,
    )


def found(answer: Effects, words: Words = printable) -> str:
    """The sentence on what matters most."""
    places = answer.ordered[:3]
    if not places or answer.heads[places[0]] == 0:
        return worded("No head changes anything here.")
    heads = listed([f"{head_name(*place)} ({number(answer, float(answer.heads[place]))})" for place in places])
    text = worded("{heads} matter most.", heads=heads) if len(places) > 1 else worded("{heads} matters.", heads=heads)
    if answer.edges and answer.edges[0].effect:
        edge = answer.edges[0]
        text += " " + worded(
            "The look that matters most: {head}, from {query} to {key} ({effect}).",
            head=head_name(edge.layer, edge.head),
            query=token_label(answer, edge.query, words),
            key=token_label(answer, edge.key, words),
            effect=number(answer, edge.effect),
        )
    return text


def agreement(answer: Effects) -> list[str]:
    """The lines on how far looking, and first-order effects, agree with the sizes of effects."""
    names = {
        "weight": worded("weight"),
        "passed": worded("passed on"),
        "first order": worded("slope"),
    }
    lines = []
    for over, heading in (
        ("heads", worded("Over {count} heads", count="{count}")),
        ("edges", worded("Over {count} looks", count="{count}")),
    ):
        own = [one for one in answer.agreement if one.over == over]
        if not own:
            continue
        parts = [
            f"{names[one.of]} " + ("–" if one.rank_correlation is None else f"{one.rank_correlation:+.2f}")
            for one in own
        ]
        counts = {one.count for one in own}
        lines.append(f"{heading.format(count=max(counts))}: " + ", ".join(parts).replace("-", "−"))
    return lines


def agreement_note() -> str:
    """What the numbers of `agreement` are."""
    return worded(
        "Spearman's rank correlation with the size of the effect: 1 if the order is the same, 0 if it says nothing."
    )


def stopped(answer: Effects) -> str:
    """The sentence on a run that was stopped; empty for a complete one."""
    if answer.complete:
        return ""
    done, count = int(answer.measured.sum()), answer.heads.size
    if done == count:
        return worded("Stopped: all {count} heads were cut, and {edges} looks.", count=count, edges=len(answer.edges))
    return worded("Stopped: {done} of {count} heads were cut, from the last layer back.", done=done, count=count)


def token_label(answer: Effects, index: int, words: Words = printable) -> str:
    """A token's text; with its position where the text has it more than once."""
    texts = [named(token.text) for token in answer.tokens]
    label = words(texts[index])
    return f"{label}#{index}" if Counter(texts)[texts[index]] > 1 else label


def nice_end(number: float) -> float:
    """The end of a scale from zero: the smallest of 1, 2 and 5 times a power of ten that isn't below the number.

    >>> nice_end(0.03), nice_end(1.7), nice_end(0.0)
    (0.05, 2.0, 1.0)
    """
    if not number > 0 or not math.isfinite(number):
        return 1.0
    power = math.floor(math.log10(number)) - 1
    while True:
        for step in (1, 2, 5):
            end = float(f"{step}e{power}")
            if number <= end * (1 + 1e-9):
                return end
        power += 1


def map_end(answer: Effects) -> tuple[float, float]:
    """The end of the map's shades, from zero, and the largest size; as `eyeline.views.scale.shade_end` chooses it."""
    sizes = sorted(abs(value) for value in answer.heads.ravel().tolist() if value and not math.isnan(value))
    if not sizes:
        return 1.0, 0.0
    whole, most = nice_end(sizes[-1]), nice_end(sizes[math.ceil(0.95 * len(sizes)) - 1])
    return (most if most <= whole / 4 else whole), sizes[-1]


def scale_note(answer: Effects) -> str:
    """The sentence on the map's shades."""
    end, largest = map_end(answer)
    text = (
        worded(
            "Shades of effects, from 0 to ±{end} {unit}, are linear: + helped, − hindered.",
            end=f"{end:g}",
            unit=unit(answer),
        )
        if signed(answer)
        else worded("Shades of effects, from 0 to {end}, are linear.", end=f"{end:g}")
    )
    if largest > end * (1 + 1e-9):
        text += " " + worded("A few cells are beyond, the largest at {number}.", number=f"{largest:.3g}")
    return text
