"""One pass over the matrix: lay out the words and the scratch, hand the tasks to the threads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, threads
from eyeline.kernels.launch import follow, launch, tell_array, tell_mask
from eyeline.kernels.layout import KEY_BLOCK, Word
from eyeline.kernels.machine import DType, target
from eyeline.kernels.setting import Setting

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
_WORTH_A_THREAD = 1 << 21
#: Queries that share a block of keys while it is in the cache.
_QUERIES_TOGETHER = 128


@dataclass(frozen=True)
class Pass:
    """What a forward pass gives.

    Attributes:
        output: (B, H, N, E).
        maxima: (B, H, N), each row's largest score, in base 2.
        sums: (B, H, N), each row's sum of 2^(score - largest).
        pairs: the number of query-key pairs that were computed for it.
    """

    output: Array
    maxima: Array
    sums: Array
    pairs: int


def forward(q: Array, k: Array, v: Array, setting: Setting) -> Pass:
    """Attention of q (B, H, N, D) to k (B, G, M, D) and v (B, G, M, E), all float32 or all float64, of any strides."""
    B, H, N, _ = q.shape
    output = np.empty((B, H, N, v.shape[3]), q.dtype)
    maxima, sums = np.empty((B, H, N), q.dtype), np.empty((B, H, N), q.dtype)
    pairs = _sweep(Word.OUT, output, q, k, v, setting, maxima, sums)
    return Pass(output, maxima, sums, pairs)


def weights(q: Array, k: Array, setting: Setting, maxima: Array, sums: Array) -> Array:
    """The weights of q (B, H, N, D) on k (B, G, M, D), (B, H, N, M), from these queries' maxima and sums."""
    B, H, N, _ = q.shape
    matrix = np.zeros((B, H, N, k.shape[2]), q.dtype)
    totals = np.ascontiguousarray(maxima), np.ascontiguousarray(sums)
    _sweep(Word.WEIGHTS, matrix, q, k, k[..., :0], setting, *totals)
    return matrix


def _sweep(
    what: Word,
    result: Array,
    q: Array,
    k: Array,
    v: Array,
    setting: Setting,
    maxima: Array,
    sums: Array,
) -> int:
    """Run the kernel over all heads and queries, to fill `result`; returns the number of query-key pairs computed."""
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    if not B * H * N:
        return 0
    dtype: DType = "float32" if q.dtype == np.float32 else "float64"
    here = target()
    panel = here.panel(dtype)
    cost = M * (D + E)
    workers = threads.get_threads() if B * H * N * cost > _WORTH_A_THREAD else 1
    # Several panels to a task, as long as every thread has some tasks.
    in_a_head = -(-N // panel)
    panels = max(1, min(_QUERIES_TOGETHER // panel, in_a_head * B * H // (4 * workers), in_a_head))
    blocks = -(-in_a_head // panels)

    words = [0] * len(Word)
    words[what] = result.ctypes.data
    words[Word.TASKS], words[Word.HEADS], words[Word.GROUP] = B * H * blocks, H, H // max(G, 1)
    words[Word.QUERIES], words[Word.KEYS], words[Word.WIDTH], words[Word.VALUE_WIDTH] = N, M, D, E
    words[Word.BLOCKS], words[Word.PANELS] = blocks, panels
    words[Word.MAXIMA], words[Word.SUMS] = maxima.ctypes.data, sums.ctypes.data
    for place, array in ((Word.Q, q), (Word.K, k), (Word.V, v)):
        tell_array(words, place, array)
    intervals = tell_mask(words, setting.mask, (B, H, N, M))
    _lay_out_scratch(words, here.rows, panel, panels, intervals, q.itemsize)

    block = np.array(words, np.int64)
    block[Word.FACTOR : Word.FACTOR + 1].view(q.dtype)[0] = setting.scale * math.log2(math.e)
    held = (q, k, v, setting, maxima, sums, result)
    launch(library.kernel("forward", dtype), block, min(workers, B * H * blocks), panels * panel * cost, held)
    return int(block[Word.WORK])


def _lay_out_scratch(words: list[int], rows: int, panel: int, panels: int, intervals: int, size: int) -> None:
    """Say where each part of a thread's scratch begins, each on a cache line of its own."""
    line = panel * size

    state = (
        (Word.S_OUT, words[Word.VALUE_WIDTH] * line),
        (Word.S_MAXIMA, line),
        (Word.S_SUMS, line),
        (Word.S_BOUNDS, intervals * 2 * panel * 4),
        (Word.S_RANGE, 64),
    )
    # A state begins with its packed queries.
    words[Word.S_STATE_SIZE] = follow(words, -(-words[Word.WIDTH] * line // 64) * 64, state)
    shared = (
        (Word.S_STATE, panels * words[Word.S_STATE_SIZE]),
        (Word.S_WEIGHTS, (KEY_BLOCK + rows) * line),
        (Word.S_FACTORS, line),
        (Word.S_TOPS, line),
        (Word.S_ADDED, line),
        (Word.S_FLAGS, KEY_BLOCK * panel),
    )
    words[Word.S_SIZE] = follow(words, 0, shared)
