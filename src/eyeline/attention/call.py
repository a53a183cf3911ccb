"""A call's arrays, mask and scores, converted to the kernels' form."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.attention.checks import check_arrays, check_lse, check_mask, check_scale
from eyeline.attention.plans import CallPlan, Kind, find, find_whole, keep, kind_of, lowered_mask
from eyeline.dropout import check_dropout
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.forms import ArrayForm, address_of, form_of
from eyeline.kernels.primitives import PrimitiveRoom, Primitives
from eyeline.kernels.run import Pass, forward, run
from eyeline.masks import AttentionShape, Frozen, LoweredMask, Mask, Shard
from eyeline.scores import LoweredScores, Scores, are_plain, lower
from eyeline.words import worded

Array = NDArray[Any]
_WHOLE, _NO_CHANGE = Shard(), LoweredScores()


def attend(
    q: Array,
    k: Array,
    v: Array,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | None = None,
) -> Array:
    """The result of `eyeline.attention` on arrays. Where a plan of such a call is kept, the arrays' checks are that
    they are of its kind."""
    plain = not dropout and seed is None
    if plain and type(q) is type(k) is type(v) is np.ndarray and q.ndim == k.ndim == v.ndim and 2 <= q.ndim <= 4:
        plan, keys = find(_kind(q, k, v, mask, scale, scores, None, False, False))
        if plan is not None:
            output = np.empty(plan.result, q.dtype)
            plan.run(address_of(q), address_of(k), address_of(v), address_of(output), keys)
            return output
    return Call(q, k, v, mask=mask, scale=scale, scores=scores, dropout=dropout, seed=seed).output()


class Call:
    """A call on NumPy arrays, in the kernels' form.

    Attributes:
        q, k, v: (B, H, N, D), (B, G, M, D) and (B, G, M, E), of any strides; bfloat16, which NumPy lacks, as uint16.
        rows, dtype: the axes (..., H, N), or (N,), and the type of the user's arrays.
        plan: its plan; `is_kept` says whether it is kept for calls of its kind.
        shard: the arrays' place in a larger attention.
        shape: the shape of the whole attention.
        spec: scale, mask, scores and dropout.
        lse: (B, H, N), the log-sum-exp that normalises the weights; None if the user gave none.
    """

    def __init__(
        self,
        q: Array,
        k: Array,
        v: Array,
        *,
        mask: Mask | None = None,
        scale: float | None = None,
        scores: Scores = (),
        dropout: float = 0.0,
        seed: int | None = None,
        shard: Shard | None = None,
        lse: ArrayLike | None = None,
        checked: bool = False,
        tokens_first: bool = False,
    ) -> None:
        """Arguments as for `eyeline.attention` and `observe`; with `checked`, the arrays aren't checked again. With
        `tokens_first`, the output is a view of memory in the order (B, N, H, E), in which models go on with it."""
        if not checked:
            check_arrays(q, k, v)
        self.rows = q.shape[:-1]
        self.dtype = q.dtype
        self.q, self.k, self.v = (_bits(_four_axes(x)) for x in (q, k, v))
        kind = (
            None if dropout or seed is not None else _kind(q, k, v, mask, scale, scores, shard, checked, tokens_first)
        )
        plan = None if kind is None else find_whole(kind)
        self.is_kept = plan is not None
        if plan is None:
            plan = self._planned(
                q, mask, scale, scores, dropout, seed, _WHOLE if shard is None else shard, tokens_first
            )
            if kind is not None and (mask is None or mask.is_plain or type(mask) is Frozen) and are_plain(scores):
                self.is_kept = True
                keep(kind, plan)
        self.plan, self.shard, self.shape, self.spec = plan, plan.shard, plan.shape, plan.spec
        self.lse = None if lse is None else self._given_lse(lse)

    def _planned(
        self,
        q: Array,
        mask: Mask | None,
        scale: float | None,
        scores: Scores,
        dropout: float,
        seed: int | None,
        shard: Shard,
        tokens_first: bool,
    ) -> CallPlan:
        if not isinstance(shard, Shard):
            raise TypeError(
                worded(
                    "shard must be an eyeline.Shard, got {shard!r}; write eyeline.Shard(first_key=..., keys=...) "
                    "for some of the keys, first_query= and queries= for some of the queries",
                    shard=shard,
                )
            )
        B, H, N, D = self.q.shape
        whole = shard.of(N, self.k.shape[2])
        shape = AttentionShape(q.shape[:-3] or (1,), H, *whole)
        spec = AttentionSpec(
            check_scale(scale, q.dtype) if scale is not None else 1 / math.sqrt(D) if D else 1.0,
            self._lowered(check_mask(mask), shape, shard),
            _NO_CHANGE if isinstance(scores, tuple) and not scores else lower(scores, shape),
            *check_dropout(dropout, seed),
            first_query=shard.first_query,
            first_key=shard.first_key,
            queries=whole[0],
            keys=whole[1],
        )
        E, size = self.v.shape[3], self.q.dtype.itemsize
        apart = (N * H * E, E, H * E, 1) if tokens_first else (H * N * E, N * E, E, 1)
        output = ArrayForm((B, H, N, E), tuple(size * stride for stride in apart), self.q.dtype)
        forms = form_of(self.q), form_of(self.k), form_of(self.v), output
        return CallPlan(shape, shard, mask, spec, forms, (*self.rows, E))

    def _lowered(self, mask: Mask | None, shape: AttentionShape, shard: Shard) -> LoweredMask | None:
        """The lowered mask for these queries, with keys outside the shard hidden; None if nothing is hidden."""
        first, here, N = shard.first_key, self.k.shape[2], self.q.shape[2]
        if mask is None and here == shape.keys:
            return None
        if mask is not None:
            lowered = lowered_mask(mask, shape)
        else:
            lowered = LoweredMask(np.array([0, shape.keys], np.int32).reshape(1, 1, 1, 1, 2))
        bounds, allowed = lowered.bounds, lowered.allowed
        if shape.queries == N and shape.keys == here and bounds.flags.c_contiguous:
            return lowered
        rows = slice(shard.first_query, shard.first_query + N)
        if shape.queries != N:
            bounds = bounds if bounds.shape[2] == 1 else bounds[:, :, rows]
            allowed = allowed if allowed is None or allowed.shape[2] == 1 else allowed[:, :, rows]
        if here != shape.keys:
            bounds = np.clip(bounds, first, first + here)
        return replace(lowered, bounds=np.ascontiguousarray(bounds), allowed=allowed)

    def _given_lse(self, lse: ArrayLike) -> Array:
        given = check_lse(lse)
        if given.shape != self.rows:
            raise ValueError(
                worded("lse must be one number per query, {rows}, got shape {shape}", rows=self.rows, shape=given.shape)
            )
        return given.reshape(self.q.shape[:3])

    def forward(self, primitives: Primitives | None = None) -> Pass:
        """Run the kernels' forward pass. A given lse includes the sinks already, so they are then left out."""
        spec, planned = self.spec, self.plan.forms[3]
        if self.lse is not None and spec.scores.sinks is not None:
            spec = replace(spec, scores=replace(spec.scores, sinks=None))
        B, H, N, E = planned.shape
        if spec is not self.spec or self.v.shape[3] != E:  # another call than planned
            return forward(self.q, self.k, self.v, spec, primitives)
        output = np.empty((B, H, N, E), self.q.dtype)
        if planned.strides != output.strides:
            output = output.reshape(B, N, H, E).transpose(0, 2, 1, 3)
        room = None if primitives is None else PrimitiveRoom.of(primitives, self.shape.keys)
        return run(self.plan.forward(room), (self.q, self.k, self.v), output, spec, primitives)

    def output(self) -> Array:
        """The result of `attention`."""
        return self.led(self.forward().output)

    def led(self, output: Array) -> Array:
        """An output (B, H, N, E) with the leading axes and the type of the user's arrays."""
        return output.view(self.dtype).reshape(*self.rows, output.shape[-1])

    def without_values(self) -> Call:
        """The same call with values of width 0, for the weights alone."""
        bare = copy(self)
        bare.v = self.v[..., :0]
        return bare


def _kind(q: Array, k: Array, v: Array, *options: Any) -> Kind:
    """The kind of a call on arrays, by which its plan is kept."""
    return kind_of(q, k, v, (q.strides, k.strides, v.strides), 1, *options)


def _bits(x: Array) -> Array:
    """bfloat16, which NumPy lacks, viewed as uint16; other types as they are."""
    return x.view(np.uint16) if x.itemsize == 2 and x.dtype != np.float16 else x


def _four_axes(x: Array) -> Array:
    """(B, heads, tokens, width), without a copy where the leading axes allow it."""
    if x.ndim == 4:
        return x
    if x.ndim < 4:
        return x[(None,) * (4 - x.ndim)]
    return x.reshape(math.prod(x.shape[:-3]), *x.shape[-3:])
