"""Decoding: the forward pass for few queries and many keys, with the same bits as the usual one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.params import Stage
from eyeline.kernels.compiled.programs import KEY_BLOCK, SCORES_APART, widths_across
from eyeline.kernels.launch import Layout, Params, address_of, laid_out, workers_for
from eyeline.kernels.machine import target

Array = NDArray[Any]
#: The most queries, and the fewest keys, for which this kernel is faster.
_MOST_QUERIES, _FEWEST_KEYS = 8, 64
#: Key heads are split into parts where their number would leave threads idle for more than this share of the time.
_IDLE = 0.2


def eligible(q: Array, k: Array, v: Array, spec: AttentionSpec) -> bool:
    """Whether this module's `forward` supports the call, and is faster than the usual pass."""
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    mask, scores = spec.mask, spec.scores
    return (
        0 < N <= _MOST_QUERIES
        and M >= _FEWEST_KEYS
        and min(B, H, D, E) > 0
        and k.strides[3] == v.strides[3] == q.itemsize
        and (mask is None or (mask.allowed is None and not mask.functions))
        and not scores.steps
        and not spec.dropout
        and spec.first_key == 0
        and spec.keys in (None, M)
        and (_parts(B * G, threads.get_threads()) == 1 or H // G * N <= D + E)
    )


def forward(q: Array, k: Array, v: Array, spec: AttentionSpec, output: Array, maxima: Array, sums: Array) -> int | None:
    """Fill the output (B, H, N, E), maxima and sums (B, H, N), contiguous, of an `eligible` call, bit for bit as the
    usual pass does.

    Returns the number of query-key pairs computed; None where a row isn't finite, in which case the results are invalid
    and the usual pass must be run.
    """
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    rows = H // G * N
    cost = rows * M * (D + E)
    workers = workers_for(B * G * cost)
    params = Params("decode", (q, k, v), spec, (maxima, sums))
    record = params.record
    record["output"] = address_of(output)
    params.held.append(output)
    scores_block = _lay_out(params, rows)
    parts = _parts(B * G, workers)
    blocks, lanes = -(-M // KEY_BLOCK), target().lanes(params.dtype)
    stages = [(Stage.EVERYTHING, 1)]
    if parts > 1:
        scores = np.empty(B * G * blocks * scores_block, np.uint8)
        params.held.append(scores)
        columns = -(-E // (parts * lanes)) * lanes
        record["scores"], record["part_columns"] = scores.ctypes.data, columns
        stages = [(Stage.KEEP_SCORES, min(parts, blocks)), (Stage.SUM_VALUES, -(-E // columns))]
    for stage, count in stages:
        record["next_task"], record["tasks"], record["stage"], record["parts"] = 0, B * G * count, stage, count
        params.launch(min(workers, B * G * count), cost // count)
    return None if record["unsound"] else int(record["work"])


def _parts(heads: int, workers: int) -> int:
    """The number of parts of each key head, so that no thread is idle for long."""
    rounds = -(-heads // workers)
    return 1 if rounds * workers * (1 - _IDLE) <= heads else -(-2 * workers // heads)


def _lay_out(params: Params, rows: int) -> int:
    """Lay out the workspace; returns the bytes of a block of scores."""
    record, size = params.record, np.dtype(params.dtype).itemsize
    layout, few, scores_block = _layout(*params.widths, size, target().lanes(params.dtype), rows, bool(record["half"]))
    record["rows_across"], record["scores_block"] = few, scores_block
    params.lay_out(layout)
    return scores_block


@lru_cache(maxsize=64)
def _layout(D: int, E: int, size: int, lanes: int, rows: int, half: bool) -> tuple[Layout, int, int]:
    """A thread's workspace, for numbers of `size` bytes; how many rows a vector holds; and the bytes of a block of
    scores."""
    widths = widths_across(np.float32 if size == 4 else np.float64, lanes)
    few = next((few for few in widths if few >= rows), widths[-1])
    padded = -(-rows // few) * few
    scores_block = padded * SCORES_APART * size
    sizes = {
        "q": padded * (D + 1) * size,
        "acc": rows * -(-E // lanes) * lanes * size,
        "m": padded * size,
        "l": padded * size,
        "P": scores_block,
        "alpha": padded * size,
        "spread": lanes * size,
        "keys": half * KEY_BLOCK * D * size,
        "values": half * KEY_BLOCK * E * size,
        "rows": half * max(D, E) * size,
        "tail": KEY_BLOCK * lanes * size,
    }
    return laid_out("decode", sizes), few, scores_block
