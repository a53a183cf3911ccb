"""Decoding: the pass for few queries against many keys, whose bits are those of the usual pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.decode_layout import SCORES_APART, Decoding, Stage, widths_across
from eyeline.kernels.launch import follow, launch, tell_array, tell_setting
from eyeline.kernels.layout import KEY_BLOCK, Half, Word
from eyeline.kernels.machine import DType, target

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
_WORTH_A_THREAD = 1 << 21
#: The most queries that do better here, and the fewest keys that are worth a kernel of their own.
_MOST_QUERIES, _FEWEST_KEYS = 8, 64
#: Key heads are cut into parts where their number would leave threads idle for more than this share of the time.
_IDLE = 0.2


def eligible(q: Array, k: Array, v: Array, setting: AttentionSpec) -> bool:
    """Whether `forward` here can do it, and does better than the usual pass."""
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    mask, scores = setting.mask, setting.scores
    return (
        0 < N <= _MOST_QUERIES
        and M >= _FEWEST_KEYS
        and min(B, H, D, E) > 0
        and k.strides[3] == v.strides[3] == q.itemsize
        and (mask is None or (mask.allowed is None and not mask.functions))
        and not scores.steps
        and not setting.dropout
        and setting.first_key == 0
        and setting.keys in (None, M)
        and (_parts(B * G, threads.get_threads()) == 1 or H // G * N <= D + E)
    )


def forward(
    q: Array, k: Array, v: Array, setting: AttentionSpec, output: Array, maxima: Array, sums: Array
) -> int | None:
    """Fill the output (B, H, N, E), maxima and sums (B, H, N), contiguous, for what is `eligible`: to the bit as the
    usual pass does.

    Returns the number of query-key pairs computed, or None where a row isn't finite: that takes more care, and what
    was filled counts for nothing.
    """
    B, H, N, D = q.shape
    G, M, E = v.shape[1:]
    inside = maxima.dtype
    dtype: DType = "float32" if inside == np.float32 else "float64"
    rows = H // G * N
    cost = rows * M * (D + E)
    workers = threads.get_threads() if B * G * cost > _WORTH_A_THREAD else 1

    words = [0] * (len(Word) + len(Decoding))
    words[Word.OUT], words[Word.MAXIMA], words[Word.SUMS] = (x.ctypes.data for x in (output, maxima, sums))
    words[Word.HEADS], words[Word.GROUP] = H, H // G
    words[Word.QUERIES], words[Word.KEYS], words[Word.WIDTH], words[Word.VALUE_WIDTH] = N, M, D, E
    for place, array in ((Word.Q, q), (Word.K, k), (Word.V, v)):
        tell_array(words, place, array)
    words[Word.HALF] = {2: Half.FLOAT16 if q.dtype == np.float16 else Half.BFLOAT16}.get(q.itemsize, Half.NOT)
    held = tell_setting(words, setting, (B, H, N, M), dtype)
    _lay_out_scratch(words, dtype, rows)

    block = np.array(words, np.int64)
    block[Word.FACTOR : Word.FACTOR + 1].view(inside)[0] = setting.scale * math.log2(math.e)
    kernel = library.kernel("decode", dtype)
    parts = _parts(B * G, workers)
    blocks, lanes = -(-M // KEY_BLOCK), target().lanes(dtype)
    scores, stages = None, [(Stage.EVERYTHING, 1)]
    if parts > 1:
        scores = np.empty(B * G * blocks * words[Decoding.SCORES_BLOCK], np.uint8)
        block[Decoding.SCORES] = scores.ctypes.data
        columns = block[Decoding.PART_COLUMNS] = -(-E // (parts * lanes)) * lanes
        stages = [(Stage.KEEP_SCORES, min(parts, blocks)), (Stage.SUM_VALUES, int(-(-E // columns)))]
    for stage, count in stages:
        block[Word.NEXT], block[Word.TASKS] = 0, B * G * count
        block[Decoding.STAGE], block[Decoding.PARTS] = stage, count
        kept_alive = (q, k, v, held, scores, output, maxima, sums)
        launch(kernel, block, min(workers, B * G * count), cost // count, kept_alive)
    return None if block[Decoding.UNSOUND] else int(block[Word.WORK])


def _parts(heads: int, workers: int) -> int:
    """Into how many parts each key head is cut, so that no thread is idle for long."""
    turns = -(-heads // workers)
    return 1 if turns * workers * (1 - _IDLE) <= heads else -(-2 * workers // heads)


def _lay_out_scratch(words: list[int], dtype: DType, rows: int) -> None:
    """Say where each part of a thread's scratch begins, each on a cache line of its own."""
    number, lanes = getattr(np, dtype), target().lanes(dtype)
    size = np.dtype(dtype).itemsize
    widths = widths_across(number, lanes)
    few = words[Decoding.ROWS_ACROSS] = next((few for few in widths if few >= rows), widths[-1])
    padded = -(-rows // few) * few
    words[Decoding.SCORES_BLOCK] = padded * SCORES_APART * size
    half = words[Word.HALF] != Half.NOT
    widest = max(words[Word.WIDTH], words[Word.VALUE_WIDTH])
    parts = (
        (Word.S_STATE, padded * (words[Word.WIDTH] + 1) * size),
        (Word.S_OUT, rows * -(-words[Word.VALUE_WIDTH] // lanes) * lanes * size),
        (Word.S_MAXIMA, padded * size),
        (Word.S_SUMS, padded * size),
        (Word.S_WEIGHTS, words[Decoding.SCORES_BLOCK]),
        (Word.S_FACTORS, padded * size),
        (Word.S_TOPS, lanes * size),
        (Word.S_KEYS, half * KEY_BLOCK * words[Word.WIDTH] * size),
        (Word.S_VALUES, half * KEY_BLOCK * words[Word.VALUE_WIDTH] * size),
        (Word.S_ROWS, half * widest * size),
        (Decoding.S_TAIL, KEY_BLOCK * lanes * size),
    )
    words[Word.S_SIZE] = follow(words, 0, parts)
