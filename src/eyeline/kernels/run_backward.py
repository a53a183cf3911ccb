"""The backward pass: lay out the words and the scratch, hand the tasks to the threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.backward_layout import QUERY_BLOCK, Gradient, padded, wide
from eyeline.kernels.functions import slope_loop
from eyeline.kernels.launch import follow, launch, tell_array, tell_setting
from eyeline.kernels.layout import KEY_BLOCK, PANEL_AT_MOST, STEP_WORDS, Word
from eyeline.kernels.machine import DType, target
from eyeline.kernels.primitive_gradients import PrimitiveGradients, kept
from eyeline.masks import LoweredMask
from eyeline.scores import Added, Called, Relative, Step

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
_WORTH_A_THREAD = 1 << 21
#: Bytes of a stripe of keys, values and their gradients, which should stay in the cache.
_STRIPE_BYTES = 3 << 18
_MOST_KEYS = 512


@dataclass(frozen=True)
class Gradients:
    """The gradients of a loss.

    Attributes:
        dq, dk, dv: in queries, keys and values, of their shapes, contiguous.
        totals: (B, H, N), each row's Σ_j w_ij · (gradient in w_ij) - (gradient in lse_i): times minus the share of a
            sink, and summed over the rows, it is the gradient in the sink's logit. 0 where a row may look at nothing.
        steps: for each step that changes scores, the gradient in its array, or None if it has none.
        pairs: the number of query-key pairs that were computed for it.
    """

    dq: Array
    dk: Array
    dv: Array
    totals: Array
    steps: list[Array | None]
    pairs: int


def backward(
    q: Array,
    k: Array,
    v: Array,
    setting: AttentionSpec,
    output: Array,
    maxima: Array,
    sums: Array,
    d_output: Array,
    primitives: PrimitiveGradients | None = None,
    wanted: Sequence[bool] | None = None,
) -> Gradients:
    """The gradients in q (B, H, N, D), k (B, G, M, D) and v (B, G, M, E), of any strides, all float32 or all float64.

    `output`, `maxima` and `sums` are what the forward pass gave for them; `d_output` (B, H, N, E), of any strides, is
    the gradient in the output, `primitives` are those in what was read. `wanted` says of each step that changes scores
    whether its array's gradient is to be found, all if not given: what is added to many scores at once has to be summed
    in one order, which leaves less for threads to share.
    """
    call = _Call((q, k, v), setting, maxima, sums, primitives)
    extra: Array | None = None
    if primitives is not None:
        parts = [] if primitives.d_lse is None else [-primitives.d_lse]
        if primitives.of_weights():
            totals = primitives.known_totals(kept(maxima, sums, setting.scores.sinks))
            parts.append(call.read_totals() if totals is None else totals)
        extra = np.ascontiguousarray(sum(parts), q.dtype) if parts else None
    return call.gradients(output, d_output, extra, wanted)


class _Call:
    """The words that both passes share: one for the readouts' part of the rows' totals, one for the gradients."""

    def __init__(
        self,
        arrays: tuple[Array, Array, Array],
        setting: AttentionSpec,
        maxima: Array,
        sums: Array,
        primitives: PrimitiveGradients | None,
    ) -> None:
        self.arrays, self.setting = arrays, setting
        q, k, v = arrays
        self.inside = q.dtype
        self.dtype: DType = "float32" if q.dtype == np.float32 else "float64"
        B, H, N, D = q.shape
        G, here, E = v.shape[1:]
        M = setting.keys or here
        self.shape = (B, H, N, M)
        self.empty = not B * H * N * here
        if self.empty:
            return
        maxima, sums = np.ascontiguousarray(maxima), np.ascontiguousarray(sums)
        blocks = -(-N // QUERY_BLOCK)
        reach = self.reach = np.broadcast_to(_reach(setting.mask, N, M), (B, H, blocks, 2))
        words = self.words = [0] * (len(Word) + len(Gradient))
        words[Gradient.BATCHES], words[Word.HEADS], words[Gradient.KEY_HEADS], words[Word.GROUP] = B, H, G, H // G
        words[Word.QUERIES], words[Word.KEYS], words[Word.WIDTH], words[Word.VALUE_WIDTH] = N, M, D, E
        words[Word.BLOCKS] = blocks
        words[Gradient.FIRST_KEY], words[Gradient.HERE_KEYS] = setting.first_key, here
        for place, array in ((Word.Q, q), (Word.K, k), (Word.V, v)):
            tell_array(words, place, array)
            if place != Word.Q:
                # Keys have their numbers among all; the mask hides those that aren't here.
                words[place] -= setting.first_key * array.strides[2]
        words[Word.MAXIMA], words[Word.SUMS] = maxima.ctypes.data, sums.ctypes.data
        words[Gradient.REACH : Gradient.REACH + 4] = [reach.ctypes.data, *reach.strides[:3]]
        told = tell_setting(words, setting, self.shape, self.dtype)
        weighed = primitives is not None and primitives.of_weights()
        read = primitives.tell(words, sums, M) if primitives is not None and weighed else []
        words[Gradient.ELABORATE] = int(weighed or words[Word.DROPPED] != 0 or bool(setting.scores.steps))
        self.held = (arrays, setting, maxima, sums, reach, told, read)

    def read_totals(self) -> Array:
        """(B, H, N): each row's Σ_j w_ij · (what readouts say of w_ij)."""
        B, H, N, _ = self.shape
        totals = np.zeros((B, H, N), self.inside)
        if not self.empty:
            words = self.words.copy()
            words[Word.VALUE_WIDTH], words[Gradient.PRELIMINARY] = 0, 1
            words[Gradient.TOTALS] = totals.ctypes.data
            self._run(words, None, totals)
        return totals

    def gradients(
        self, output: Array, d_output: Array, extra: Array | None, wanted: Sequence[bool] | None
    ) -> Gradients:
        B, H, N, _ = self.shape
        q, k, v = self.arrays
        steps = self.setting.scores.steps
        wanted = [True] * len(steps) if wanted is None else wanted
        found = [_empty(step, self.inside) if want else None for step, want in zip(steps, wanted, strict=True)]
        make = np.zeros if self.empty else np.empty
        dq, dk, dv = (make(x.shape, self.inside) for x in (q, k, v))
        totals = np.zeros((B, H, N), self.inside)
        pairs = 0
        if not self.empty:
            words, output = self.words.copy(), np.ascontiguousarray(output)
            nowhere = self.reach[..., 0] >= self.reach[..., 1]
            if nowhere.any():  # no one comes there
                dq[np.repeat(nowhere, QUERY_BLOCK, axis=2)[:, :, :N]] = 0
            tell_array(words, Gradient.D_OUTPUT, d_output)
            for word, array in (
                (Word.OUT, output),
                (Gradient.DQ, dq),
                (Gradient.DK, dk),
                (Gradient.DV, dv),
                (Gradient.TOTALS, totals),
                (Gradient.EXTRA, extra),
            ):
                words[word] = 0 if array is None else array.ctypes.data
            rows = np.zeros((max(len(steps), 1), STEP_WORDS), np.int64)
            loops = [
                _tell_gradient(row, step, array, self.shape, self.setting, self.dtype)
                for row, step, array in zip(rows, steps, found, strict=False)
            ]
            words[Gradient.STEP_GRADIENTS] = rows.ctypes.data if steps else 0
            tasks = self._tasks(found)
            pairs = self._run(words, tasks, (output, d_output, extra, dq, dk, dv, totals, found, rows, loops))
        shown = [
            array[:, :-PANEL_AT_MOST] if array is not None and isinstance(step, Relative) else array
            for step, array in zip(steps, found, strict=True)
        ]
        return Gradients(dq, dk, dv, totals, shown, pairs)

    def _tasks(self, found: list[Array | None]) -> int | None:
        """How many tasks there are if they aren't one for each stripe: those that add to the same numbers are one."""
        batch, key_heads = self.shape[0], self.words[Gradient.KEY_HEADS]
        arrays = [array for array in found if array is not None]
        heads = [array.shape[0] if array.ndim == 2 else array.shape[1] for array in arrays]
        if key_heads > 1 and 1 in heads:
            return 1
        # Batch elements share tables, and biases without an axis for them. So do stripes of a head tables and a number
        # for all its queries and keys; where it is one for each query, they take turns.
        alike = [array.ndim == 2 or array.shape[0] == 1 for array in arrays]
        of_heads = [array.ndim == 2 or array.shape[2:] == (1, 1) for array in arrays]
        return key_heads if any(of_heads) or (batch > 1 and any(alike)) else None

    def _run(self, words: list[int], tasks: int | None, results: object) -> int:
        B, H, N, M = self.shape
        D, E, G = words[Word.WIDTH], words[Word.VALUE_WIDTH], words[Gradient.KEY_HEADS]
        turns = np.zeros((B, H, words[Word.BLOCKS]), np.int64)
        words[Gradient.TURNS] = turns.ctypes.data
        stripe = _lay_out_scratch(words, self.setting.scores.steps, self.inside.itemsize, self.dtype)
        units = B * G * -(-M // stripe)
        tasks = words[Word.TASKS] = min(units, tasks or units)
        cost = -(-units // tasks) * (H // G) * N * min(M, stripe) * (3 * D + 2 * E)
        workers = threads.get_threads() if tasks * cost > _WORTH_A_THREAD else 1
        block = np.array(words, np.int64)
        for word, value in (
            (Word.FACTOR, self.setting.scale * math.log2(math.e)),
            (Word.KEPT, 1 / (1 - self.setting.dropout)),
            (Gradient.SCALE, self.setting.scale),
        ):
            block[word : word + 1].view(self.inside)[0] = value
        held = (self.held, results, turns)
        launch(library.kernel("backward", self.dtype), block, min(workers, tasks), cost, held)
        return int(block[Word.WORK])


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
    """What a step's array has its gradient added up in; a table is longer, since panels add whole lines."""
    if isinstance(step, Relative):
        return np.zeros((step.table.shape[0], step.table.shape[1] + PANEL_AT_MOST), dtype)
    return np.zeros(step.bias.shape, dtype) if isinstance(step, Added) else None


def _tell_gradient(
    row: Array, step: Step, found: Array | None, shape: tuple[int, int, int, int], setting: AttentionSpec, dtype: DType
) -> object:
    """Where a step's array has its gradient; returns what has to be kept alive."""
    if isinstance(step, Called):
        loop = slope_loop(step.function, step.derivative, dtype)
        row[0] = loop.address
        return loop
    if found is not None and isinstance(step, Relative):
        row[0], row[2] = found[:, setting.first_query :].ctypes.data, found.strides[0] if found.shape[0] > 1 else 0
    elif found is not None:
        whole = np.broadcast_to(found, (*shape[:2], setting.queries or shape[2], shape[3]))
        row[0], row[1:5] = whole[:, :, setting.first_query :].ctypes.data, whole.strides
    return found


def _lay_out_scratch(words: list[int], steps: Sequence[Step], size: int, dtype: DType) -> int:
    """Say where each part of a thread's scratch begins, and how many keys a stripe has; returns the latter."""
    here = target()
    panel = here.panel(dtype)
    panels = QUERY_BLOCK // panel
    line = panel * size
    D, E = words[Word.WIDTH], words[Word.VALUE_WIDTH]
    line_d, line_e = words[Gradient.LINE_D], words[Gradient.LINE_E] = padded(D, size), padded(E, size)
    keys = _STRIPE_BYTES // (2 * (line_d + line_e)) // KEY_BLOCK * KEY_BLOCK
    stripe = words[Gradient.STRIPE] = min(max(keys, KEY_BLOCK), _MOST_KEYS)
    block = (KEY_BLOCK + here.rows) * line
    elaborate = words[Gradient.ELABORATE]
    curved = sum(not isinstance(step, (Relative, Added)) for step in steps)

    state = (
        (Word.S_OUT, E * line),
        (Word.S_MAXIMA, line),
        (Word.S_SUMS, line),
        (Word.S_BOUNDS, words[Word.INTERVALS] * 2 * panel * 4),
        (Word.S_RANGE, 64),
        (Word.S_LOTS, 2 * panel * 4),
    )
    # A state begins with its packed queries.
    words[Word.S_STATE_SIZE] = follow(words, -(-D * line // 64) * 64, state)
    shared = (
        (Word.S_STATE, panels * words[Word.S_STATE_SIZE]),
        (Word.S_WEIGHTS, block),
        (Gradient.S_GAINS, block),
        (Word.S_FLAGS, KEY_BLOCK * panel),
        (Word.S_LINES, elaborate * block),
        (Gradient.S_FRESH, elaborate * block),
        (Gradient.S_INPUTS, curved * block),
        (Gradient.S_ROW_GRADIENTS, 2 * line),
        (Gradient.S_STRIPE_KEYS, stripe * line_d),
        (Gradient.S_STRIPE_VALUES, stripe * line_e),
        (Gradient.S_DK, stripe * line_d),
        (Gradient.S_DV, stripe * line_e),
        (Gradient.S_SOUND, stripe // KEY_BLOCK * 8),
        (Gradient.S_Q, QUERY_BLOCK * line_d),
        (Gradient.S_D_OUTPUT, QUERY_BLOCK * line_e),
        (Gradient.S_DQ, QUERY_BLOCK * line_d),
        (Gradient.S_TOTALS, QUERY_BLOCK * size),
        (Gradient.S_OUTPUT, E * line),
        (Gradient.S_PANELS, panels * 16),
        (Gradient.S_TAKEN, KEY_BLOCK * wide(size)),
        (Gradient.S_CHANGES, KEY_BLOCK * wide(size)),
    )
    words[Word.S_SIZE] = follow(words, 0, shared)
    return stripe
