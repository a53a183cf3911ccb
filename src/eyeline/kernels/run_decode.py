"""Decoding: the forward pass for few queries and many keys, with the same bits as the usual one."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from eyeline.kernels import threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.call_records import Stage
from eyeline.kernels.compiled.programs import KEY_BLOCK, SCORES_APART, widths_across
from eyeline.kernels.forms import ArrayForm, Memory, address_of
from eyeline.kernels.launch import Params, key_words, tasks_at_a_time, workers_for
from eyeline.kernels.layouts import Layout, laid_out
from eyeline.kernels.machine import target
from eyeline.kernels.small_plan import MOST_WORK, Changes, SmallPlan
from eyeline.masks import LoweredMask


class Keys(NamedTuple):
    """The keys and values of a call where they are other than its plan's: their number M, their strides in bytes, the
    lowered mask; and what that changes of the params."""

    M: int
    k_strides: tuple[int, ...]
    v_strides: tuple[int, ...]
    mask: LoweredMask | None
    changes: Changes


def keys_of(M: int, k_strides: tuple[int, ...], v_strides: tuple[int, ...], mask: LoweredMask | None) -> Keys:
    """M keys and values in arrays (B, G, M, ·) of these strides in bytes, with a mask of intervals alone."""
    return Keys(M, k_strides, v_strides, mask, Changes(key_words("decode", M, k_strides, v_strides, mask)))


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
        and not scores.weighs
        and not scores.hides
        and not spec.dropout
        and spec.first_key == 0
        and spec.keys in (None, M)
        and (_parts(B * G, threads.get_threads()) == 1 or H // G * N <= D + E)
    )


class DecodePlan:
    """Decoding of arrays of these forms, `eligible`, ready but for their addresses and the number of keys; bit for bit
    as the usual pass.

    Args:
        forms: of q (B, H, N, D), k (B, G, M, D), v (B, G, M, E) and the output (B, H, N, E).
        spec: scale, mask, scores and dropout.
    """

    def __init__(self, forms: tuple[ArrayForm, ArrayForm, ArrayForm, ArrayForm], spec: AttentionSpec) -> None:
        B, H, N, _ = forms[0].shape
        G, M, _ = forms[2].shape[1:]
        params = self._params = Params("decode", forms[:3], spec)
        params.record["output"] = (0, *forms[3].strides)
        self._rows, self._key_heads, self._keys = H // G * N, B * G, M
        self._lanes = target().lanes(params.dtype)
        self._scores_block = _lay_out(params, self._rows)
        record = params.record
        record["tasks"], record["stage"], record["parts"] = B * G, Stage.EVERYTHING, 1
        self._small: SmallPlan | None = None

    def run_small(self, q: int, k: int, v: int, output: int, keys: Keys | None) -> bool:
        """Fill the output alone, if that is little work; False if it isn't, or if a row isn't finite."""
        D, E = self._params.widths
        work = self._key_heads * self._rows * (self._keys if keys is None else keys.M) * (D + E)
        if work > MOST_WORK or workers_for(work) > 1:
            return False
        if self._small is None:
            self._small = SmallPlan(self._params, self._key_heads * self._rows, "unsound")
        return not self._small.run(q, k, v, output, None if keys is None else keys.changes)

    def run(self, at: Memory, output: int, keys: Keys | None = None) -> int | None:
        """Fill the output, m and l at these addresses; `keys` are given where they differ from those of the forms.

        Returns the number of query-key pairs computed; None where a row isn't finite, in which case the results are
        invalid and the usual pass must be run.
        """
        params, M, key_heads = self._params.copy(), self._keys, self._key_heads
        params.point(at)
        params.set("output", output)
        if keys is not None:
            M = keys.M
            params.change(keys.changes.words)
        D, E = params.widths
        cost = self._rows * M * (D + E)
        workers = workers_for(key_heads * cost)
        parts = _parts(key_heads, workers)
        stages = [(Stage.EVERYTHING, 1)]
        if parts > 1:
            blocks = -(-M // KEY_BLOCK)
            scores = np.empty(key_heads * blocks * self._scores_block, np.uint8)
            params.held.append(scores)
            columns = -(-E // (parts * self._lanes)) * self._lanes
            params.set("scores", address_of(scores))
            params.set("part_columns", columns)
            stages = [(Stage.KEEP_SCORES, min(parts, blocks)), (Stage.SUM_VALUES, -(-E // columns))]
        for stage, count in stages:
            tasks = key_heads * count
            params.set("next_task", 0)
            params.set("tasks", tasks)
            params.set("stage", stage)
            params.set("parts", count)
            params.launch(min(workers, tasks), tasks_at_a_time(cost // count))
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
