"""The answer of `why`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.entries import ModelEntry
from eyeline.models.residual_stream import ResidualSource
from eyeline.traces import Trace

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class WhyToken:
    """A token of the question: its position, its id, and its text (the tokenizer's spelling, if it is special)."""

    index: int
    id: int
    text: str


@dataclass(frozen=True)
class Term:
    """One term of the sum: what a source at the query's token and one at the key's add to the score."""

    query: ResidualSource
    key: ResidualSource
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Why(Answer):
    """A score, split by what was written into the residual stream before. Made by `why`; print it to see it.

    A score is scale · q·k, before softmax, and before whatever else the model does to scores.

    Attributes:
        model: the model's name and sizes.
        text: the text.
        run: the name of the run: "as trained", or its changes.
        layer, head: from 0.
        query, key: the two tokens.
        query_sources: the S sources of the query, in the order in which they were written.
        key_sources: the T sources of the key.
        table: float64, (S, T): what each pair adds to the score.
        score: the score of the vectors that the sources sum to, in float64.
        run_score: the score of the run's own q and k.
        same_place: the score if the key's token stood at the query's place, all else as it was: where positions are
            rotary, of q and k turned alike; where they are added to the embedding, with the query's position in place
            of the key's as a source.
        positions: how the model has positions: "rotary" (no source) or "added" (a source).
        weight: the weight of the query on the key.
        changes: what else the model does to its scores: "cap", "bias", "sink".
        trace: the run. Not part of the JSON.
    """

    model: ModelEntry
    text: str
    run: str
    layer: int
    head: int
    query: WhyToken
    key: WhyToken
    query_sources: tuple[ResidualSource, ...]
    key_sources: tuple[ResidualSource, ...]
    table: Float64
    score: float
    run_score: float
    same_place: float
    positions: Literal["rotary", "added"]
    weight: float
    changes: tuple[str, ...]
    trace: Trace = field(metadata=PYTHON_ONLY)

    schema: ClassVar[str] = "eyeline.why/1"

    @property
    def by_query_source(self) -> Float64:
        """What each source of the query adds, with all of the key: (S,)."""
        return np.asarray(self.table.sum(axis=1))

    @property
    def by_key_source(self) -> Float64:
        """What each source of the key adds, with all of the query: (T,)."""
        return np.asarray(self.table.sum(axis=0))

    @property
    def is_grouped(self) -> bool:
        """Whether each layer's heads are one source, as `grouped` makes them."""
        return any(source.kind == "head" and source.head is None for source in self.query_sources)

    def grouped(self) -> Why:
        """The same with the sources of each layer together: its heads, its MLP, its biases."""
        (query_sources, rows), (key_sources, columns) = _groups(self.query_sources), _groups(self.key_sources)
        table = np.zeros((len(query_sources), len(key_sources)))
        np.add.at(table, (rows[:, None], columns), self.table)
        return replace(self, query_sources=query_sources, key_sources=key_sources, table=table)

    def largest(self, n: int = 10) -> tuple[Term, ...]:
        """The n terms that are largest, up or down, largest first; all if there are fewer."""
        order = np.argsort(-np.abs(self.table), axis=None, kind="stable")[: max(n, 0)]
        rows, columns = np.unravel_index(order, self.table.shape)
        return tuple(
            Term(self.query_sources[row], self.key_sources[column], float(self.table[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        )


def _groups(sources: Sequence[ResidualSource]) -> tuple[tuple[ResidualSource, ...], NDArray[np.int64]]:
    """The groups of sources, in order, and each source's."""
    found: dict[ResidualSource, int] = {}
    places = []
    for source in sources:
        group = source
        if source.layer is not None and source.kind in ("head", "bias"):
            many = "heads" if source.kind == "head" else "biases"
            group = ResidualSource(f"L{source.layer} {many}", source.kind, source.layer)
        places.append(found.setdefault(group, len(found)))
    return tuple(found), np.array(places, np.int64)
