"""`rollout`: what a token's vector is made of, through all layers: attention rollout.

A layer leaves half of a token's vector as it was and takes the other half from what its heads gathered: Â = ½W + ½I, W
the mean of the heads' weights. The product of all layers' Â says how much of each token's first vector is in each
token's last one. Source: Abnar and Zuidema, "Quantifying Attention Flow in Transformers" (2020), section 3. It is a way
of tracing attention alone: what values and feed-forward layers make of a vector isn't in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

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
from eyeline.answers.question import QuestionError, asked_model, positive, read_text, where
from eyeline.answers.unit_weights import Array, by_unit, shares
from eyeline.answers.word_search import find
from eyeline.models.units import units_of
from eyeline.readouts import Received
from eyeline.traces import Keep, LayerTrace, TextModel, Trace, record_text
from eyeline.traces.text_model import AnyModel

#: Tokens up to which all of them are rolled out at once: n × n numbers, and as many again for each head.
MOST = 2048


@dataclass(frozen=True)
class RolloutQuestion:
    """What was asked.

    Attributes:
        token: the word whose vector it is, as it stands in the text; None for all.
        nth: which of its kind, from 1.
        units: the places of the units that it is made of.
        layer: after which layer, counted from 0.
        unit: what a bar or a row stands for.
        special: whether special tokens are drawn.
        top: how many words are drawn at most; None for a number that fits.
    """

    token: str | None
    nth: int | None
    units: tuple[int, ...]
    layer: int
    unit: Literal["word", "piece"]
    special: bool
    top: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Rollout(Answer):
    """What a token's vector is made of, through all layers. Made by `rollout`; print it to see it.

    Attributes:
        model: the model's name and sizes.
        text: the text.
        question: the question.
        tokens: the text as the model's tokens; N of them.
        unknown: the parts of the text that the tokenizer has no pieces for; None if there are none.
        units: what one bar or one row stands for: words (or pieces of them), and special tokens; U of them.
        shown: the places of the units that are drawn; the others are set aside.
        made_of: how much of each unit's first vectors there is in the token's; None for all tokens.
        set_aside: how much of those that are set aside; None for all tokens.
        matrix: the same of each unit; None for one token.
        by_token: how much of each token's first vector there is in it, (N,); of all tokens, (N, N). Rows sum to 1. Not
            part of the JSON, nor are the next two.
        by_unit: the same from unit to unit, (U,) or (U, U).
        trace: of the run.
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
        """Each drawn word's share of the drawn words' total: the bars' lengths; rows sum to 1."""
        rows = self.by_unit if self.matrix is None else self.by_unit[list(self.shown)]
        return shares(rows, self.shown)


def rollout(
    text: str,
    token: str | None = None,
    *,
    nth: int | None = None,
    layer: int | None = None,
    pieces: bool = False,
    special: bool = False,
    top: int | None = None,
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    kind: Literal["encoder", "decoder"] | None = None,
    target: str | None = None,
    progress: Callable[[str], None] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
) -> Rollout:
    """How much of each word there is in a token's vector, through all layers: attention rollout.

    One token needs no n × n matrix: its row goes down through the layers by products with their weights, which are
    made of q, k and lse as they are needed. All tokens at once are the product of the layers' matrices.

    Args:
        text: one word or more, as many tokens as the model has positions at most; 2,048 without a token.
        token: the word whose vector it is, as typed or nearly so, or several words in a row: the mean of its pieces.
        nth: which one, from 1, where the word is there more than once.
        layer: after which layer, counted from 0; the last if not given.
        pieces: show the tokenizer's pieces, not words. Pieces add up to words.
        special: show special tokens among the words, not set aside.
        top, model, tokenizer, kind, target: as for `explain`.
        progress: called with a line of text at each step of fetching a model.
        layer_done: called after each layer with how many are done and how many there are.

    Returns:
        `Rollout`, which prints itself, and draws itself in a notebook.

    Raises:
        QuestionError: if the text, the token or the layer isn't one that can be answered; a ValueError.
        ModelError: if the model is unknown or its files are wrong; a ValueError.

    >>> found = rollout("time flies like an arrow", "flies")
    >>> dict(zip(found.words, found.shares.round(2).tolist()))
    {'time': 0.2, 'flies': 0.32, 'like': 0.17, 'an': 0.16, 'arrow': 0.15}
    """
    if nth is not None and token is None:
        raise QuestionError("token must be given with nth", "add token=...", "add --token WORD")
    top = positive("top", top)
    runs_on = asked_model(model, tokenizer, kind, target, progress)
    where(runs_on, layer, None)
    read = read_text(runs_on, text)
    tokens, units = read.tokens, units_of(read.tokens, pieces)
    found = None if token is None else find(token, nth, units, tokens.text, special)
    if found is None and len(tokens) > MOST:
        raise QuestionError(
            f"text must be {MOST} tokens at most to roll out all of them, got {len(tokens)}",
            "say which with token=...",
            "say which with --token WORD",
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
    """What tokens gather in a layer, weighted: row·W, W the mean over heads of its weights, without W.

    Σᵢ rᵢ·exp(sᵢⱼ - lseᵢ) = Σᵢ exp(sᵢⱼ - (lseᵢ - ln rᵢ)): what key j receives, where each query's weights are shares
    of another total than their own.

    Args:
        row: the tokens' own weights, none of them negative, (N,).
        layer: of a text of N tokens.

    Returns:
        (N,).
    """
    some = np.flatnonzero(row)
    if not some.size:
        return np.zeros(len(row))
    first, last = int(some[0]), int(some[-1]) + 1
    with np.errstate(divide="ignore"):
        lse = layer.lse[:, first:last] - np.log(row[first:last])
    seen = layer.observe(Received(), queries=(first, last), lse=lse)
    return np.asarray(seen.received.mean(axis=(0, 1), dtype=np.float64))


def roll_all(layers: Sequence[LayerTrace]) -> Array:
    """The rollout of every token after these layers, (N, N)."""
    result = np.eye(layers[0].q.shape[1])
    for layer in layers:
        result = (result + layer.weights.mean(axis=0, dtype=np.float64) @ result) / 2
    return result
