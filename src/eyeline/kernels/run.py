"""The forward pass: a plan, which fills the params and lays out the workspaces, and its runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import run_decode
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.programs import KEY_BLOCK
from eyeline.kernels.forms import ArrayForm, Memory, address_of, computed, form_of, memory_of
from eyeline.kernels.launch import Params, tasks_at_a_time, tell_rectangle, workers_for
from eyeline.kernels.machine import target
from eyeline.kernels.primitives import PrimitiveResults, PrimitiveRoom, Primitives
from eyeline.kernels.small_plan import MOST_WORK, SmallPlan
from eyeline.kernels.workspaces import CallNumbers, forward_layout
from eyeline.masks import LoweredMask

Array = NDArray[Any]
#: The forms of q, k, v and the output.
Forms = tuple[ArrayForm, ArrayForm, ArrayForm, ArrayForm]
#: The number of queries that use a block of keys while it is in the cache.
QUERIES_TOGETHER = 128
#: The most bytes of scores that a thread keeps for several panels: about what the L1 and L2 caches hold.
KEPT_TOGETHER = 1 << 20


@dataclass(frozen=True)
class Pass:
    """The results of a forward pass.

    Attributes:
        output: (B, H, N, E).
        maxima: (B, H, N), each row's largest score, in base 2.
        sums: (B, H, N), each row's sum of 2^(score - largest).
        pairs: the number of query-key pairs that were computed.
        found: the primitives, if any were requested.
    """

    output: Array
    maxima: Array
    sums: Array
    pairs: int
    found: PrimitiveResults | None = None


class ForwardPlan:
    """A forward pass over arrays of these forms, ready but for their addresses: made once per kind of call, and kept.

    It holds no arrays of q, k, v or the results, and doesn't change, so any number of threads may run it at once.

    Args:
        forms: of q (B, H, N, D), k (B, G, M, D), v (B, G, M, E) and the output (B, H, N, E), whose columns are side by
            side.
        spec: scale, mask, scores and dropout.
        room: the room for the primitives that the pass computes, if any.
    """

    def __init__(self, forms: Forms, spec: AttentionSpec, room: PrimitiveRoom | None = None) -> None:
        self._forms, self._spec, self._room = forms, spec, room
        self._decode = run_decode.DecodePlan(forms, spec) if room is None and run_decode.eligible(forms, spec) else None
        self._sweep = None if self._decode is not None else self._sweep_plan()
        self._small: SmallPlan | None = None

    def _sweep_plan(self) -> SweepPlan:
        params = Params("forward", self._forms[:3], self._spec)
        params.record["output"] = (0, *self._forms[3].strides)
        return SweepPlan(params, self._forms[1].shape[2], self._room, self._spec.mask)

    def run_small(self, q: int, k: int, v: int, output: int, keys: run_decode.Keys | None = None) -> bool:
        """Fill the output at this address from q, k and v at theirs, in one native call, if that is little work. False
        if it isn't, or if a row of a decoding isn't finite: then `run` does it."""
        if self._decode is not None:
            return self._decode.run_small(q, k, v, output, keys)
        sweep = self._sweep
        if sweep is None or not sweep.is_small:
            return False
        if self._small is None:
            B, H, N, _ = sweep.params.shape
            self._small = SmallPlan(sweep.params, B * H * N, "work")
        self._small.run(q, k, v, output)
        return True

    @property
    def takes_any_keys(self) -> bool:
        """Whether it runs on any number of keys (`Keys`): decoding does."""
        return self._decode is not None

    def run(
        self,
        at: Memory,
        output: int,
        found: PrimitiveResults | None = None,
        keys: run_decode.Keys | None = None,
    ) -> int:
        """Fill the output, m and l at these addresses, and the primitives; returns the number of query-key pairs
        computed. `keys` are given where they are other than those of the forms."""
        if self._decode is not None:
            pairs = self._decode.run(at, output, keys)
            if pairs is not None:
                return pairs
            if keys is not None:  # some row isn't finite
                return self._with(keys)._sweep_plan().run_at(at, output)
        if self._sweep is None:
            self._sweep = self._sweep_plan()
        return self._sweep.run_at(at, output, found)

    def _with(self, keys: run_decode.Keys) -> ForwardPlan:
        q, k, v, output = self._forms
        k, v = (
            form._replace(shape=(*form.shape[:2], keys.M, form.shape[3]), strides=strides)
            for form, strides in ((k, keys.k_strides), (v, keys.v_strides))
        )
        return ForwardPlan((q, k, v, output), replace(self._spec, mask=keys.mask, keys=keys.M))


class SweepPlan:
    """The usual pass, whose params lack only addresses.

    Args:
        params: all but addresses; kept.
        keys_here: the number of keys in the arrays.
        room: the room for primitives.
        mask: the mask, which limits that room.

    Attributes:
        is_small: whether it is little work, for one thread.
    """

    def __init__(
        self, params: Params, keys_here: int, room: PrimitiveRoom | None, mask: LoweredMask | None = None
    ) -> None:
        self.params = params
        B, H, N, M = params.shape
        record, here = params.record, target()
        panel, size = here.panel(params.dtype), np.dtype(params.dtype).itemsize
        D, E = params.widths
        cost = keys_here * (D + E)
        workers = workers_for(B * H * N * cost)
        # Several panels per task, as long as every thread has some tasks.
        in_a_head = -(-N // panel)
        together = QUERIES_TOGETHER // panel
        reach = 0
        if room is not None:
            reach = _reach(mask, panel, M)
            together = min(together, max(1, KEPT_TOGETHER // (max(reach, 1) * panel * size)))
        panels = max(1, min(together, in_a_head * B * H // (4 * workers), in_a_head))
        blocks = -(-in_a_head // panels)
        tasks = record["tasks"] = B * H * blocks
        record["blocks"], record["panels"] = blocks, panels
        numbers = CallNumbers(
            D,
            E,
            size,
            panel,
            panels,
            here.rows,
            half=int(record["half"] != 0),
            intervals=int(record["mask"]["intervals"]),
            steps=int(record["step_count"]),
            cuts=int(record["cuts"]["columns"] != 0),
            factors=int(record["factor_count"]),
            reach=reach,
            **{} if room is None else {"primitives": 1, **room._asdict()},
        )
        params.lay_out(forward_layout(numbers))
        self._workers, self._most = min(workers, tasks), tasks_at_a_time(panels * panel * cost)
        self.is_small = self._workers == 1 and B * H * N * cost <= MOST_WORK

    def run_at(self, at: Memory, output: int, found: PrimitiveResults | None = None) -> int:
        """Run the kernel on arrays at these addresses; arguments as for `ForwardPlan.run`."""
        params = self.params.copy()
        params.point(at)
        params.set("output", output)
        if found is not None:
            found.tell(params)
        return self.run(params)

    def run(self, params: Params) -> int:
        """Run the kernel for all heads and queries, with a copy of the params that has addresses; returns the number of
        query-key pairs computed."""
        if not self._workers:
            return 0
        params.launch(self._workers, self._most)
        return params.read("work")


def forward(q: Array, k: Array, v: Array, spec: AttentionSpec, primitives: Primitives | None = None) -> Pass:
    """Attention of q (B, H, N, D) to k (B, G, M, D) and v (B, G, M, E), all of one type, of any strides.

    Types are float32, float64, float16, or uint16 for the bits of bfloat16; the last two are computed in float32, and
    have maxima and sums in float32.
    """
    output = np.empty((*q.shape[:3], v.shape[3]), q.dtype)
    room = None if primitives is None else PrimitiveRoom.of(primitives, spec.keys or k.shape[2])
    plan = ForwardPlan((form_of(q), form_of(k), form_of(v), form_of(output)), spec, room)
    return run(plan, (q, k, v), output, spec, primitives)


def run(
    plan: ForwardPlan,
    arrays: tuple[Array, Array, Array],
    output: Array,
    spec: AttentionSpec,
    primitives: Primitives | None = None,
) -> Pass:
    """Run a plan on arrays of its forms; `primitives` are those that it has room for."""
    q, k, v = arrays
    inside = computed(q.dtype)
    maxima, sums = np.empty(q.shape[:3], inside), np.empty(q.shape[:3], inside)
    found = None
    if primitives is not None:
        found = PrimitiveResults(primitives, (*q.shape[:3], spec.keys or k.shape[2]), inside)
    at = memory_of(q, k, v, maxima, sums)
    return Pass(output, maxima, sums, plan.run(at, address_of(output), found), found)


def weights(q: Array, k: Array, spec: AttentionSpec, maxima: Array, sums: Array, rows: Array, columns: Array) -> Array:
    """A rectangle of the weights of q (B, H, N, D) on k (B, G, M, D), (B, H, R, C): the queries `rows` and the keys
    `columns`, each once and in order, from all queries' maxima and sums."""
    B, H, _, _ = q.shape
    rectangle = np.zeros((B, H, len(rows), len(columns)), computed(q.dtype))
    if rectangle.size:
        maxima, sums, v = np.ascontiguousarray(maxima), np.ascontiguousarray(sums), k[..., :0]
        params = Params("forward", (form_of(q), form_of(k), form_of(v)), spec)
        params.point(memory_of(q, k, v, maxima, sums))
        tell_rectangle(params, params.record["rectangle"], rectangle, rows, columns)
        SweepPlan(params, k.shape[2], None).run(params)
    return rectangle


def _reach(mask: LoweredMask | None, panel: int, keys: int) -> int:
    """The most keys that a panel of queries needs, from the first block that it needs on, in whole blocks."""
    most = keys
    if mask is not None:
        begin, end = mask.bounds[..., 0], mask.bounds[..., 1]
        some = begin < end
        first = np.where(some, begin, keys).min(axis=3, initial=keys)
        last = np.where(some, end, 0).max(axis=3, initial=0)
        panels = np.arange(0, first.shape[2], panel)
        first, last = np.minimum.reduceat(first, panels, axis=2), np.maximum.reduceat(last, panels, axis=2)
        most = int((last - first + first % KEY_BLOCK).max(initial=0))
    return -(-most // KEY_BLOCK) * KEY_BLOCK
