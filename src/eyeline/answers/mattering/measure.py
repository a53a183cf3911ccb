"""What is measured of a run: of a decoder the next token, of an encoder a vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: Gives the effects, (B,), of what was found in a batch of runs.
EffectsOf = Callable[[NDArray[Any]], Array]
#: The names of the measures.
MeasureName = Literal["log-probability", "difference", "token cosine", "text cosine"]


class Quantity(Protocol):
    """A number of a run, and how far an edited run falls below it.

    What is found in a run is of a decoder the last token's logits, (B, vocabulary), of an encoder some tokens' vectors
    after the last layer, (B, rows, width).
    """

    @property
    def name(self) -> MeasureName:
        """Its name."""

    def value(self, found: NDArray[Any]) -> float:
        """The measure of the run itself, a batch of one."""

    def effects(self, base: NDArray[Any], found: NDArray[Any]) -> Array:
        """How far each edited run of a batch falls below the run itself, (B,)."""


@dataclass(frozen=True)
class NextToken:
    """The log-probability of the next token, in nats; or how far it is above a rival's.

    Attributes:
        id, rival: the tokens' ids; no rival if None.
    """

    id: int
    rival: int | None = None

    @property
    def name(self) -> MeasureName:
        return "log-probability" if self.rival is None else "difference"

    def _values(self, logits: NDArray[Any]) -> Array:
        z: Array = logits.astype(np.float64)
        if self.rival is not None:
            return np.asarray(z[:, self.id] - z[:, self.rival])
        return np.asarray(log_probabilities(z)[:, self.id])

    def value(self, found: NDArray[Any]) -> float:
        return float(self._values(found)[0])

    def effects(self, base: NDArray[Any], found: NDArray[Any]) -> Array:
        return self._values(base) - self._values(found)


@dataclass(frozen=True)
class VectorCosine:
    """The cosine of a vector after the last layer with the run's own, so that an effect is 1 - cosine.

    The vector is the mean of those that are found.

    Attributes:
        name: whether it is a token's or the whole text's.
    """

    name: MeasureName

    def value(self, found: NDArray[Any]) -> float:
        return 1.0

    def effects(self, base: NDArray[Any], found: NDArray[Any]) -> Array:
        a, b = (x.astype(np.float64).mean(axis=1) for x in (base, found))
        lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
        cosines = (a * b).sum(axis=-1) / np.where(lengths > 0, lengths, 1)
        # Rounding may take the cosine of a vector with itself past 1.
        return np.asarray(np.maximum(1 - cosines, 0.0))


def log_probabilities(logits: NDArray[Any]) -> Array:
    """The natural logarithms of the softmax of logits, (..., vocabulary), in float64."""
    z: Array = logits.astype(np.float64)
    z -= z.max(axis=-1, keepdims=True)
    return np.asarray(z - np.log(np.exp(z).sum(axis=-1, keepdims=True)))
