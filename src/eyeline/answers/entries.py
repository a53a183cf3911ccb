"""The parts that answers have in common: the model, tokens, units, and what is given to each unit."""

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
    """Which model, and its sizes; `positions` is the most tokens that it takes, None without a limit."""

    name: str
    layers: int
    heads: int
    key_heads: int
    head_dim: int
    positions: int | None


@dataclass(frozen=True)
class TokenEntry:
    """One of the model's tokens, and its place in the text, in characters; None for a special token.

    Attributes:
        unknown: whether it stands for a text that the vocabulary has no piece for, as [UNK].
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
    """What one bar or one row stands for: a word, a piece of one, or a special token.

    Attributes:
        set_aside: whether it isn't drawn among the others.
        joins_before, joins_after: whether it is a piece of a word that goes on before it, or after it.
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
    """The weight on one unit.

    Attributes:
        weight: of a row that sums to 1.
        share: of the total on the drawn units; None for a unit that is set aside.
        hidden: whether it may not be looked at.
    """

    unit: int
    text: str
    weight: float
    share: float | None
    hidden: bool


@dataclass(frozen=True)
class LayerCosine:
    """A cosine of two vectors after a layer, counted from 0; before all layers, of the embedding, `layer` is None."""

    layer: int | None
    cosine: float


@dataclass(frozen=True)
class ReceivedShare:
    """The share that a unit gets of a row, on average over the rows that are drawn."""

    unit: int
    text: str
    share: float


@dataclass(frozen=True, eq=False)
class UnitMatrix:
    """The weights from unit to unit.

    Attributes:
        weights: of all units, (U, U); rows sum to 1.
        shares: among those that are drawn, (S, S); rows sum to 1.
        hidden: which of those may not be looked at from which, (S, S); None where all may.
        received: the columns' means of `shares`.
    """

    weights: Array
    shares: Array
    hidden: NDArray[np.bool_] | None
    received: tuple[ReceivedShare, ...]


@dataclass(frozen=True)
class UnknownText:
    """The parts of a text that the tokenizer has no pieces for: the model reads `piece` in their place.

    Attributes:
        piece: the token that stands for it, such as [UNK].
        texts: the parts, as typed, each once, in order.
    """

    piece: str
    texts: tuple[str, ...]


def model_entry(trace: Trace) -> ModelEntry:
    """The model of a trace."""
    sizes = trace.model
    return ModelEntry(sizes.name, sizes.layers, sizes.heads, sizes.key_heads, sizes.head_dim, sizes.positions)


def token_entries(tokens: Tokens) -> tuple[TokenEntry, ...]:
    """Every token."""
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
    """The parts of the text that the tokenizer has no pieces for; None if it knows all of it."""
    if not tokens.unknown:
        return None
    texts = (tokens.text[slice(*tokens.offsets[place])].strip() for place in tokens.unknown)
    return UnknownText(tokens.pieces[tokens.unknown[0]], tuple(dict.fromkeys(texts)))


def unit_entries(units: Sequence[Unit], shown: Sequence[int]) -> tuple[UnitEntry, ...]:
    """Every unit, and whether it is set aside."""
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
    """The weight on each unit; `hidden` says which units the mask hides."""
    share = dict(zip(shown, shares(weights, shown).tolist(), strict=True))
    return tuple(
        Look(index, unit.text, float(weights[index]), share.get(index), hidden is not None and bool(hidden[index]))
        for index, unit in enumerate(units)
    )


def unit_matrix(weights: Array, units: Sequence[Unit], shown: Sequence[int], hidden: Any = None) -> UnitMatrix:
    """The weights from unit to unit, their shares among the drawn ones, and the mean share that each receives."""
    share = shares(weights[list(shown)], shown)
    received = tuple(
        ReceivedShare(place, units[place].text, float(value))
        for place, value in zip(shown, share.mean(axis=0), strict=True)
    )
    return UnitMatrix(weights, share, None if hidden is None else hidden[np.ix_(shown, shown)], received)


def given_aside(weights: Array, shown: Sequence[int]) -> float:
    """The total weight on the units that are set aside."""
    return float(np.delete(weights, list(shown)).sum())


def layer_cosines(cosines: Array) -> tuple[LayerCosine, ...]:
    """Cosines of the embedding, then after each layer."""
    return tuple(LayerCosine(place - 1 if place else None, float(value)) for place, value in enumerate(cosines))
