"""The words and numbers that every view of a split score shows: names of sources, sums, and sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eyeline.views.advice import asks_for_options
from eyeline.views.findings import Words
from eyeline.views.labels import head_name, layer_name, listed, percent, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Why
    from eyeline.models.residual_stream import ResidualSource

MOST = 8  # the number of bars in a list by default


@dataclass(frozen=True)
class Bars:
    """A list of signed numbers, the largest first, whose sum is the score.

    Attributes:
        title: what it lists.
        names, values: its bars.
        others: how many aren't drawn, and their sum; None if all are.
    """

    title: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    others: tuple[int, float] | None


def bars(answer: Why, most: int, words: Words = printable) -> list[Bars]:
    """The three lists: by the query's sources, by the key's, and by pairs."""
    query, key = _tokens(answer, words)
    pairs = answer.largest(most)
    rest = answer.table.size - len(pairs)
    at_query = worded("Written at {token}, with all of {other}", token=query, other=key)
    at_key = worded("Written at {token}, with all of {other}", token=key, other=query)
    return [
        _sums(at_query, answer.query_sources, answer.by_query_source, most),
        _sums(at_key, answer.key_sources, answer.by_key_source, most),
        Bars(
            worded("Pairs: written at {query} × written at {key}", query=query, key=key),
            tuple(f"{source_name(term.query)} × {source_name(term.key)}" for term in pairs),
            tuple(term.value for term in pairs),
            (rest, float(answer.table.sum()) - sum(term.value for term in pairs)) if rest else None,
        ),
    ]


def _tokens(answer: Why, words: Words) -> tuple[str, str]:
    """The names of the query's token and of the key's."""
    query, key = words(answer.query.text), words(answer.key.text)
    if query == key:
        return worded("the query {word}", word=query), worded("the key {word}", word=key)
    return query, key


def _sums(title: str, sources: Sequence[ResidualSource], values: np.ndarray, most: int) -> Bars:
    order = np.argsort(-np.abs(values), kind="stable").tolist()
    drawn, rest = order[:most], order[most:]
    return Bars(
        title,
        tuple(source_name(sources[place]) for place in drawn),
        tuple(float(values[place]) for place in drawn),
        (len(rest), float(values[rest].sum())) if rest else None,
    )


def others_name(count: int) -> str:
    """The name of the bar of all that isn't drawn."""
    return worded("{count} others", count=count)


def scale_end(lists: Sequence[Bars]) -> float:
    """The end of the scale of lists that are drawn together, from -end to end: 1, 2 or 5 times a power of ten."""
    numbers = [abs(value) for one in lists for value in (*one.values, *(one.others or (0, 0.0))[1:])]
    return round_up(max(numbers, default=0.0))


def round_up(number: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that isn't below a number.

    >>> round_up(0.31), round_up(4.4), round_up(0.0)
    (0.5, 5.0, 1.0)
    """
    if number <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(number))
    return next((step * power for step in (1, 2, 5) if number <= step * power * (1 + 1e-9)), 10 * power)


def signed(value: float) -> str:
    """A term with its sign, in three digits.

    >>> signed(1.234), signed(-0.0123), signed(0)
    ('+1.23', '-0.0123', '0')
    """
    return "0" if value == 0 else f"{value:+.3g}" if abs(value) < 1000 else f"{value:+.0f}"


def source_name(source: ResidualSource) -> str:
    """A source's name in the current language."""
    if source.kind == "head" and source.head is not None:
        return head_name(source.layer or 0, source.head)
    layer = "" if source.layer is None else layer_name(source.layer)
    return _NAMES[source.name.removeprefix(f"{layer} ")](layer)


#: What each source is called, by its name without its layer.
_NAMES: dict[str, Callable[[str], str]] = {
    "embedding": lambda layer: worded("embedding"),
    "position": lambda layer: worded("position"),
    "embedding norm bias": lambda layer: worded("embedding norm bias"),
    "embedding projection bias": lambda layer: worded("embedding projection bias"),
    "heads": lambda layer: worded("{layer} heads", layer=layer),
    "MLP": lambda layer: worded("{layer} MLP", layer=layer),
    "W_o bias": lambda layer: worded("{layer} W_o bias", layer=layer),
    "MLP bias": lambda layer: worded("{layer} MLP bias", layer=layer),
    "attention norm bias": lambda layer: worded("{layer} attention norm bias", layer=layer),
    "MLP norm bias": lambda layer: worded("{layer} MLP norm bias", layer=layer),
    "biases": lambda layer: worded("{layer} biases", layer=layer),
    "q bias": lambda layer: worded("q bias"),
    "k bias": lambda layer: worded("k bias"),
}


def title(answer: Why, words: Words = printable) -> str:
    """The question."""
    return worded(
        "Why {head} looks from {query} (#{i}) at {key} (#{j})",
        head=head_name(answer.layer, answer.head),
        query=words(answer.query.text),
        i=answer.query.index,
        key=words(answer.key.text),
        j=answer.key.index,
    )


def score_line(answer: Why) -> str:
    """The score, its weight, and what it would be at one place."""
    said = worded(
        "The score, scale · q·k, is {score}; the weight is {weight}.",
        score=signed(answer.score),
        weight=percent(answer.weight),
    )
    if answer.query.index != answer.key.index:
        same = signed(answer.same_place)
        said += " " + (
            worded("With both tokens at one place it would be {score}: rotary positions are no source.", score=same)
            if answer.positions == "rotary"
            else worded("With the query's position in place of the key's it would be {score}.", score=same)
        )
    for change in answer.changes:
        said += " " + _CHANGES[change]()
    if not abs(answer.score - answer.run_score) <= 1e-4 * (1 + abs(answer.run_score)):
        said += " " + worded("The run, in lower precision, has {run_score}.", run_score=f"{answer.run_score:+.4g}")
    return said


_CHANGES: dict[str, Callable[[], str]] = {
    "cap": lambda: worded("The model then caps it; the split is of the score before."),
    "bias": lambda: worded("The model then adds a bias to it; the split is of the score before."),
    "sink": lambda: worded("A sink takes a share of the weights; no score changes by it."),
}


def found(answer: Why, words: Words = printable) -> str:
    """The sentence on what adds most, and what takes most away."""
    query, key = _tokens(answer, words)

    def extremes(sources: Sequence[ResidualSource], values: np.ndarray, token: str) -> str:
        top, low = int(values.argmax()), int(values.argmin())
        parts = [f"{source_name(sources[top])} ({signed(float(values[top]))})"] if values[top] > 0 else []
        parts += [f"{source_name(sources[low])} ({signed(float(values[low]))})"] if values[low] < 0 else []
        return worded("at {token}, {sources}", token=token, sources=listed(parts) or worded("nothing"))

    return worded(
        "Most is from: {at_query}; {at_key}.",
        at_query=extremes(answer.query_sources, answer.by_query_source, query),
        at_key=extremes(answer.key_sources, answer.by_key_source, key),
    )


def basis(answer: Why, end: float) -> str:
    """The note on what is drawn."""
    parts = [
        worded(
            "Bars are on one scale from -{end} to {end}, with 0 in the middle; each list adds up to the score.",
            end=f"{end:g}",
        ),
        worded(
            "Norms count as linear, with the scale they had in this run (Elhage et al. 2021). A source says what it "
            "added, not what would change without it, which effects measures."
        ),
    ]
    count = answer.table.size
    if not answer.is_grouped:
        parts.append(
            worded("--by-layer takes a layer's heads together; --csv and --json have all {count} terms.", count=count)
            if asks_for_options()
            else worded(".grouped() takes a layer's heads together; .table has all {count} terms.", count=count)
        )
    return " ".join(parts)
