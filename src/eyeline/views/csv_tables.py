"""Answers as CSV: the numbers of an explanation's picture, and of every head, in seven digits, as in the JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eyeline.version import VERSION
from eyeline.views.labels import excerpt, printable

if TYPE_CHECKING:
    from eyeline.answers import Effects, Explanation, Heads, Why
    from eyeline.answers.generation import Generated

_STEPS = ("score", "scaled", "hidden", "weight", "value_length", "contribution_length")
#: The last columns of each row: what it is of.
_SOURCE = ("model", "text", "version")
_EXCERPT = 80  # characters of the text in each row
_PAIR = ("layer", "head", "query_index", "query", "key_index", "key", "weight", "share")


def explanation_csv(answer: Explanation) -> str:
    """The numbers of the picture: steps, new tokens, or the weight and share of each pair of units."""
    head = "mean" if answer.question.head is None else answer.question.head
    if answer.steps is not None:
        return written(answer, ["run", "layer", "head", "query", "key_index", "key", *_STEPS], _steps(answer))
    if answer.generated is not None and answer.question.token is None:
        rows = _new_tokens(answer.generated, [answer.question.layer, head])
        return written(answer, ["new_index", "new", "probability", *_PAIR], rows)
    return written(answer, ["run", *_PAIR], _pairs(answer, [answer.question.layer, head]))


def heads_csv(answer: Heads) -> str:
    """A row for each head, with empty cells where there was nothing to measure."""
    names = [measure.name for measure in answer.measures]
    rows = (
        [entry.layer, entry.head, entry.label, "; ".join(entry.labels), *(getattr(entry, name) for name in names)]
        for entry in answer.heads
    )
    return written(answer, ["layer", "head", "label", "labels", *names], rows)


def effects_csv(answer: Effects) -> str:
    """A row for each head, then one for each look that was cut; empty cells where a head wasn't cut."""
    names = ["query_index", "query", "key_index", "key", "effect", "weight", "passed", "first_order"]
    rows: list[Sequence[Any]] = []
    for layer, head in np.ndindex(answer.heads.shape):
        numbers = (answer.heads, answer.looks, answer.passed, answer.first_order)
        found = [
            None if one is None or one[layer, head] != one[layer, head] else float(one[layer, head]) for one in numbers
        ]
        rows.append(["head", layer, head, *[None] * 4, *found])
    for edge in answer.edges:
        ends = [place for end in (edge.query, edge.key) for place in (end, answer.tokens[end].text)]
        rows.append(["look", edge.layer, edge.head, *ends, edge.effect, edge.weight, edge.passed, None])
    columns = ["cut", "layer", "head", *names, "measure", "by", "complete"]
    told = [answer.measure, answer.question.by, answer.complete]
    return written(answer, columns, ([*row, *told] for row in rows))


def why_csv(answer: Why) -> str:
    """A row for each term of a split score."""
    start = [answer.layer, answer.head, answer.query.index, answer.query.text, answer.key.index, answer.key.text]
    rows = (
        [*start, query.name, key.name, value]
        for query, row in zip(answer.query_sources, answer.table.tolist(), strict=True)
        for key, value in zip(answer.key_sources, row, strict=True)
    )
    columns = ["layer", "head", "query_index", "query", "key_index", "key", "query_source", "key_source", "adds"]
    return written(answer, columns, rows)


def written(answer: Effects | Explanation | Heads | Why, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows of a table as CSV, each with its source: the model, the text and the version."""
    source = [answer.model.name, "".join(excerpt(answer.text, None, _EXCERPT)), VERSION]
    return table([*columns, *_SOURCE], ((*row, *source) for row in rows))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows of a table as CSV, with a header line; numbers in seven digits."""
    paper = io.StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return paper.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, bool):
        return int(value)
    return "" if value is None else float(f"{value:.7g}") if isinstance(value, float) else value


def _steps(answer: Explanation) -> Iterable[Sequence[Any]]:
    for run in answer.runs:
        if run.steps is not None:
            start = [run.name, run.steps.layer, run.steps.head, run.steps.text]
            for key in run.steps.keys:
                yield [*start, key.token, key.text, *(getattr(key, name) for name in _STEPS)]


def _new_tokens(found: Generated, where: Sequence[Any]) -> Iterable[Sequence[Any]]:
    for step in found.steps:
        start = [step.new.token, step.new.text, step.probability, *where, step.by.token, step.by.text]
        for look in step.looks_at:
            if not look.hidden:
                yield [*start, look.unit, look.text, look.weight, look.share]


def _pairs(answer: Explanation, where: Sequence[Any]) -> Iterable[Sequence[Any]]:
    units, question = answer.units, answer.question
    places = {unit: place for place, unit in enumerate(answer.shown)}
    for run in answer.runs:
        if run.looks_at is not None:
            for look in run.looks_at:
                query = [question.units[0], question.token]
                yield [run.name, *where, *query, look.unit, look.text, look.weight, look.share]
            continue
        shares = run.matrix.shares.tolist()
        for i, row in enumerate(run.matrix.weights.tolist()):
            for j, weight in enumerate(row):
                share = shares[places[i]][places[j]] if i in places and j in places else None
                yield [run.name, *where, i, units[i].text, j, units[j].text, weight, share]
