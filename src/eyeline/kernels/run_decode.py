"""Decoding: the forward pass for few queries and many keys, with the same bits as the usual one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from eyeline.kernels import threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.params import Stage
from eyeline.kernels.compiled.programs import KEY_BLOCK, SCORES_APART, widths_across
from eyeline.kernels.launch import ArrayForm, Layout, Memory, Params, address_of, laid_out, tasks_at_a_time, workers_for
from eyeline.kernels.machine import target

#: The most queries, and the fewest keys, for which this kernel is faster.
MOST_QUERIES, FEWEST_KEYS = 8, 64
#: Key heads are split into parts where their number would leave threads idle for more than this share of the time.
_IDLE = 0.2


def eligible(forms: tuple[ArrayForm, ...], spec: AttentionSpec) -> bool:
    """Whether a `DecodePlan` of these forms of q, k and v supports the call, and is faster than the usual pass."""
    q, k, v = forms[:3]
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    mask, scores = spec.mask, spec.scores
    return (
        0 < N <= MOST_QUERIES
        and M >= FEWEST_KEYS
        and min(B, H, D, E) > 0
        and k.strides[3] == v.strides[3] == q.dtype.itemsize
        and (mask is None or (mask.allowed is None and not mask.functions))
        and not scores.steps
        and not spec.dropout
        and spec.first_key == 0
        and spec.keys in (None, M)
        and (_parts(B * G, threads.get_threads()) == 1 or H // G * N <= D + E)
    )


class DecodePlan:
    """Decoding of arrays of these forms, `eligible`, ready but for their addresses; bit for bit as the usual pass.

    Args:
        forms: of q (B, H, N, D), k (B, G, M, D), v (B, G, M, E) and the output (B, H, N, E).
        spec: scale, mask, scores and dropout.
    """

    def __init__(self, forms: tuple[ArrayForm, ArrayForm, ArrayForm, ArrayForm], spec: AttentionSpec) -> None:
        B, H, N, D = forms[0].shape
        G, M, E = forms[2].shape[1:]
        rows = H // G * N
        cost = rows * M * (D + E)
        params = self._params = Params("decode", forms[:3], spec)
        record, workers = params.record, workers_for(B * G * cost)
        record["output"] = (0, *forms[3].strides)
        scores_block = _lay_out(params, rows)
        parts = _parts(B * G, workers)
        blocks, lanes = -(-M // KEY_BLOCK), target().lanes(params.dtype)
        stages, self._scores = [(Stage.EVERYTHING, 1)], 0
        if parts > 1:
            self._scores = B * G * blocks * scores_block
            columns = record["part_columns"] = -(-E // (parts * lanes)) * lanes
            stages = [(Stage.KEEP_SCORES, min(parts, blocks)), (Stage.SUM_VALUES, -(-E // int(columns)))]
        record["tasks"], record["stage"], record["parts"] = B * G * stages[0][1], *stages[0]
        #: For each stage: itself, parts, tasks, threads, and tasks at a time.
        self._stages = [
            (stage, count, B * G * count, min(workers, B * G * count), tasks_at_a_time(cost // count))
            for stage, count in stages
        ]

    def run(self, at: Memory, output: int, held: object) -> int | None:
        """Fill the output, m and l at these addresses.

        Returns the number of query-key pairs computed; None where a row isn't finite, in which case the results are
        invalid and the usual pass must be run.
        """
        params = self._params.copy()
        params.point(at, held)
        params.set("output", output)
        if self._scores:
            scores = np.empty(self._scores, np.uint8)
            params.held.append(scores)
            params.set("scores", address_of(scores))
        for number, (stage, parts, tasks, workers, most) in enumerate(self._stages):
            if number:
                params.set("next_task", 0)
                params.set("tasks", tasks)
                params.set("stage", stage)
                params.set("parts", parts)
            params.launch(workers, most)
        return None if params.read("unsound") else params.read("work")


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
