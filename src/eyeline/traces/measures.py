"""Summary numbers and a thumbnail of every head, read while the model runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.readouts import Entropy, GroupMass, MeanDistance, Pooled, Readout
from eyeline.readouts.observation import Observation
from eyeline.traces.tokenized_text import TokenizedText

Array = NDArray[Any]
#: The largest number of rows and of columns in a head's thumbnail.
PICTURE = 32


@dataclass(frozen=True, eq=False)
class Measures:
    """Per head and layer: means over the queries that may look at any key, and a thumbnail of the weights.

    Attributes:
        entropy: (L, H), in nats.
        distance: (L, H), |i - j| in tokens; None where queries and keys are different sequences.
        aside: (L, H), the share of the weight on tokens that are set aside (see `TokenizedText`).
        pictures: uint8, (L, H, R, C), R and C at most 32: the thumbnails. A cell's mean weight is most·(byte/255)².
        most: (L, H), the largest of the cells' mean weights.
    """

    entropy: Array
    distance: Array | None
    aside: Array
    pictures: Array
    most: Array

    def stored(self) -> dict[str, Array]:
        """The arrays in a trace's file, by name."""
        return {f"measures.{name}": array for name, array in vars(self).items() if array is not None}


def asked(queries: TokenizedText, keys: TokenizedText | None) -> list[Readout]:
    """The readouts that a layer's measures need."""
    across = queries if keys is None else keys
    groups = np.full(len(across), -1)
    groups[across.tokens_aside] = 0
    read: list[Readout] = [
        Entropy(),
        GroupMass(groups, 1),
        Pooled(min(len(queries), PICTURE), min(len(across), PICTURE)),
    ]
    return [*read, MeanDistance()] if keys is None else read


def measures(layers: Sequence[Observation]) -> Measures:
    """The measures of all layers, from one observation per layer, with axes (1, H, …) or (H, 1, …)."""
    pictures = np.stack([_heads(seen[Pooled], 3) for seen in layers])  # below 0 only where an edit made weights so
    most = pictures.max(axis=(2, 3))
    shares = pictures / np.where(most > 0, most, 1)[..., None, None]
    distances = [_mean(seen, seen[MeanDistance]) for seen in layers if MeanDistance in seen]
    return Measures(
        np.stack([_mean(seen, seen[Entropy]) for seen in layers]),
        np.stack(distances) if distances else None,
        np.stack([_mean(seen, seen[GroupMass][..., 0]) for seen in layers]),
        np.round(255 * np.sqrt(np.maximum(shares, 0))).astype(np.uint8),
        most.astype(np.float32),
    )


def _heads(values: Array, axes: int) -> Array:
    """Values as (H, …), with `axes` axes."""
    return values.reshape(-1, *values.shape[len(values.shape) - axes + 1 :])


def _mean(seen: Observation, values: Array) -> Array:
    """The mean over the queries that may look at any key, (H,); negative weights, which an edit made, have no
    entropy."""
    looking = (_heads(seen.lse, 2) > -np.inf) & ~np.isnan(_heads(values, 2))
    total = np.where(looking, _heads(values, 2), 0).sum(axis=1, dtype=np.float64)
    return np.asarray(total / np.maximum(looking.sum(axis=1), 1), np.float32)
