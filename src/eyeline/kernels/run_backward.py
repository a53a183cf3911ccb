"""The backward pass: lay out the words and the scratch, hand the tasks to the threads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, threads
from eyeline.kernels.backward_layout import QUERY_BLOCK, Gradient, padded, wide
from eyeline.kernels.launch import follow, launch, tell_array, tell_setting
from eyeline.kernels.layout import KEY_BLOCK, Word
from eyeline.kernels.machine import DType, target
from eyeline.kernels.setting import Setting
from eyeline.masks import Lowered

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
_WORTH_A_THREAD = 1 << 21
#: Bytes of a stripe of keys, values and their gradients, which should stay in the cache.
_STRIPE_BYTES = 1 << 19
_MOST_KEYS = 512


@dataclass(frozen=True)
class Gradients:
    """The gradients of a loss.

    Attributes:
        dq, dk, dv: in queries, keys and values, of their shapes, contiguous.
        totals: (B, H, N), each row's Σ_j w_ij · (gradient in w_ij).
        steps: for each step that changes scores, the gradient in its array, or None if it has none.
    """

    dq: Array
    dk: Array
    dv: Array
    totals: Array
    steps: list[Array | None]


def backward(
    q: Array, k: Array, v: Array, setting: Setting, output: Array, maxima: Array, sums: Array, d_output: Array
) -> Gradients:
    """The gradients in q (B, H, N, D), k (B, G, M, D) and v (B, G, M, E), of any strides, all of one type.

    `output`, `maxima` and `sums` are what the forward pass gave for them; `d_output` (B, H, N, E), of any strides, is
    the gradient in the output.
    """
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    dq, totals = np.zeros((B, H, N, D), q.dtype), np.zeros((B, H, N), q.dtype)
    if not B * H * N * M:
        return Gradients(dq, np.zeros(k.shape, k.dtype), np.zeros(v.shape, v.dtype), totals, [])
    dk, dv = np.empty(k.shape, k.dtype), np.empty(v.shape, v.dtype)
    output, maxima, sums = (np.ascontiguousarray(x) for x in (output, maxima, sums))
    dtype: DType = "float32" if q.dtype == np.float32 else "float64"
    blocks = -(-N // QUERY_BLOCK)
    reach = np.broadcast_to(_reach(setting.mask, N, M), (B, H, blocks, 2))
    turns = np.zeros((B, H, blocks), np.int64)

    words = [0] * (len(Word) + len(Gradient))
    words[Word.HEADS], words[Word.GROUP], words[Gradient.KEY_HEADS] = H, H // G, G
    words[Word.QUERIES], words[Word.KEYS], words[Word.WIDTH], words[Word.VALUE_WIDTH] = N, M, D, E
    words[Word.BLOCKS] = blocks
    for place, array in ((Word.Q, q), (Word.K, k), (Word.V, v), (Gradient.D_OUTPUT, d_output)):
        tell_array(words, place, array)
    for word, array in (
        (Word.OUT, output),
        (Word.MAXIMA, maxima),
        (Word.SUMS, sums),
        (Gradient.DQ, dq),
        (Gradient.DK, dk),
        (Gradient.DV, dv),
        (Gradient.TOTALS, totals),
        (Gradient.TURNS, turns),
    ):
        words[word] = array.ctypes.data
    words[Gradient.REACH : Gradient.REACH + 4] = [reach.ctypes.data, *reach.strides[:3]]
    told = tell_setting(words, setting, (B, H, N, M), dtype)
    stripe = _lay_out_scratch(words, q.itemsize, dtype)
    tasks = words[Word.TASKS] = B * G * -(-M // stripe)

    block = np.array(words, np.int64)
    block[Word.FACTOR : Word.FACTOR + 1].view(q.dtype)[0] = setting.scale * math.log2(math.e)
    block[Gradient.SCALE : Gradient.SCALE + 1].view(q.dtype)[0] = setting.scale
    cost = H // G * N * min(M, stripe) * (3 * D + 2 * E)
    workers = threads.get_threads() if tasks * cost > _WORTH_A_THREAD else 1
    held = (q, k, v, setting, told, output, maxima, sums, d_output, dq, dk, dv, totals, turns, reach)
    launch(library.kernel("backward", dtype), block, min(workers, tasks), cost, held)
    return Gradients(dq, dk, dv, totals, [])


def _reach(mask: Lowered | None, queries: int, keys: int) -> NDArray[np.int32]:
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


def _lay_out_scratch(words: list[int], size: int, dtype: DType) -> int:
    """Say where each part of a thread's scratch begins, and how many keys a stripe has; returns the latter."""
    here = target()
    panel = here.panel(dtype)
    panels = QUERY_BLOCK // panel
    line = panel * size
    D, E = words[Word.WIDTH], words[Word.VALUE_WIDTH]
    line_d, line_e = words[Gradient.LINE_D], words[Gradient.LINE_E] = padded(D, size), padded(E, size)
    keys = _STRIPE_BYTES // (2 * (line_d + line_e)) // KEY_BLOCK * KEY_BLOCK
    stripe = words[Gradient.STRIPE] = min(max(keys, KEY_BLOCK), _MOST_KEYS)

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
        (Word.S_WEIGHTS, (KEY_BLOCK + here.rows) * line),
        (Gradient.S_GAINS, (KEY_BLOCK + here.rows) * line),
        (Word.S_FLAGS, KEY_BLOCK * panel),
        (Word.S_LINES, KEY_BLOCK * line if words[Word.STEP_COUNT] else 0),
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
