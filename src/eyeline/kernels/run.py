"""The forward pass: fills the params, lays out the workspaces, and runs the tasks on threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import run_decode
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.programs import KEY_BLOCK
from eyeline.kernels.launch import Layout, Params, address_of, computed, laid_out, tell_rectangle, workers_for
from eyeline.kernels.machine import target
from eyeline.kernels.primitives import PrimitiveResults, PrimitiveRoom, Primitives

Array = NDArray[Any]
#: The number of queries that use a block of keys while it is in the cache.
_QUERIES_TOGETHER = 128
#: The most bytes of scores that a thread keeps for several panels: about what the L1 and L2 caches hold.
_KEPT_TOGETHER = 1 << 20


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


def forward(q: Array, k: Array, v: Array, spec: AttentionSpec, primitives: Primitives | None = None) -> Pass:
    """Attention of q (B, H, N, D) to k (B, G, M, D) and v (B, G, M, E), all of one type, of any strides.

    Types are float32, float64, float16, or uint16 for the bits of bfloat16; the last two are computed in float32, and
    have maxima and sums in float32.
    """
    B, H, N, _ = q.shape
    inside = computed(q.dtype)
    output = np.empty((B, H, N, v.shape[3]), q.dtype)
    maxima, sums = np.empty((B, H, N), inside), np.empty((B, H, N), inside)
    if primitives is None and run_decode.eligible(q, k, v, spec):
        decoded = run_decode.forward(q, k, v, spec, output, maxima, sums)
        if decoded is not None:
            return Pass(output, maxima, sums, decoded)
    params = Params("forward", (q, k, v), spec, (maxima, sums))
    found = None if primitives is None else PrimitiveResults(primitives, params.shape, inside)
    params.record["output"] = address_of(output)
    params.held.append(output)
    if found is not None:
        found.tell(params)
    return Pass(output, maxima, sums, _sweep(params, k.shape[2], found), found)


def weights(q: Array, k: Array, spec: AttentionSpec, maxima: Array, sums: Array, rows: Array, columns: Array) -> Array:
    """A rectangle of the weights of q (B, H, N, D) on k (B, G, M, D), (B, H, R, C): the queries `rows` and the keys
    `columns`, each once and in order, from all queries' maxima and sums."""
    B, H, _, _ = q.shape
    rectangle = np.zeros((B, H, len(rows), len(columns)), computed(q.dtype))
    if rectangle.size:
        totals = np.ascontiguousarray(maxima), np.ascontiguousarray(sums)
        params = Params("forward", (q, k, k[..., :0]), spec, totals)
        tell_rectangle(params, params.record["rectangle"], rectangle, rows, columns)
        _sweep(params, k.shape[2], None)
    return rectangle


def _sweep(params: Params, keys_here: int, found: PrimitiveResults | None) -> int:
    """Run the kernel for all heads and queries; returns the number of query-key pairs computed."""
    B, H, N, M = params.shape
    if not B * H * N:
        return 0
    record, here = params.record, target()
    panel, size = here.panel(params.dtype), np.dtype(params.dtype).itemsize
    D, E = params.widths
    cost = keys_here * (D + E)
    workers = workers_for(B * H * N * cost)
    # Several panels per task, as long as every thread has some tasks.
    in_a_head = -(-N // panel)
    together = _QUERIES_TOGETHER // panel
    if found is not None:
        together = min(together, max(1, _KEPT_TOGETHER // (max(M, 1) * panel * size)))
    panels = max(1, min(together, in_a_head * B * H // (4 * workers), in_a_head))
    blocks = -(-in_a_head // panels)
    tasks = record["tasks"] = B * H * blocks
    record["blocks"], record["panels"] = blocks, panels
    room = None if found is None else found.room
    half, intervals, stepped = record["half"] != 0, int(record["mask"]["intervals"]), record["step_count"] > 0
    params.lay_out(_layout(D, E, size, panel, panels, here.rows, bool(half), intervals, bool(stepped), room))
    params.launch(min(workers, tasks), panels * panel * cost)
    return int(record["work"])


@lru_cache(maxsize=64)
def _layout(
    D: int,
    E: int,
    size: int,
    panel: int,
    panels: int,
    rows: int,
    half: bool,
    intervals: int,
    stepped: bool,
    room: PrimitiveRoom | None,
) -> Layout:
    """A thread's workspace, for numbers of `size` bytes, masks of so many intervals, and tiles of so many `rows`."""
    line = panel * size
    parts = {
        "q": D * line,
        "acc": E * line,
        "m": line,
        "l": line,
        "bounds": intervals * 2 * panel * 4,
        "lots": 2 * panel * 4,
    }
    shared = {
        "P": (KEY_BLOCK + rows) * line,
        "flags": KEY_BLOCK * panel,
        "biases": KEY_BLOCK * line if stepped else 0,
        "block_m": line,
        "block_l": line,
        "shift": line,
        "alpha": line,
        "inverse_l": line,
        "keys": half * KEY_BLOCK * D * size,
        "values": half * KEY_BLOCK * E * size,
        "rows": (1 + half) * panel * max(D, E) * size,
    }
    if room is not None:
        parts |= room.in_panel(line, rows)
        shared |= room.in_workspace(line, size)
    return laid_out("forward", shared, panels, parts)
