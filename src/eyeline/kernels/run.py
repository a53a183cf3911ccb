"""One pass over the matrix: lay out the words and the scratch, hand the tasks to the threads."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, threads
from eyeline.kernels.layout import KEY_BLOCK, Word
from eyeline.kernels.machine import DType, target
from eyeline.masks import Lowered

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
_WORTH_A_THREAD = 1 << 21
#: Multiply-adds between two looks at whether the user wants to stop: some tenths of a second.
_BETWEEN_LOOKS = 1 << 34
#: Queries that share a block of keys while it is in the cache.
_QUERIES_TOGETHER = 128
_own = threading.local()


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


def forward(q: Array, k: Array, v: Array, lowered: Lowered | None, scale: float) -> Pass:
    """Attention of q (B, H, N, D) to k (B, G, M, D) and v (B, G, M, E), all float32 or all float64, of any strides."""
    B, H, N, _ = q.shape
    output = np.empty((B, H, N, v.shape[3]), q.dtype)
    maxima, sums = np.empty((B, H, N), q.dtype), np.empty((B, H, N), q.dtype)
    pairs = _sweep(Word.OUT, output, q, k, v, lowered, scale, maxima, sums)
    return Pass(output, maxima, sums, pairs)


def weights(q: Array, k: Array, lowered: Lowered | None, scale: float, maxima: Array, sums: Array) -> Array:
    """The weights of q (B, H, N, D) on k (B, G, M, D), (B, H, N, M), from these queries' maxima and sums."""
    B, H, N, _ = q.shape
    matrix = np.zeros((B, H, N, k.shape[2]), q.dtype)
    totals = np.ascontiguousarray(maxima), np.ascontiguousarray(sums)
    _sweep(Word.WEIGHTS, matrix, q, k, k[..., :0], lowered, scale, *totals)
    return matrix


def _sweep(
    what: Word,
    result: Array,
    q: Array,
    k: Array,
    v: Array,
    lowered: Lowered | None,
    scale: float,
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
        words[place : place + 5] = [array.ctypes.data, *array.strides]
    intervals = 0
    if lowered is not None:
        bounds = np.broadcast_to(lowered.bounds, (B, H, N, *lowered.bounds.shape[3:]))
        intervals = bounds.shape[3]
        words[Word.BOUNDS : Word.BOUNDS + 4] = [lowered.bounds.ctypes.data, *bounds.strides[:3]]
        words[Word.INTERVALS] = intervals
        if lowered.allowed is not None:
            allowed = np.broadcast_to(lowered.allowed, (B, H, N, M))
            words[Word.ALLOWED : Word.ALLOWED + 5] = [allowed.ctypes.data, *allowed.strides]
    _lay_out_scratch(words, here.rows, panel, panels, intervals, q.itemsize)

    block = np.array(words, np.int64)
    block[Word.FACTOR : Word.FACTOR + 1].view(q.dtype)[0] = scale * math.log2(math.e)
    _run(
        library.kernel(dtype),
        block,
        min(workers, B * H * blocks),
        max(1, _BETWEEN_LOOKS // max(panels * panel * cost, 1)),
        (q, k, v, lowered, maxima, sums, result),
    )
    return int(block[Word.WORK])


def _lay_out_scratch(words: list[int], rows: int, panel: int, panels: int, intervals: int, size: int) -> None:
    """Say where each part of a thread's scratch begins, each on a cache line of its own."""
    line = panel * size

    def follow(begin: int, parts: tuple[tuple[Word, int], ...]) -> int:
        for word, length in parts:
            words[word] = begin
            begin += -(-length // 64) * 64
        return begin

    state = (
        (Word.S_OUT, words[Word.VALUE_WIDTH] * line),
        (Word.S_MAXIMA, line),
        (Word.S_SUMS, line),
        (Word.S_BOUNDS, intervals * 2 * panel * 4),
        (Word.S_RANGE, 64),
    )
    # A state begins with its packed queries.
    words[Word.S_STATE_SIZE] = follow(-(-words[Word.WIDTH] * line // 64) * 64, state)
    shared = (
        (Word.S_STATE, panels * words[Word.S_STATE_SIZE]),
        (Word.S_WEIGHTS, (KEY_BLOCK + rows) * line),
        (Word.S_FACTORS, line),
        (Word.S_TOPS, line),
        (Word.S_ADDED, line),
        (Word.S_FLAGS, KEY_BLOCK * panel),
    )
    words[Word.S_SIZE] = follow(0, shared)


def _run(kernel: library.Kernel, block: Array, workers: int, at_a_time: int, held: tuple[object, ...]) -> None:
    """Do all the tasks; `held` is what the block points to, and lives as long as a thread may be at work on it."""
    address = block.ctypes.data
    size = int(block[Word.S_SIZE])

    def work(held: tuple[object, ...] = held) -> None:
        scratch = _scratch(size)
        while kernel(address, scratch, at_a_time):
            pass  # back in Python for a moment, where Ctrl-C is noticed

    def stop() -> None:
        block[Word.NEXT] = block[Word.TASKS]

    threads.run(work, workers, stop)


def _scratch(size: int) -> int:
    """The address of this thread's scratch, at the start of a cache line, kept from call to call."""
    held: Array | None = getattr(_own, "scratch", None)
    if held is None or held.nbytes < size + 64:
        held = _own.scratch = np.empty(size + 64, np.uint8)
    return -(-held.ctypes.data // 64) * 64
