"""Plans of calls: everything that a call does but for its arrays' memory, made once per kind of call, and kept.

A kind of call is the arrays' shapes, strides and type, the mask, the scale, the scores, the place in a larger
attention, and the number of threads. It is kept only if mask and scores are plain values: an array or a function may
change between two calls, so these are lowered at every call.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from eyeline.forks import ForkSafeLock
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.launch import Memory, address_of, computed
from eyeline.kernels.primitives import PrimitiveRoom
from eyeline.kernels.run import Forms, ForwardPlan
from eyeline.masks import AttentionShape, Shard

#: The most plans that are kept, and the most bytes of a lowered mask or of score steps in one. Larger ones are cheap
#: compared with their calls.
_MOST, _LARGEST = 256, 1 << 17


class CallPlan:
    """The plan of a call: no arrays of the user's, and no changes once it is made.

    Attributes:
        shape, shard: the whole attention, and these arrays' place in it.
        spec: scale, mask, scores and dropout, in the kernels' form.
        forms: of q, k, v and the output, with four axes.
        result: the shape of the user's output, (..., H, N, E).
        rows: B · H · N.
    """

    def __init__(
        self, shape: AttentionShape, shard: Shard, spec: AttentionSpec, forms: Forms, result: tuple[int, ...]
    ) -> None:
        self.shape, self.shard, self.spec, self.forms, self.result = shape, shard, spec, forms, result
        B, H, N, _ = forms[3].shape
        self.rows = B * H * N
        self._passes: dict[PrimitiveRoom | None, ForwardPlan] = {}

    def forward(self, room: PrimitiveRoom | None = None) -> ForwardPlan:
        """The plan of a forward pass with room for these primitives."""
        found = self._passes.get(room)
        if found is None:
            found = self._passes[room] = ForwardPlan(self.forms, self.spec, room)
        return found

    def run(self, q: int, k: int, v: int, output: int, held: object) -> None:
        """Fill the output at this address from q, k and v at theirs; `held` keeps their memory alive."""
        totals = np.empty(2 * self.rows, computed(self.forms[0].dtype))
        m = address_of(totals)
        self.forward().run(Memory(q, k, v, m, m + totals.nbytes // 2), output, (held, totals))

    @property
    def held_bytes(self) -> int:
        """The size of the arrays that it keeps: the lowered mask's, and the score steps'."""
        mask, scores = self.spec.mask, self.spec.scores
        arrays = [] if mask is None else [mask.bounds]
        arrays += [array for step in scores.steps for array in vars(step).values() if isinstance(array, np.ndarray)]
        return sum(array.nbytes for array in arrays)


_kept: dict[Hashable, CallPlan] = {}
_lock = ForkSafeLock()


def find(kind: Hashable) -> CallPlan | None:
    """The plan of this kind of call, if it is kept."""
    try:
        return _kept.get(kind)
    except TypeError:  # an array in it, which has no hash
        return None


def keep(kind: Hashable, plan: CallPlan) -> None:
    """Keep a plan, in place of the oldest if there are too many; not if its arrays are large."""
    if plan.held_bytes <= _LARGEST:
        with _lock:
            _kept[kind] = plan
            if len(_kept) > _MOST:
                del _kept[next(iter(_kept))]


def forget() -> None:
    """Forget all plans."""
    with _lock:
        _kept.clear()
