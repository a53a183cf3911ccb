"""The tables of a toy, one for each step in their order, for the terminal and for notebooks; and its CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eyeline.views.csv_tables import table
from eyeline.views.labels import named, percent, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.toy_attention import Array, Toy


@dataclass(frozen=True)
class ToyTable:
    """One step: its title, the names of its columns, and a row of numbers for each token."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(answer: Toy) -> list[ToyTable]:
    """The steps in their order: given vectors, scores, ÷ √d, mask, eˣ, weights, output."""
    words, d = tuple(map(named, answer.words)), answer.q.shape[1]
    divided = answer.divided
    how = worded("÷ √{d} = ÷ {root}", d=d, root=f"{d**0.5:.3f}") if divided else worded("not divided by √{d}", d=d)
    sums = [f"{total:.2f}" for total in answer.sums]
    given = {"q": answer.q, "k": answer.k, "v": answer.v}
    return [
        ToyTable(
            worded("queries Q, keys K and values V"),
            tuple(f"{name}{at}" for name, array in given.items() for at in range(array.shape[1])),
            _plain(np.hstack(list(given.values()))),
        ),
        ToyTable(worded("scores QKᵀ: row = the query, column = the key"), words, _numbers(answer.scores)),
        ToyTable(how, words, _numbers(answer.scaled)),
        *([ToyTable(_masked_title(answer), words, _masked(answer))] if answer.mask is not None else []),
        ToyTable(
            worded("eˣ, and the sum of each row") + _shifted(answer),
            (*words, "Σ"),
            tuple((*row, total) for row, total in zip(_numbers(answer.exponentials), sums, strict=True)),
        ),
        ToyTable(worded("weights: eˣ ÷ sum, so that each row sums to 1"), words, _numbers(answer.weights)),
        ToyTable(worded("output: weights · V"), _places(answer.output), _numbers(answer.output)),
    ]


def told(answer: Toy) -> int:
    """The token that the sentences speak of, and on which the page opens: the second, if there are several."""
    return min(1, len(answer.words) - 1)


def example(answer: Toy) -> str:
    """The output of that token as a sum."""
    row = told(answer)
    terms = [f"{weight:.2f} · {_vector(value)}" for weight, value in zip(answer.weights[row], answer.v, strict=True)]
    word = printable(named(answer.words[row]))
    return worded(
        "The output of {word} is {sum} = {output}.",
        word=word,
        sum=" + ".join(terms),
        output=_vector(answer.output[row].round(2)),
    )


def found(answer: Toy) -> str:
    """A sentence on the weights of that token."""
    row = told(answer)
    given = [
        worded("{share} to {word}", share=percent(weight), word=printable(named(word)))
        for word, weight in zip(answer.words, answer.weights[row].tolist(), strict=True)
    ]
    return worded("{word} gives {given}.", word=printable(named(answer.words[row])), given=", ".join(given))


def toy_csv(answer: Toy) -> str:
    """A row for each query and key, with all steps."""
    widths = {"q": answer.q.shape[1], "k": answer.k.shape[1], "v": answer.v.shape[1]}
    columns = (
        ["query_index", "query", "key_index", "key"]
        + [f"{name}{at}" for name, width in widths.items() for at in range(width)]
        + ["score", "scaled", "hidden", "exponential", "sum", "weight"]
        + [f"output{at}" for at in range(widths["v"])]
    )
    rows = []
    for i, query in enumerate(answer.words):
        for j, key in enumerate(answer.words):
            start = [*answer.q[i], *answer.k[j], *answer.v[j], answer.scores[i, j], answer.scaled[i, j]]
            end = [answer.exponentials[i, j], answer.sums[i], answer.weights[i, j], *answer.output[i]]
            rows.append([i, query, j, key, *start, not answer.allowed[i, j], *end])
    return table(columns, rows)


def _places(array: Array) -> tuple[str, ...]:
    return tuple(map(str, range(array.shape[1])))


def _plain(array: Array) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_short(value) for value in row) for row in array.tolist())


def _numbers(array: Array) -> tuple[tuple[str, ...], ...]:
    """Numbers with two decimals, so that columns line up."""
    return tuple(
        tuple(_signed(f"{0.0 if abs(value) < 0.005 else value:.2f}") for value in row) for row in array.tolist()
    )


def _masked(answer: Toy) -> tuple[tuple[str, ...], ...]:
    numbers = _numbers(answer.scaled)
    return tuple(
        tuple(number if seen else "−∞" for number, seen in zip(row, allowed, strict=True))
        for row, allowed in zip(numbers, answer.allowed.tolist(), strict=True)
    )


def _masked_title(answer: Toy) -> str:
    if answer.mask == "causal":
        return worded("mask: the future is hidden")
    return worded("mask: the last word is padding")


def _shifted(answer: Toy) -> str:
    if not answer.shifts.any():
        return ""
    return worded("; the largest of a row beyond ±30 is subtracted first, which changes no weight")


def _vector(values: Sequence[float] | Array) -> str:
    return "[" + ", ".join(_short(float(value)) for value in values) + "]"


def _short(value: float) -> str:
    return _signed(f"{value:.6g}")


def _signed(text: str) -> str:
    return text.replace("-", "−")
