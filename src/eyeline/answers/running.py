"""Running a model over a text, and keeping of it only what an explanation shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.answers import numbers
from eyeline.answers.numbers import Array, HardHead
from eyeline.answers.question import Selection
from eyeline.answers.units import Found
from eyeline.calls import observe
from eyeline.masks import Mask
from eyeline.models.units import Unit, shown_of
from eyeline.readouts import Weights
from eyeline.reference import Steps
from eyeline.reference import steps as reference_steps

if TYPE_CHECKING:
    from eyeline.models import Layer, Model


@dataclass(frozen=True)
class HeadSteps:
    """One head's attention, step by step, for one token.

    Attributes:
        layer, head: counted from 1.
        chosen: "asked", or "hardest" if nobody did: the head that looks hardest at one word.
        token: position of the token whose steps these are.
        steps: every intermediate, for all tokens; row `token` is its own.
        key_head: whose keys and values these are, counted from 1: the head itself, unless several share one.
    """

    layer: int
    head: int
    chosen: Literal["asked", "hardest"]
    token: int
    steps: Steps
    key_head: int


@dataclass(frozen=True)
class RunNumbers:
    """The numbers of one run of the model: as trained, or with what was changed.

    Attributes:
        name: "as trained", "causal", "without ÷ √d" and so on.
        mask: the mask's name, if there is one.
        scale: what scores are multiplied by.
        head_weights: what each head of the layer gives from unit to unit, (H, U, U); rows sum to 1.
        matrix: the same for the head that was asked for, or the mean over heads, (U, U).
        hidden: which units may not be looked at from which, (U, U); None where all may.
        weights: what the token gives to each unit, (U,); None without a token.
        hardest: the three heads that look hardest at one word, for the token.
        moved: cosine of the token's vector with its own embedding at each layer, (layers + 1,).
        steps: step by step, if it was asked for.
    """

    name: str
    mask: str | None
    scale: float
    head_weights: Array
    matrix: Array
    hidden: NDArray[np.bool_] | None = None
    weights: Array | None = None
    hardest: tuple[HardHead, ...] = ()
    moved: Array | None = None
    steps: HeadSteps | None = None


@dataclass(frozen=True)
class Variant:
    """How the model is run.

    Attributes:
        name: "as trained", or what was changed.
        mask: where tokens may look, beside what the model says itself.
        mask_name: what it is called.
        scale: what scores are multiplied by; as trained if None.
    """

    name: str = "as trained"
    mask: Mask | None = None
    mask_name: str | None = None
    scale: float | None = None


@dataclass(frozen=True)
class Sight:
    """What is kept of a run.

    Attributes:
        layer: what happened in the layer that was asked for.
        weights: its weights, (H, N, N).
        vectors: the vector of the token that was asked about at each layer, the mean over its pieces,
            (layers + 1, width); None without one.
    """

    layer: Layer
    weights: NDArray[Any]
    vectors: Array | None


def look(
    model: Model,
    ids: Sequence[int],
    layer: int,
    queries: Sequence[int],
    mask: Mask | None = None,
    scale: float | None = None,
) -> Sight:
    """Run the model, of which one layer is kept and the vectors of the tokens `queries`; without any, no further."""
    vectors, kept = [_mean(model.embed([ids]), queries)], None
    for number, seen in enumerate(model.layers([ids], mask=mask, scale=scale), 1):
        kept = seen if number == layer else kept
        if number == layer and not queries:
            break
        vectors.append(_mean(seen.state, queries))
    assert kept is not None
    again = observe(kept.q, kept.k, kept.v, mask=kept.mask, scale=scale, read=Weights())
    assert again.weights is not None
    return Sight(kept, again.weights[0], np.stack(vectors) if queries else None)


def _mean(state: NDArray[Any], tokens: Sequence[int]) -> Array:
    total: Array = np.asarray(state[0, list(tokens)], np.float64).sum(axis=0)
    return total / max(len(tokens), 1)


def run_numbers(
    model: Model,
    ids: Sequence[int],
    units: Sequence[Unit],
    found: Found | None,
    where: Selection,
    variant: Variant,
    steps: int | bool,
) -> RunNumbers:
    """The numbers of one run.

    Args:
        model: the model.
        ids: the text's tokens.
        units: the text's units.
        found: the token that was asked about.
        where: the layer, and the head, None for the mean of all.
        variant: how the model is run.
        steps: whether to keep attention step by step; a number asks for that head's.
    """
    queries = [] if found is None else [position for unit in found.units for position in units[unit].tokens]
    sight = look(model, ids, where.layer, queries, variant.mask, variant.scale)
    by_head = numbers.by_unit(sight.weights, units)
    heads = slice(None) if where.head is None else slice(where.head - 1, where.head)
    scale = 1 / model.config.head_dim**0.5 if variant.scale is None else variant.scale
    matrix = by_head[heads].mean(axis=0)
    hidden = hidden_units(sight.layer.mask, sight.weights.shape, units)
    if found is None or sight.vectors is None:
        return RunNumbers(variant.name, variant.mask_name, scale, by_head, matrix, hidden)
    rows = numbers.from_tokens(sight.weights, queries, units)
    counted = shown_of(units, causal=model.config.causal, special=False, asked=found.units)
    hardest = tuple(numbers.hardest_heads(rows, where.layer, counted))
    kept = None
    if steps:
        head = hardest[0].head if steps is True else steps
        key_head = (head - 1) // (model.config.heads // model.config.key_heads)
        q, k, v = sight.layer.q[0, head - 1], sight.layer.k[0, key_head], sight.layer.v[0, key_head]
        kept = HeadSteps(
            where.layer,
            head,
            "hardest" if where.head is None else "asked",
            units[found.units[0]].tokens[0],
            reference_steps(q, k, v, mask=sight.layer.mask, scale=variant.scale),
            key_head + 1,
        )
    moved = numbers.cosine(sight.vectors, sight.vectors[0])
    row = rows[heads].mean(axis=0)
    return RunNumbers(variant.name, variant.mask_name, scale, by_head, matrix, hidden, row, hardest, moved, kept)


def hidden_units(mask: Mask | None, shape: tuple[int, ...], units: Sequence[Unit]) -> NDArray[np.bool_] | None:
    """Which units may not be looked at from which, by any head of (H, N, N)."""
    if mask is None:
        return None
    H, N, _ = shape
    allowed = np.asarray(mask.dense(N, heads=H).reshape(-1, N, N).any(axis=0))
    return np.asarray(numbers.by_unit(allowed, units) == 0)
