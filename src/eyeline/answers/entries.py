"""The parts that answers share: the model, tokens, units, and the weights on units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.unit_weights import Array, shares
from eyeline.models import Tokens
from eyeline.models.units import Unit
from eyeline.traces import Trace


@dataclass(frozen=True)
class ModelEntry:
    """A model's name and sizes; `positions` is its maximum number of tokens, None without a limit."""

    name: str
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    positions: int | None


@dataclass(frozen=True)
class TokenEntry:
    """One of the model's tokens, with its start and end in the text, in characters (None for a special token).

    Attributes:
        unknown: whether it is an unknown token, such as [UNK], which stands for text that the vocabulary lacks.
    """

    index: int
    id: int
    piece: str
    text: str
    start: int | None
    end: int | None
    special: bool
    word: int | None
    unknown: bool


@dataclass(frozen=True)
class UnitEntry:
    """The unit of a bar or a row: a word, a piece of a word, or a special token.

    Attributes:
        set_aside: whether it isn't drawn as a word of its own: pictures have one part for all of these.
        joins_before, joins_after: whether its word has pieces before it, or after it.
    """

    index: int
    text: str
    start: int | None
    end: int | None
    tokens: tuple[int, ...]
    set_aside: bool
    joins_before: bool
    joins_after: bool


@dataclass(frozen=True)
class Look:
    """The weight of a query on one unit.

    Attributes:
        weight: the weight, in a row that sums to 1.
        share: the weight as a share of the total on the drawn units; None for a unit that is set aside.
        hidden: whether the mask hides it.
    """

    unit: int
    text: str
    weight: float
    share: float | None
    hidden: bool


@dataclass(frozen=True)
class LayerCosine:
    """The cosine of two vectors after a layer, counted from 0; `layer` is None for the embedding."""

    layer: int | None
    cosine: float


@dataclass(frozen=True)
class ReceivedShare:
    """The weight and the share that a unit receives, averaged over the drawn rows."""

    unit: int
    text: str
    weight: float
    share: float


@dataclass(frozen=True, eq=False)
class UnitMatrix:
    """The weights from unit to unit.

    Attributes:
        weights: the weights between all units, (U, U); rows sum to 1.
        shares: the shares among the drawn units, (S, S); rows sum to 1.
        hidden: which pairs of drawn units the mask hides, (S, S); None if none.
        received: the column means of `weights` and of `shares`, over the drawn rows.
    """

    weights: Array
    shares: Array
    hidden: NDArray[np.bool_] | None
    received: tuple[ReceivedShare, ...]


@dataclass(frozen=True)
class UnknownText:
    """The text that the tokenizer's vocabulary lacks: the model reads `piece` in its place.

    Attributes:
        piece: the unknown token, such as [UNK].
        texts: the parts, as typed, each once, in order.
    """

    piece: str
    texts: tuple[str, ...]


def model_entry(trace: Trace) -> ModelEntry:
    """Make the entry of a trace's model."""
    sizes = trace.model
    return ModelEntry(sizes.name, sizes.layers, sizes.heads, sizes.key_heads, sizes.head_dim, sizes.positions)


def token_entries(tokens: Tokens) -> tuple[TokenEntry, ...]:
    """Make the entries of all tokens."""
    unknown = set(tokens.unknown)
    entries = []
    for index, (first, last) in enumerate(tokens.offsets):
        special = tokens.special[index]
        entries.append(
            TokenEntry(
                index,
                tokens.ids[index],
                tokens.pieces[index],
                tokens.pieces[index] if special else tokens.text[first:last],
                None if special else first,
                None if special else last,
                special,
                tokens.words[index],
                index in unknown,
            )
        )
    return tuple(entries)


def unknown_text(tokens: Tokens) -> UnknownText | None:
    """Find the text that the tokenizer's vocabulary lacks; None if there is none."""
    if not tokens.unknown:
        return None
    texts = (tokens.text[slice(*tokens.offsets[place])].strip() for place in tokens.unknown)
    return UnknownText(tokens.pieces[tokens.unknown[0]], tuple(dict.fromkeys(texts)))


def unit_entries(units: Sequence[Unit], shown: Sequence[int]) -> tuple[UnitEntry, ...]:
    """Make the entries of all units."""
    drawn = set(shown)
    return tuple(
        UnitEntry(
            index,
            unit.text,
            unit.span[0] if unit.span else None,
            unit.span[1] if unit.span else None,
            unit.tokens,
            index not in drawn,
            *unit.joins,
        )
        for index, unit in enumerate(units)
    )


def looks(weights: Array, units: Sequence[Unit], shown: Sequence[int], hidden: Any = None) -> tuple[Look, ...]:
    """Make the entries of a query's weights on all units; `hidden` marks the units that the mask hides."""
    share = dict(zip(shown, shares(weights, shown).tolist(), strict=True))
    return tuple(
        Look(index, unit.text, float(weights[index]), share.get(index), hidden is not None and bool(hidden[index]))
        for index, unit in enumerate(units)
    )


def unit_matrix(weights: Array, units: Sequence[Unit], shown: Sequence[int], hidden: Any = None) -> UnitMatrix:
    """Make the matrix of weights between units, with the shares among drawn units and the mean share that each
    receives."""
    rows = weights[list(shown)]
    share = shares(rows, shown)
    means = zip(shown, rows[:, list(shown)].mean(axis=0), share.mean(axis=0), strict=True)
    received = tuple(
        ReceivedShare(place, units[place].text, float(weight), float(part)) for place, weight, part in means
    )
    return UnitMatrix(weights, share, None if hidden is None else hidden[np.ix_(shown, shown)], received)


def given_aside(weights: Array, shown: Sequence[int]) -> float:
    """The total weight on the units that are set aside."""
    return float(np.delete(weights, list(shown)).sum())


def layer_cosines(cosines: Array) -> tuple[LayerCosine, ...]:
    """Make the entries of cosines: for the embedding, then after each layer."""
    return tuple(LayerCosine(place - 1 if place else None, float(value)) for place, value in enumerate(cosines))
