"""Another run, from which edits take queries, keys, values, weights and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from eyeline.edits.errors import EditError
from eyeline.edits.places import CallPlace, Kind
from eyeline.masks import AttentionShape, Mask
from eyeline.scores import Score
from eyeline.words import worded

Array = NDArray[Any]
#: The kinds of attention by the kinds of traces.
KINDS: dict[str, Kind] = {"encoder": "encoder self", "decoder": "decoder self", "cross": "cross"}


class HeadsOfRun(NamedTuple):
    """Some heads of one layer of a run, each as an element of a batch.

    Attributes:
        q, k: (heads, P, D) and (heads, S, D); a key head is repeated for each query head.
        v: (heads, S, E); None if values weren't kept.
        lse: (heads, P), of all keys and the sink.
        scale: the factor of q·k.
        scores: score modifiers, without sinks, for arrays of (heads, 1, P, S).
        mask: for the same shape; everywhere if None.
    """

    q: Array
    k: Array
    v: Array | None
    lse: Array
    scale: float
    scores: tuple[Score, ...]
    mask: Mask | None

    def weights(self) -> NDArray[np.float64]:
        """The definition of the weights, (heads, P, S): exp(s - lse) where the mask allows."""
        s, visible = self._scores()
        with np.errstate(invalid="ignore"):
            w = np.exp(s - self.lse.astype(np.float64)[..., None])
        return np.where(visible, w, 0.0)

    def visible(self) -> NDArray[np.bool_]:
        """Where its queries may look, (heads, P, S)."""
        return self._scores()[1]

    def _scores(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The changed scores, and where the mask and they allow to look."""
        shape = AttentionShape((len(self.q),), 1, self.q.shape[1], self.k.shape[1])
        s = np.einsum("hnd,hmd->hnm", *(x.astype(np.float64) for x in (self.q, self.k)))[:, None] * self.scale
        for score in self.scores:
            s = score.apply(s, shape)
        allowed = np.broadcast_to(True if self.mask is None else self.mask.rule(shape), shape.shape)
        return s[:, 0], allowed[:, 0] & (s[:, 0] > -np.inf)


class LayerOfRun(Protocol):
    """A layer of a recorded run."""

    def of_heads(self, heads: Sequence[int]) -> HeadsOfRun:
        """Some of its query heads; raises EditError if they were themselves edited so that q, k and lse don't give
        their weights."""

    def output_of(self, heads: Sequence[int]) -> Array:
        """Their outputs, (heads, P, E); raises EditError if values weren't kept."""


def layer_of(other: Any, place: CallPlace) -> LayerOfRun:
    """The layer of another run that stands at this place.

    Args:
        other: a trace, or the traces of an encoder-decoder.

    Raises:
        EditError: if it is neither, or has no such layer.
    """
    runs = list(other) if isinstance(other, (list, tuple)) else [other]
    if not runs or not all(hasattr(run, "layer") and hasattr(run, "kind") for run in runs):
        raise EditError(
            worded(
                "other must be a trace of another run, as eyeline.record makes it, got {type}",
                type=type(other).__name__,
            )
        )
    named = [run for run in runs if place.kind is None or KINDS.get(run.kind) == place.kind]
    if not named:
        raise EditError(
            worded("other must have recorded {named}, got a trace of the {kind}", named=place.named, kind=runs[0].kind)
        )
    try:
        found: LayerOfRun = named[0].layer(place.layer or 0)
    except ValueError as error:
        raise EditError(worded("other must have recorded {named}: {error}", named=place.named, error=error)) from None
    return found


def check_reach(name: str, there: int, positions: NDArray[np.int64]) -> None:
    """
    Raises:
        EditError: if another run of `there` tokens is too short for these positions.
    """
    last = int(positions.max(initial=-1))
    if last >= there:
        raise EditError(
            worded(
                "other must be a run of at least {last} {name}, got {there}; record a longer text, or say "
                "which positions with positions=, queries= or keys=",
                last=last + 1,
                name=name,
                there=there,
            )
        )
