"""`rollout`: what a token's vector is made of, through all layers: attention rollout.

A layer leaves half of a token's vector as it was and takes the other half from what its heads gathered: Â = ½W + ½I, W
the mean of the heads' weights. The product of all layers' Â says how much of each token's first vector is in each
token's last one. Source: Abnar and Zuidema, "Quantifying Attention Flow in Transformers" (2020), section 3. It is a way
of tracing attention alone: what values and feed-forward layers make of a vector isn't in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from eyeline.answers import numbers
from eyeline.answers.numbers import Array
from eyeline.answers.question import QuestionError, loaded, sizes_of, tokens_of, where
from eyeline.answers.shown import Shown
from eyeline.answers.units import Found, find
from eyeline.calls import observe
from eyeline.masks import Causal
from eyeline.models.units import Unit, units_of
from eyeline.readouts import Received, Weights

if TYPE_CHECKING:
    from eyeline.models import Layer, Model, Tokens
    from eyeline.views import document
    from eyeline.views.terminal import Drawing

#: Tokens up to which all of them are rolled out at once: n × n numbers, and as many again for each head.
MOST = 2048


@dataclass(frozen=True)
class Rollout(Shown):
    """What a token's vector is made of, through all layers. Made by `rollout`; print it to see it.

    Attributes:
        model: the model's name.
        sizes: its layers, heads, head width and positions.
        tokens: the text as the model's tokens; N of them.
        units: what one bar or one row stands for: words (or pieces of them), and special tokens; U of them.
        shown: the places of the units that are drawn; the others are set aside.
        token: the token that was asked about, None for all.
        layer: whose vectors these are, counted from 1.
        by_token: how much of each token's first vector there is in it, (N,); of all tokens, (N, N). Rows sum to 1.
        by_unit: the same from unit to unit, (U,) or (U, U).
        pieces: whether units are pieces.
        special: whether special tokens are drawn.
    """

    model: str
    sizes: dict[str, int]
    tokens: Tokens
    units: tuple[Unit, ...]
    shown: tuple[int, ...]
    token: Found | None
    layer: int
    by_token: Array
    by_unit: Array
    pieces: bool
    special: bool

    @property
    def words(self) -> list[str]:
        """What is drawn, in reading order, as typed."""
        return [self.units[place].text for place in self.shown]

    @property
    def shares(self) -> Array:
        """Of what comes from the words, what comes from each: what the bars show; rows sum to 1."""
        rows = self.by_unit if self.token is not None else self.by_unit[list(self.shown)]
        return numbers.shares(rows, self.shown)

    @cached_property
    def document(self) -> document.Rollout:
        """All of it as plain data: what `--json` prints. docs/json.md says what each key means."""
        from eyeline.answers.rolled_documents import rollout_document

        return rollout_document(self)

    def __repr__(self) -> str:
        from eyeline.views.rollout import found, heading

        return f"<Rollout of {self.tokens.text[:60]!r}: {heading(self.document)} · {found(self.document)}>"

    def __rich__(self) -> Drawing:
        from eyeline.views.rollout import rollout
        from eyeline.views.terminal import Drawing

        return Drawing(lambda ink: rollout(self.document, ink))

    def _repr_html_(self) -> str:
        from eyeline.views.rollout_html import rollout_html

        return rollout_html(self.document)


def rollout(
    text: str,
    token: str | None = None,
    *,
    nth: int | None = None,
    layer: int | None = None,
    pieces: bool = False,
    special: bool = False,
    model: str | os.PathLike[str] | Model = "minilm",
    progress: Callable[[str], None] | None = None,
) -> Rollout:
    """How much of each word there is in a token's vector, through all layers: attention rollout.

    One token needs no n × n matrix: its row goes down through the layers by products with their weights, which are
    made of q, k and lse as they are needed. All tokens at once are the product of the layers' matrices.

    Args:
        text: one word or more, as many tokens as the model has positions at most; 2,048 without a token.
        token: the word whose vector it is, as typed or nearly so, or several words in a row: the mean of its pieces.
        nth: which one, from 1, where the word is there more than once.
        layer: after which layer, 1 to the model's layers; the last if not given.
        pieces: show the tokenizer's pieces, not words. Pieces add up to words.
        special: show special tokens among the words, not set aside.
        model: a name of the catalogue, a folder, or a loaded model.
        progress: called with a line of text at each step of fetching a model.

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
    model = loaded(model, progress)
    after = where(model, layer, None).layer
    tokens = tokens_of(model, text)
    units = units_of(tokens, pieces)
    found = None if token is None else find(token, nth, units, text, special)
    shown = tuple(index for index, unit in enumerate(units) if special or not unit.extra)
    causal = model.config.causal
    if found is None:
        if len(tokens) > MOST:
            raise QuestionError(
                f"text must be {MOST} tokens at most to roll out all of them, got {len(tokens)}",
                "say which with token=...",
                "say which with --token WORD",
            )
        by_token = roll_all(model, tokens.ids, after)
        by_unit = numbers.by_unit(by_token, units)
    else:
        queries = [position for unit in found.units for position in units[unit].tokens]
        by_token = roll(model, tokens.ids, queries, after, causal)
        by_unit = np.array([by_token[list(unit.tokens)].sum() for unit in units])
    sizes = sizes_of(model)
    return Rollout(model.name, sizes, tokens, tuple(units), shown, found, after, by_token, by_unit, pieces, special)


def roll(model: Model, ids: list[int], queries: list[int], after: int, causal: bool) -> Array:
    """The mean rollout of the tokens at `queries` after so many layers, (N,), in O(layers · N) memory."""
    # What stands after a token is nothing to it where tokens look only back.
    end = max(queries) + 1 if causal else len(ids)
    kept = [layer for _, layer in zip(range(after), model.layers([ids[:end]]), strict=False)]
    row = np.zeros(len(ids))
    row[queries] = 1 / len(queries)
    while kept:
        row[:end] = (row[:end] + gathered(row[:end], kept.pop(), causal=causal)) / 2
    return row


def gathered(row: Array, layer: Layer, *, causal: bool, scale: float | None = None) -> Array:
    """What tokens gather in a layer, weighted: row·W, W the mean over heads of its weights, without W.

    Σᵢ rᵢ·exp(sᵢⱼ - lseᵢ) = Σᵢ exp(sᵢⱼ - (lseᵢ - ln rᵢ)): what key j receives, where each query's weights are shares
    of another total than their own.

    Args:
        row: the tokens' own weights, none of them negative, (N,).
        layer: what happened in it, of one text of N tokens.
        causal: whether tokens look only back.
        scale: what scores were multiplied by; 1/√D if not given.

    Returns:
        (N,).
    """
    some = np.flatnonzero(row)
    result = np.zeros(len(row))
    if not some.size:
        return result
    first, last = some[0], some[-1] + 1
    keys = last if causal else len(row)
    q, k = layer.q[:, :, first:last], layer.k[:, :, :keys]
    with np.errstate(divide="ignore"):
        lse = layer.lse[:, :, first:last] - np.log(row[first:last])
    mask = Causal(align="end") if causal else None
    seen = observe(q, k, k[..., :0], mask=mask, scale=scale, read=Received(), lse=lse)
    result[:keys] = seen[Received][0].mean(axis=0, dtype=np.float64)
    return result


def roll_all(model: Model, ids: list[int], after: int) -> Array:
    """The rollout of every token after so many layers, (N, N)."""
    result = np.eye(len(ids))
    for _, layer in zip(range(after), model.layers([ids], read=Weights()), strict=False):
        assert layer.weights is not None
        result = (result + layer.weights[0].mean(axis=0, dtype=np.float64) @ result) / 2
    return result
