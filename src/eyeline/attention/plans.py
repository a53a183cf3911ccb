"""Plans of calls: everything that a call does but for its arrays' memory, made once per kind of call, and kept.

A kind of call is the arrays' shapes, strides and types, the mask, the scale, the scores, the place in a larger
attention, and the number of threads; in decoding, whatever the number of keys and their strides. A plan is kept only if
mask and scores are plain values: an array or a function may change between two calls, so these are lowered at each. The
plans with a `Frozen` mask are kept with it, and go when it goes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from eyeline.forks import ForkSafeLock
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.forms import Memory, address_of, computed
from eyeline.kernels.primitives import PrimitiveRoom
from eyeline.kernels.run import Forms, ForwardPlan
from eyeline.kernels.run_decode import FEWEST_KEYS, MOST_QUERIES, Keys, keys_of
from eyeline.kernels.threads import get_threads
from eyeline.masks import AttentionShape, Frozen, LoweredMask, Mask, Shard

#: The most plans that are kept, and the most bytes of a lowered mask and of score steps in one. Larger ones are cheap
#: compared with their calls.
_MOST, _LARGEST = 256, 1 << 17
#: Lowered masks with more queries aren't cached: they are large, and cheap compared with the call.
_QUERIES_KEPT = 1 << 16


class CallPlan:
    """The plan of a call. It holds no arrays of the user's, and what it does doesn't change.

    Attributes:
        shape, shard: the whole attention, and these arrays' place in it.
        mask: where a query may look at a key.
        spec: scale, mask, scores and dropout, in the kernels' form.
        forms: of q, k, v and the output, with four axes.
        result: the shape of the user's output, (..., H, N, E).
        readings: what `observed` keeps of readouts.
    """

    def __init__(
        self,
        shape: AttentionShape,
        shard: Shard,
        mask: Mask | None,
        spec: AttentionSpec,
        forms: Forms,
        result: tuple[int, ...],
    ) -> None:
        self.shape, self.shard, self.mask, self.spec = shape, shard, mask, spec
        self.forms, self.result = forms, result
        B, H, N, _ = forms[3].shape
        self._rows = B * H * N
        self.readings: dict[Any, Any] = {}
        self._last_keys: tuple[KeySizes | None, Keys | None] = None, None
        self._passes: dict[PrimitiveRoom | None, ForwardPlan] = {}

    def forward(self, room: PrimitiveRoom | None = None) -> ForwardPlan:
        """The plan of a forward pass with room for these primitives."""
        found = self._passes.get(room)
        if found is None:
            found = self._passes[room] = ForwardPlan(self.forms, self.spec, room)
        return found

    def run(self, q: int, k: int, v: int, output: int, keys: Keys | None = None) -> None:
        """Fill the output at this address from q, k and v at theirs, which the caller keeps alive; `keys` are given
        where they are other than those of the forms."""
        plan = self.forward()
        if plan.run_small(q, k, v, output, keys):
            return
        totals = np.empty(2 * self._rows, computed(self.forms[0].dtype))
        m = address_of(totals)
        plan.run(Memory(q, k, v, m, m + totals.nbytes // 2), output, keys=keys)

    def with_keys(self, sizes: KeySizes) -> Keys | None:
        """Other keys for `run`; None if the mask of so many isn't intervals alone. The last ones are kept, since all
        layers of a decoder ask for the same."""
        last, found = self._last_keys
        if last == sizes:
            return found
        lowered = None
        if self.mask is not None:
            lowered = lowered_mask(self.mask, replace(self.shape, keys=sizes.M))
            if lowered.allowed is not None or lowered.functions:
                return None
        size, first = sizes.item, (0,) * (4 - len(sizes.k_strides))
        k_strides, v_strides = (
            (*first, *(size * stride for stride in strides)) for strides in (sizes.k_strides, sizes.v_strides)
        )
        found = keys_of(sizes.M, k_strides, v_strides, lowered)
        self._last_keys = sizes, found
        return found

    @property
    def held_bytes(self) -> int:
        """The size of the arrays that it keeps: the lowered mask's, and the score steps'."""
        mask, scores = self.spec.mask, self.spec.scores
        arrays = [] if mask is None else [mask.bounds]
        arrays += [array for step in scores.steps for array in vars(step).values() if isinstance(array, np.ndarray)]
        return sum(array.nbytes for array in arrays)


class KeySizes(NamedTuple):
    """The number of a call's keys, and the strides of k and v, in items of so many bytes."""

    M: int
    k_strides: tuple[int, ...]
    v_strides: tuple[int, ...]
    item: int


class Kind(NamedTuple):
    """A kind of call: what all calls of it have alike; the sizes of its keys, where there are so few queries that one
    plan may serve any keys; and where its plans are kept."""

    alike: tuple[Hashable, ...]
    keys: KeySizes | None
    kept: dict[Hashable, CallPlan]


def kind_of(
    q: Any,
    k: Any,
    v: Any,
    strides: tuple[Any, Any, Any],
    item: int,
    mask: Mask | None,
    *options: Hashable,
) -> Kind:
    """The kind of a call on arrays or tensors, whose strides are in items of so many bytes; `options` are its other
    arguments."""
    kept = mask.kept if type(mask) is Frozen else _kept
    q_shape, k_shape, v_shape = q.shape, k.shape, v.shape
    q_strides, k_strides, v_strides = strides
    alike = (q_shape, q_strides, q.dtype, k.dtype, v.dtype, get_threads(), mask, *options)
    if q_shape[-2] > MOST_QUERIES or k_shape[-2] < FEWEST_KEYS:
        return Kind((*alike, k_shape, k_strides, v_shape, v_strides), None, kept)
    widths = k_shape[-1], k_strides[-1], v_shape[-1], v_strides[-1]
    alike = (*alike, *widths, k_shape[:-2], v_shape[:-1] == k_shape[:-1])
    return Kind(alike, KeySizes(k_shape[-2], k_strides, v_strides, item), kept)


_kept: dict[Hashable, CallPlan] = {}
_lock = ForkSafeLock()


def find(kind: Kind) -> tuple[CallPlan | None, Keys | None]:
    """The kept plan for calls of this kind; and the keys to run it with, if it is one for any keys."""
    alike, sizes, kept = kind
    try:
        plan = kept.get(alike)
    except TypeError:  # an array in it, which has no hash
        return None, None
    if sizes is None:
        return plan, None
    if plan is not None and (keys := plan.with_keys(sizes)):
        return plan, keys
    return kept.get((alike, sizes)), None


def find_whole(kind: Kind) -> CallPlan | None:
    """The kept plan for calls of this kind and with these keys."""
    try:
        return kind.kept.get(_whole(kind))
    except TypeError:
        return None


def keep(kind: Kind, plan: CallPlan) -> None:
    """Keep a plan, in place of the oldest if there are too many; not if its arrays are large."""
    if plan.held_bytes > _LARGEST:
        return
    kept = kind.kept
    with _lock:
        kept[_whole(kind)] = plan
        if kind.keys is not None and plan.shard == Shard() and plan.forward().takes_any_keys:
            kept[kind.alike] = plan
        while len(kept) > _MOST:
            del kept[next(iter(kept))]


def _whole(kind: Kind) -> Hashable:
    return kind.alike if kind.keys is None else (kind.alike, kind.keys)


def forget() -> None:
    """Forget all plans."""
    with _lock:
        _kept.clear()


def lowered_mask(mask: Mask, shape: AttentionShape) -> LoweredMask:
    """The lowered mask, cached if the mask is a plain value; an array could change between calls."""
    keeps = mask.is_plain and shape.batch * shape.queries <= _QUERIES_KEPT
    return _lowered_once(mask, shape) if keeps else mask.lower(shape)


@lru_cache(maxsize=16)
def _lowered_once(mask: Mask, shape: AttentionShape) -> LoweredMask:
    return mask.lower(shape)
