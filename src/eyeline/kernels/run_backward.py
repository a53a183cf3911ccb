"""The backward pass: fills the params, lays out the workspaces, and runs the tasks on threads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.call_records import STRIDED
from eyeline.kernels.compiled.programs import KEY_BLOCK, PANEL_AT_MOST, QUERY_BLOCK, padded, wide
from eyeline.kernels.forms import form_of, memory_of, strided
from eyeline.kernels.gradients import Gradients
from eyeline.kernels.launch import Params, tasks_at_a_time, workers_for
from eyeline.kernels.layouts import Layout, laid_out
from eyeline.kernels.machine import target
from eyeline.kernels.primitive_gradients import PrimitiveGradients, weight_sums
from eyeline.kernels.user_functions import slope_loop
from eyeline.kernels.workspaces import changes_in_panel
from eyeline.masks import LoweredMask
from eyeline.scores import Added, Called, Flattened, Relative, Step

Array = NDArray[Any]
#: The size in bytes of a stripe of keys, values and their gradients, which should stay in the cache.
_STRIPE_BYTES = 3 << 18
_MOST_KEYS = 512


def backward(
    q: Array,
    k: Array,
    v: Array,
    spec: AttentionSpec,
    output: Array,
    maxima: Array,
    sums: Array,
    d_output: Array,
    primitives: PrimitiveGradients | None = None,
    wanted: Sequence[bool] | None = None,
    wanted_factors: Sequence[bool] = (),
) -> Gradients:
    """The gradients in q (B, H, N, D), k (B, G, M, D) and v (B, G, M, E), of any strides, all float32 or all float64.

    `output`, `maxima` and `sums` are the forward pass's results; `d_output` (B, H, N, E), of any strides, is the
    gradient in the output, and `primitives` are the gradients in lse and the primitives. `wanted` says for each score
    step whether to compute its array's gradient; all if not given. Leave out those that aren't needed: numbers that are
    added to many scores get their gradient summed in a fixed order, which leaves less to do in parallel.
    `wanted_factors` likewise says so for each factor; none if not given.
    """
    call = _Call((q, k, v), spec, maxima, sums, primitives, wanted_factors)
    extra: Array | None = None
    if primitives is not None:
        parts = [] if primitives.d_lse is None else [-primitives.d_lse]
        if primitives.of_weights():
            known = None
            if not spec.scores.factors:
                known = primitives.known_delta(weight_sums(maxima, sums, spec.scores.sinks))
            parts.append(call.delta_of_primitives() if known is None else known)
        extra = np.ascontiguousarray(sum(parts), q.dtype) if parts else None
    return call.gradients(output, d_output, extra, wanted)


class _Call:
    """The params shared by two passes: one for the primitives' part of delta, one for the gradients."""

    def __init__(
        self,
        arrays: tuple[Array, Array, Array],
        spec: AttentionSpec,
        maxima: Array,
        sums: Array,
        primitives: PrimitiveGradients | None,
        wanted_factors: Sequence[bool],
    ) -> None:
        self.arrays, self.spec = arrays, spec
        q, _, v = arrays
        self.inside = q.dtype
        B, H, N, _ = q.shape
        G, here = v.shape[1:3]
        M = spec.keys or here
        self.shape, self.key_heads = (B, H, N, M), G
        self.factors = [np.zeros((B, H, N), q.dtype) if want else None for want in wanted_factors]
        self.empty = not B * H * N * here
        if self.empty:
            return
        maxima, sums = np.ascontiguousarray(maxima), np.ascontiguousarray(sums)
        params = self.params = Params("backward", (form_of(q), form_of(arrays[1]), form_of(v)), spec)
        params.point(memory_of(*arrays, maxima, sums))
        params.held += [arrays, maxima, sums]
        record, blocks = params.record, -(-N // QUERY_BLOCK)
        reach = self.reach = np.broadcast_to(_reach(spec.mask, N, M), (B, H, blocks, 2))
        params.held.append(reach)
        record["B"], record["G"], record["blocks"], record["reach"] = B, G, blocks, strided(reach)
        record["first_key"], record["keys_here"], record["scale"] = spec.first_key, here, spec.scale
        weighed = primitives is not None and primitives.of_weights()
        if primitives is not None and weighed:
            primitives.tell(params, sums)
        if any(wanted_factors):
            addresses = np.array([0 if x is None else x.ctypes.data for x in self.factors], np.int64)
            params.held += [addresses, self.factors]
            record["factor_gradients"] = addresses.ctypes.data
            record["keep_factors"] = 1
        changed = spec.scores.steps or spec.scores.factors or record["dropout"]["threshold"] != 0
        record["elaborate"] = int(weighed or bool(changed))

    def delta_of_primitives(self) -> Array:
        """(B, H, N): each row's Σ_j w_ij · (gradient in w_ij) of the primitives alone."""
        delta = np.zeros(self.shape[:3], self.inside)
        if not self.empty:
            params = self.params.copy()
            params.record["E"], params.record["preliminary"] = 0, 1
            params.record["delta"] = delta.ctypes.data
            self._run(params, None)
        return delta

    def gradients(
        self, output: Array, d_output: Array, extra: Array | None, wanted: Sequence[bool] | None
    ) -> Gradients:
        B, H, N, _ = self.shape
        steps = self.spec.scores.steps
        wanted = [True] * len(steps) if wanted is None else wanted
        found = [_empty(step, self.inside) if want else None for step, want in zip(steps, wanted, strict=True)]
        make = np.zeros if self.empty else np.empty
        dq, dk, dv = (make(x.shape, self.inside) for x in self.arrays)
        delta = np.zeros((B, H, N), self.inside)
        pairs = 0
        if not self.empty:
            params = self.params.copy()
            nowhere = self.reach[..., 0] >= self.reach[..., 1]
            if nowhere.any():  # no task visits these
                dq[np.repeat(nowhere, QUERY_BLOCK, axis=2)[:, :, :N]] = 0
            record = params.record
            record["d_output"] = strided(d_output)
            record["output"] = strided(output)
            for name, array in (
                ("dq", dq),
                ("dk", dk),
                ("dv", dv),
                ("delta", delta),
                ("extra_delta", extra),
            ):
                record[name] = 0 if array is None else array.ctypes.data
            params.held += [output, d_output, extra, dq, dk, dv, delta, found]
            if steps:
                self._tell_step_gradients(params, found)
            pairs = self._run(params, self._tasks(found))
        shown = [
            array[:, :-PANEL_AT_MOST] if array is not None and isinstance(step, Relative) else array
            for step, array in zip(steps, found, strict=True)
        ]
        return Gradients(dq, dk, dv, delta, shown, self.factors, pairs)

    def _tell_step_gradients(self, params: Params, found: list[Array | None]) -> None:
        """Set each step's gradient in the params: its array's address, or the derivative of a user's function."""
        spec, (B, H, N, M) = self.spec, self.shape
        records = np.zeros(len(found), STRIDED)
        params.record["step_gradients"] = records.ctypes.data
        params.held.append(records)
        for record, step, array in zip(records, spec.scores.steps, found, strict=True):
            if isinstance(step, Called):
                loop = slope_loop(step.function, step.derivative, params.dtype)
                record["address"] = loop.address
                params.held.append(loop)
            elif array is not None and isinstance(step, Relative):
                record["address"] = array[:, spec.first_query :].ctypes.data
                record["head"] = array.strides[0] if array.shape[0] > 1 else 0
            elif array is not None:
                whole = np.broadcast_to(array, (B, H, spec.queries or N, M))
                record["address"] = whole[:, :, spec.first_query :].ctypes.data
                record["batch"], record["head"], record["token"], record["column"] = whole.strides

    def _tasks(self, found: list[Array | None]) -> int | None:
        """The number of tasks if stripes that add to the same numbers must share a task; None for a task per stripe."""
        batch, key_heads = self.shape[0], self.key_heads
        arrays = [array for array in found if array is not None]
        heads = [array.shape[0] if array.ndim == 2 else array.shape[1] for array in arrays]
        if key_heads > 1 and 1 in heads:
            return 1
        # Batch elements share tables, and biases without a batch axis. The stripes of a head share tables, and biases
        # that are one number for all its queries and keys; for a bias per query, they take turns.
        alike = [array.ndim == 2 or array.shape[0] == 1 for array in arrays]
        of_heads = [array.ndim == 2 or array.shape[2:] == (1, 1) for array in arrays]
        return key_heads if any(of_heads) or (batch > 1 and any(alike)) else None

    def _run(self, params: Params, tasks: int | None) -> int:
        B, H, N, M = self.shape
        record, G = params.record, self.key_heads
        D, E = int(record["D"]), int(record["E"])
        tickets = np.zeros((B, H, int(record["blocks"])), np.int64)
        record["tickets"] = tickets.ctypes.data
        params.held.append(tickets)
        stripe = _lay_out(params, self.spec.scores.steps)
        units = B * G * -(-M // stripe)
        tasks = record["tasks"] = min(units, tasks or units)
        cost = -(-units // tasks) * (H // G) * N * min(M, stripe) * (3 * D + 2 * E)
        params.launch(min(workers_for(tasks * cost), tasks), tasks_at_a_time(cost))
        return int(record["work"])


def _reach(mask: LoweredMask | None, queries: int, keys: int) -> NDArray[np.int32]:
    """The keys [first, last) that any of a block of queries may look at, (B or 1, H or 1, blocks or 1, 2)."""
    if mask is None:
        return np.array([[[[0, keys]]]], np.int32)
    first, last = mask.bounds[..., 0], mask.bounds[..., 1]
    empty = first >= last
    first, last = np.where(empty, keys, first).min(axis=3), np.where(empty, 0, last).max(axis=3)
    if first.shape[2] > 1:
        starts = np.arange(0, queries, QUERY_BLOCK)
        first, last = np.minimum.reduceat(first, starts, axis=2), np.maximum.reduceat(last, starts, axis=2)
    return np.stack([first, last], axis=-1).astype(np.int32)


def _empty(step: Step, dtype: np.dtype[Any]) -> Array | None:
    """The array for a step's gradient, None if it has none; a table's is longer, since panels add whole lines."""
    if isinstance(step, Relative):
        return np.zeros((step.table.shape[0], step.table.shape[1] + PANEL_AT_MOST), dtype)
    return np.zeros(step.bias.shape, dtype) if isinstance(step, Added) else None


def _lay_out(params: Params, steps: Sequence[Step]) -> int:
    """Lay out the workspace, and choose the number of keys in a stripe; returns that number."""
    record, here = params.record, target()
    panel, size = here.panel(params.dtype), np.dtype(params.dtype).itemsize
    D, E = params.widths
    line_d, line_e = padded(D, size), padded(E, size)
    keys = _STRIPE_BYTES // (2 * (line_d + line_e)) // KEY_BLOCK * KEY_BLOCK
    stripe = min(max(keys, KEY_BLOCK), _MOST_KEYS)
    record["line_d"], record["line_e"], record["stripe"] = line_d, line_e, stripe
    curved = sum(not isinstance(step, (Relative, Added, Flattened)) for step in steps)
    intervals, elaborate = int(record["mask"]["intervals"]), bool(record["elaborate"])
    changes = bool(record["cuts"]["columns"]), int(record["factor_count"])
    params.lay_out(_layout(D, E, size, panel, here.rows, stripe, intervals, elaborate, curved, *changes))
    return stripe


@lru_cache(maxsize=64)
def _layout(
    D: int,
    E: int,
    size: int,
    panel: int,
    rows: int,
    stripe: int,
    intervals: int,
    elaborate: bool,
    curved: int,
    cuts: bool,
    factors: int,
) -> Layout:
    """A thread's workspace, for numbers of `size` bytes, masks of so many intervals, tiles of so many `rows`, and so
    many steps that aren't sums, and factors."""
    line, line_d, line_e = panel * size, padded(D, size), padded(E, size)
    block = (KEY_BLOCK + rows) * line
    parts = {
        "q": D * line,
        "acc": E * line,
        "m": line,
        "l": line,
        "bounds": intervals * 2 * panel * 4,
        "lots": 2 * panel * 4,
        **changes_in_panel(cuts, factors, panel, line),
    }
    shared = {
        "P": block,
        "dP": block,
        "flags": KEY_BLOCK * panel,
        "biases": elaborate * block,
        "P_undropped": elaborate * block,
        "P_dropped": elaborate * block,
        "step_inputs": curved * block,
        "row_gradients": 2 * line,
        "keys": stripe * line_d,
        "values": stripe * line_e,
        "dk": stripe * line_d,
        "dv": stripe * line_e,
        "finite": stripe // KEY_BLOCK * 8,
        "q": QUERY_BLOCK * line_d,
        "d_output": QUERY_BLOCK * line_e,
        "dq": QUERY_BLOCK * line_d,
        "delta": QUERY_BLOCK * size,
        "output": E * line,
        "block_P": KEY_BLOCK * wide(size),
        "block_dS": KEY_BLOCK * wide(size),
    }
    return laid_out("backward", shared, QUERY_BLOCK // panel, parts)
