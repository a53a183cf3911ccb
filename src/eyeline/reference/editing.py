"""Edits of an attention, on the whole matrix: each by its own definition, at its stage."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import CallPlace, Edit, EditError, EditStage, in_order, place_of, several
from eyeline.edits.dense import Dense64
from eyeline.words import worded

Array = NDArray[np.float64]


class Editing:
    """The edits of one attention, whose methods are called step by step.

    Args:
        edits: the edits, or one.
        q, k, v: (..., H, N, D), (..., H, M, D) and (..., H, M, E), or without the axis of heads.
        key_heads: G; k and v have been repeated for each query head.
        place: where the call stands in a run.
        apart: whether it is a shard, or has a given lse, which edits don't know.
    """

    def __init__(
        self,
        edits: Sequence[Edit] | Edit,
        q: Array,
        k: Array,
        v: Array,
        key_heads: int,
        place: CallPlace | None,
        apart: bool,
    ) -> None:
        self._edits = several(edits)
        if self._edits and apart:
            raise EditError(worded("edits must be left out with shard= and lse=, since they change whole rows"))
        self._given, self._shape = (q, k, v), q.shape[:-1]
        if self._edits:
            heads = q.shape[-3] if q.ndim > 2 else 1
            self._place = place or place_of(heads, key_heads, q.shape[-2], k.shape[-2])
            self._ordered = in_order(self._edits, self._place)
            q, k, v = (x.reshape(math.prod(x.shape[:-3]), heads, *x.shape[-2:]).copy() for x in (q, k, v))
            self._now = Dense64(q, k, v)

    def _do(self, *stages: EditStage) -> None:
        for edit in self._ordered:
            if edit.stage in stages:
                edit.define(self._now, self._place)

    def inputs(self) -> tuple[Array, Array, Array]:
        """q, k and v as they reach attention."""
        if not self._edits:
            return self._given
        self._do(EditStage.INPUTS)
        now = (self._now.q, self._now.k, self._now.v)
        q, k, v = (x.reshape(given.shape) for x, given in zip(now, self._given, strict=True))
        return q, k, v

    def hiding(self, s: Array) -> Array:
        """The scores, (..., N, M), with -inf where an edit hides a pair."""
        if not self._edits:
            return s
        now = self._now
        now.hidden = (s == -np.inf).reshape(*now.q.shape[:3], s.shape[-1])
        self._do(EditStage.HIDING)
        return np.where(now.hidden.reshape(s.shape), -np.inf, s)

    def weights(self, w: Array, lse: Array, sink: Array | None) -> tuple[Array, Array, Array | None]:
        """The weights, (..., N, M), lse, (..., N), and the sink's shares, (..., N), if there are any."""
        if not self._edits:
            return w, lse, sink
        now = self._now
        now.w = w.reshape(*now.q.shape[:3], w.shape[-1]).copy()
        now.lse = lse.reshape(now.q.shape[:3]).copy()
        now.sink = None if sink is None else sink.reshape(now.q.shape[:3]).copy()
        self._do(EditStage.WEIGHTS, EditStage.WEIGHING)
        shares = None if now.sink is None else now.sink.reshape(self._shape)
        return now.w.reshape(w.shape), now.lse.reshape(self._shape), shares

    def visible(self, visible: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where queries may look, (..., N, M), in the end."""
        if not self._edits:
            return visible
        assert self._now.hidden is not None
        return ~self._now.hidden.reshape(visible.shape)

    def output(self, y: Array) -> Array:
        """The output, (..., N, E)."""
        if not self._edits:
            return y
        now = self._now
        now.output = y.reshape(*now.q.shape[:3], y.shape[-1]).copy()
        self._do(EditStage.OUTPUT, EditStage.GATING)
        return np.asarray(now.output.reshape(y.shape))
