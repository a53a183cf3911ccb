"""The arithmetic of answers: pieces added up to words, shares, the heads that look hardest, and cosines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.units import Unit

Array = NDArray[np.float64]
HARDEST = 3


def by_unit(weights: NDArray[Any], units: Sequence[Unit]) -> Array:
    """Weights from units to units: over keys by sum, over queries by mean, so that rows go on summing to 1.

    Args:
        weights: (..., N, N), from tokens to tokens.
        units: U of them.

    Returns:
        (..., U, U).
    """
    members = np.zeros((len(units), weights.shape[-1]))
    for place, unit in enumerate(units):
        members[place, list(unit.tokens)] = 1
    averages = members / members.sum(axis=1, keepdims=True)
    result: Array = averages @ np.asarray(weights, np.float64) @ members.T
    return result


def from_tokens(weights: NDArray[Any], queries: Sequence[int], units: Sequence[Unit]) -> Array:
    """What the tokens `queries` give to each unit, their mean: (..., N, N) → (..., U)."""
    row = np.asarray(weights, np.float64)[..., list(queries), :].mean(axis=-2)
    return np.stack([row[..., list(unit.tokens)].sum(axis=-1) for unit in units], axis=-1)


def shares(weights: Array, shown: Sequence[int]) -> Array:
    """Each row's weights on the units that are shown, as shares of what it gives to them: (..., U) → (..., shown)."""
    kept = weights[..., list(shown)]
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total > 0, total, 1.0)


@dataclass(frozen=True)
class HardHead:
    """A head that looks hard at one word.

    Attributes:
        layer, head: counted from 0.
        unit: the unit that it looks at hardest.
        text: that unit's.
        weight: of everything that it gives.
    """

    layer: int
    head: int
    unit: int
    text: str
    weight: float


def hardest_heads(rows: Array, layer: int, units: Sequence[Unit], words: Sequence[int]) -> tuple[HardHead, ...]:
    """The three heads of a layer that give most to one word, hardest first.

    Args:
        rows: what each head gives to each unit, (H, U).
        layer: counted from 0.
        units: all U of them.
        words: the places of the units that count; special tokens don't.
    """
    kept = rows[:, list(words)]
    best = [words[int(place)] for place in kept.argmax(axis=1)]
    weight = kept.max(axis=1)
    order = np.argsort(-weight, kind="stable")[:HARDEST]
    return tuple(HardHead(layer, int(head), best[head], units[best[head]].text, float(weight[head])) for head in order)


def cosine(a: Array, b: Array) -> Array:
    """The cosine of the angle between vectors: (..., width), (..., width) → (...). 0 where one has no length."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    product = (a * b).sum(axis=-1)
    result: Array = np.clip(product / np.where(lengths > 0, lengths, 1.0), -1, 1)
    return result
