"""`rollout`: attention rollout, each input token's share in a token's vector after several layers.

Each layer is taken to keep half of a token's vector and to mix in the other half by attention: Â = ½W + ½I, where W is
the mean of the heads' weights. The product of all layers' Â is the share of each token's first vector in each token's
last one. Source: Abnar and Zuidema, "Quantifying Attention Flow in Transformers" (2020), section 3. Rollout traces
attention alone: it ignores values and feed-forward layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from eyeline.answers import unit_weights
from eyeline.answers.answer import PYTHON_ONLY, Answer
from eyeline.answers.entries import (
    Look,
    ModelEntry,
    TokenEntry,
    UnitEntry,
    UnitMatrix,
    UnknownText,
    given_aside,
    looks,
    model_entry,
    token_entries,
    unit_entries,
    unit_matrix,
    unknown_text,
)
from eyeline.answers.question import QuestionError, asked_model, check_special, positive, read_text, where
from eyeline.answers.unit_weights import Array, by_unit
from eyeline.models.units import units_of
from eyeline.readouts import Received
from eyeline.traces import Keep, LayerTrace, TextModel, Trace, record_text
from eyeline.traces.text_model import AnyModel
from eyeline.traces.word_search import find
from eyeline.words import worded

#: The largest number of tokens for the rollout of all tokens: it takes n × n numbers, and as many per head.
MOST = 2048


@dataclass(frozen=True)
class RolloutQuestion:
    """The question.

    Attributes:
        token: the word whose vector is traced, as written in the text; None for all.
        nth: which occurrence of the word, from 1.
        units: the indices of the word's units.
        layer: the vector is the one after this layer, counted from 0.
        unit: the unit of a bar or a row, "word" or "piece".
        special: whether special tokens are drawn one by one.
        shares: whether the drawn numbers are shares of the words alone, and not of the whole vector.
        top: the largest number of words drawn; None for a number that fits.
    """

    token: str | None
    nth: int | None
    units: tuple[int, ...]
    layer: int
    unit: Literal["word", "piece"]
    special: bool
    shares: bool
    top: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Rollout(Answer):
    """The attention rollout of one token or of all. Made by `rollout`; print it to see it.

    Attributes:
        model: the model's name and sizes.
        text: the text.
        question: the question.
        tokens: the model's tokens of the text, N of them.
        unknown: the text that the tokenizer's vocabulary lacks; None if there is none.
        units: the words (or pieces of words) and special tokens, each a bar or a row; U of them.
        shown: the indices of the units that are drawn; the others are set aside.
        made_of: the share of each unit's first vectors in the token's vector; None for all tokens.
        set_aside: the total share of the units that are set aside; None for all tokens.
        matrix: the shares in each unit's vector; None for one token.
        by_token: the share of each token's first vector, (N,); for all tokens, (N, N). Rows sum to 1. Not part of the
            JSON, nor are the next two.
        by_unit: the same by units, (U,) or (U, U).
        trace: the trace of the run.
    """

    model: ModelEntry
    text: str
    question: RolloutQuestion
    tokens: tuple[TokenEntry, ...]
    unknown: UnknownText | None
    units: tuple[UnitEntry, ...]
    shown: tuple[int, ...]
    made_of: tuple[Look, ...] | None
    set_aside: float | None
    matrix: UnitMatrix | None
    by_token: Array = field(metadata=PYTHON_ONLY)
    by_unit: Array = field(metadata=PYTHON_ONLY)
    trace: Trace = field(metadata=PYTHON_ONLY)

    schema: ClassVar[str] = "eyeline.rollout/2"

    @property
    def words(self) -> list[str]:
        """The drawn words, in reading order, as typed."""
        return [self.units[place].text for place in self.shown]

    @property
    def shares(self) -> Array:
        """Each drawn word's share of the drawn words' total; rows sum to 1: what is drawn with `shares=True`."""
        rows = self.by_unit if self.matrix is None else self.by_unit[list(self.shown)]
        return unit_weights.shares(rows, self.shown)


def rollout(
    text: str,
    token: str | None = None,
    *,
    nth: int | None = None,
    layer: int | None = None,
    pieces: bool = False,
    special: bool = False,
    shares: bool = False,
    top: int | None = None,
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    kind: Literal["encoder", "decoder"] | None = None,
    target: str | None = None,
    progress: Callable[[str], None] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Rollout:
    """Attention rollout: the share of each word in a token's vector after all layers.

    One token needs no n × n matrix: its row is multiplied by the weights of each layer from the last to the first, and
    these are computed on the fly from q, k and lse. For all tokens, the layers' matrices are multiplied.

    Args:
        text: one or more words, with at most as many tokens as the model has positions, and at most 2,048 without
            `token`.
        token: the word whose vector is traced, spelled exactly or nearly so, or several words in a row: the mean of its
            pieces.
        nth: which occurrence, from 1, if the word occurs more than once.
        layer: trace the vector after this layer, counted from 0; the last if not given.
        pieces: show the tokenizer's pieces instead of words. Pieces add up to words.
        special: draw special tokens one by one, and not as one part of the row.
        shares: draw shares of the words alone, and not of the whole vector.
        top, model, tokenizer, kind, target: as for `explain`.
        progress: called with a line of text at each step of fetching a model.
        layer_done: called after each layer with the number of finished layers and of all layers.

    Returns:
        `Rollout`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text, the token or the layer is invalid; a ValueError.
        ModelError: if the model is unknown or its files are invalid; a ValueError.

    >>> found = rollout("time flies like an arrow", "flies")
    >>> dict(zip(found.words, found.shares.round(2).tolist()))
    {'time': 0.2, 'flies': 0.32, 'like': 0.17, 'an': 0.16, 'arrow': 0.15}
    """
    if nth is not None and token is None:
        raise QuestionError(worded("token must be given with nth"), worded("add token=..."), worded("add --token WORD"))
    check_special(special, shares)
    top = positive("top", top)
    runs_on = asked_model(model, tokenizer, kind, target, progress)
    where(runs_on, layer, None)
    read = read_text(runs_on, text)
    tokens, units = read.tokens, units_of(read.tokens, pieces)
    found = None if token is None else find(token, nth, units, tokens.text, special)
    if found is None and len(tokens) > MOST:
        raise QuestionError(
            worded(
                "text must be {most} tokens at most to roll out all of them, got {count}", most=MOST, count=len(tokens)
            ),
            worded("say which with token=..."),
            worded("say which with --token WORD"),
        )
    trace = record_text(runs_on, read, keep=Keep(values=False, changed_scores=True), layer_done=layer_done)
    layer = where(trace.model, layer, None).layer
    shown = tuple(index for index, unit in enumerate(units) if special or not unit.extra)
    through = trace.layers[: layer + 1]
    if found is None:
        by_token = roll_all(through)
        rows = by_unit(by_token, units)
    else:
        by_token = roll(through, found.tokens(units))
        rows = np.array([by_token[list(unit.tokens)].sum() for unit in units])
    return Rollout(
        model_entry(trace),
        tokens.text,
        RolloutQuestion(
            None if found is None else found.text,
            None if found is None else found.nth,
            () if found is None else found.units,
            layer,
            "piece" if pieces else "word",
            special,
            shares,
            top,
        ),
        token_entries(tokens),
        unknown_text(tokens),
        unit_entries(units, shown),
        shown,
        None if found is None else looks(rows, units, shown),
        None if found is None else given_aside(rows, shown),
        unit_matrix(rows, units, shown) if found is None else None,
        by_token,
        rows,
        trace,
    )


def roll(layers: Sequence[LayerTrace], queries: Sequence[int]) -> Array:
    """The mean rollout of the tokens at `queries` after these layers, (N,), in O(layers · N) memory."""
    row = np.zeros(layers[0].q.shape[1])
    row[list(queries)] = 1 / len(queries)
    for layer in reversed(layers):
        row = (row + gathered(row, layer)) / 2
    return row


def gathered(row: Array, layer: LayerTrace) -> Array:
    """Compute row·W without building W, the mean of a layer's weights over heads.

    Σᵢ rᵢ·exp(sᵢⱼ - lseᵢ) = Σᵢ exp(sᵢⱼ - (lseᵢ - ln rᵢ)): the weight that key j receives if each query has the lse in
    brackets.

    Args:
        row: a factor for each query, not negative, (N,).
        layer: a layer over N tokens.

    Returns:
        (N,).
    """
    some = np.flatnonzero(row)
    if not some.size:
        return np.zeros(len(row))
    first, last = int(some[0]), int(some[-1]) + 1
    seen = layer.observe(Received(), queries=(first, last), factor=row[first:last])
    return np.asarray(seen.received.mean(axis=(0, 1), dtype=np.float64))


def roll_all(layers: Sequence[LayerTrace]) -> Array:
    """The rollout of every token after these layers, (N, N)."""
    result = np.eye(layers[0].q.shape[1])
    for layer in layers:
        result = (result + layer.weights.mean(axis=0, dtype=np.float64) @ result) / 2
    return result
