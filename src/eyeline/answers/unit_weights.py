"""The arithmetic of answers: weights between units, shares, the heads with the largest weights, and cosines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.units import Unit

Array = NDArray[np.float64]
HARDEST = 3


def by_unit(weights: NDArray[Any], units: Sequence[Unit], keys: Sequence[Unit] | None = None) -> Array:
    """Weights from unit to unit: the sum over keys and the mean over queries, so that rows still sum to 1.

    Args:
        weights: the weights from token to token, (..., N, M).
        units: the U units of the queries.
        keys: the K units of the keys; those of the queries if not given.

    Returns:
        (..., U, K).
    """
    queries = _members(units, weights.shape[-2])
    averages = queries / queries.sum(axis=1, keepdims=True)
    sums = queries if keys is None else _members(keys, weights.shape[-1])
    result: Array = averages @ np.asarray(weights, np.float64) @ sums.T
    return result


def _members(units: Sequence[Unit], count: int) -> Array:
    """1 for each of `count` tokens that is of a unit, else 0: (units, tokens)."""
    members = np.zeros((len(units), count))
    for place, unit in enumerate(units):
        members[place, list(unit.tokens)] = 1
    return members


def from_tokens(weights: NDArray[Any], queries: Sequence[int], units: Sequence[Unit]) -> Array:
    """The mean weight of the tokens `queries` on each unit of the keys: (..., N, M) → (..., U)."""
    row = np.asarray(weights, np.float64)[..., list(queries), :].mean(axis=-2)
    return np.stack([row[..., list(unit.tokens)].sum(axis=-1) for unit in units], axis=-1)


def shares(weights: Array, shown: Sequence[int]) -> Array:
    """Each row's weights on the shown units, as shares of their sum: (..., U) → (..., shown)."""
    kept = weights[..., list(shown)]
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total > 0, total, 1.0)


@dataclass(frozen=True)
class HardHead:
    """A head with a large weight on one word.

    Attributes:
        layer, head: counted from 0.
        unit: the unit with the largest weight.
        text: the text of that unit.
        weight: that weight, in a row that sums to 1.
    """

    layer: int
    head: int
    unit: int
    text: str
    weight: float


def hardest_heads(rows: Array, layer: int, units: Sequence[Unit], words: Sequence[int]) -> tuple[HardHead, ...]:
    """The three heads of a layer with the largest weights on one word, largest first.

    Args:
        rows: each head's weight on each unit, (H, U).
        layer: counted from 0.
        units: all U of them.
        words: the indices of the units that count; special tokens don't.
    """
    kept = rows[:, list(words)]
    best = [words[int(place)] for place in kept.argmax(axis=1)]
    weight = kept.max(axis=1)
    order = np.argsort(-weight, kind="stable")[:HARDEST]
    return tuple(HardHead(layer, int(head), best[head], units[best[head]].text, float(weight[head])) for head in order)


def cosine(a: Array, b: Array) -> Array:
    """The cosine of the angle between vectors: (..., width), (..., width) → (...). 0 where one has length 0."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    product = (a * b).sum(axis=-1)
    result: Array = np.clip(product / np.where(lengths > 0, lengths, 1.0), -1, 1)
    return result
