"""Rotary positions: queries and keys rotated by angles proportional to position, so that scores depend on distance.

Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021). A head's first half
is paired with its second, as in Llama's checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.checkpoints import Array
from eyeline.models.config import ConfigSettings, short
from eyeline.models.errors import ModelError
from eyeline.words import worded

Turn = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Rotary:
    """The rotation speed of each pair of a head's numbers.

    Attributes:
        speeds: radians per token, (D/2,).
    """

    speeds: Array

    def turn(self, first: int, count: int) -> Turn:
        """The cosines and sines of `count` positions from `first` on, (count, D/2) each."""
        return self.turn_at(np.arange(first, first + count))

    def turn_at(self, positions: NDArray[np.int64]) -> Turn:
        """The cosines and sines of some positions, (N,): (N, D/2) each."""
        angles = positions.astype(np.float32)[:, None] * self.speeds
        exact = angles.astype(np.float64)  # float32 sines of large angles differ between libraries
        return np.cos(exact).astype(np.float32), np.sin(exact).astype(np.float32)


def read_rotary(settings: ConfigSettings, head_dim: int) -> Rotary:
    """The rotary positions of config.json, under the old names (rope_theta, rope_scaling) or the new one.

    Raises:
        ModelError: if their scaling isn't one of `SCALINGS`.
    """
    name = "rope_scaling" if settings.get("rope_parameters") is None else "rope_parameters"
    given = settings.get(name) or {}
    if not isinstance(given, dict):
        settings.wrong(name, "an object")
    kind = given.get("rope_type") or given.get("type") or "default"
    if not isinstance(kind, str) or kind not in SCALINGS:
        raise ModelError(
            worded(
                "{path}: rope_type in {name} must be one that Eyeline runs ({scalings}), got {value}; take a "
                "model without it",
                path=settings.path,
                name=name,
                scalings=", ".join(SCALINGS),
                value=short(kind),
            )
        )
    for whole in (given, {"partial_rotary_factor": settings.get("partial_rotary_factor")}):
        if whole.get("partial_rotary_factor") not in (None, 1):
            raise ModelError(
                worded(
                    "{path}: partial_rotary_factor must be 1, got {value}; take a model whose heads turn whole",
                    path=settings.path,
                    value=short(whole["partial_rotary_factor"]),
                )
            )

    def number(key: str, otherwise: Any = None, above: float = 0.0) -> float:
        value = given.get(key)
        value = otherwise if value is None else value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not above < value < 1e30:
            raise ModelError(
                worded(
                    "{path}: {key} in {name} must be a number above {above:g}, got {value}",
                    path=settings.path,
                    key=key,
                    name=name,
                    above=above,
                    value=short(value),
                )
            )
        return float(value)

    theta = number("rope_theta", settings.number("rope_theta", 10000.0, 1e30))
    # Every step in float32, as in training: at position 8,000 a difference in the last digit rotates by 0.0005.
    exponents = np.arange(0, head_dim, 2, dtype=np.float32) / np.float32(head_dim)
    speeds = np.float32(1) / np.power(theta, exponents.astype(np.float64)).astype(np.float32)
    return Rotary(SCALINGS[kind](speeds, number).astype(np.float32))


def _as_trained(speeds: Array, number: Callable[..., float]) -> Array:
    return speeds


def _linear(speeds: Array, number: Callable[..., float]) -> Array:
    """All speeds divided by a factor. Source: Chen et al., "Extending Context Window of LLMs via Positional
    Interpolation"."""
    return speeds / np.float32(number("factor"))


def _llama3(speeds: Array, number: Callable[..., float]) -> Array:
    """Low speeds divided by a factor, high speeds unchanged, and speeds between them interpolated.

    Source: the Llama 3.1 models (Meta, 2024), whose config.json has the four numbers.
    """
    factor, low = number("factor"), number("low_freq_factor")
    high = number("high_freq_factor", above=low)
    turns = number("original_max_position_embeddings") * speeds / (2 * math.pi)  # in the training length
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return np.asarray((1 - kept) * speeds / factor + kept * speeds, np.float32)


#: The scalings of the speeds, by their names in config.json.
SCALINGS: dict[str, Callable[[Array, Callable[..., float]], Array]] = {
    "default": _as_trained,
    "linear": _linear,
    "llama3": _llama3,
}
