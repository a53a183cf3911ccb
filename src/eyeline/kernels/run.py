"""One pass over the matrix: lay out the words and the scratch, hand the tasks to the threads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels import library, run_decode, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.launch import follow, launch, tell_array, tell_setting
from eyeline.kernels.layout import KEY_BLOCK, Half, Word
from eyeline.kernels.machine import DType, Target, target
from eyeline.kernels.primitives import PrimitiveResults, Primitives

Array = NDArray[Any]
#: Multiply-adds that are worth a thread's waking.
_WORTH_A_THREAD = 1 << 21
#: Queries that share a block of keys while it is in the cache.
_QUERIES_TOGETHER = 128
#: Bytes of scores that a thread keeps at most for more than one panel: about what the nearer caches hold.
_KEPT_TOGETHER = 1 << 20


@dataclass(frozen=True)
class Pass:
    """What a forward pass gives.

    Attributes:
        output: (B, H, N, E).
        maxima: (B, H, N), each row's largest score, in base 2.
        sums: (B, H, N), each row's sum of 2^(score - largest).
        pairs: the number of query-key pairs that were computed for it.
        found: the primitives read of the weights, if any were.
    """

    output: Array
    maxima: Array
    sums: Array
    pairs: int
    found: PrimitiveResults | None = None


def forward(q: Array, k: Array, v: Array, setting: AttentionSpec, primitives: Primitives | None = None) -> Pass:
    """Attention of q (B, H, N, D) to k (B, G, M, D) and v (B, G, M, E), all of one type, of any strides.

    Types are float32, float64, float16, or uint16 for the bits of bfloat16; these two are computed in float32, as
    maxima and sums are.
    """
    B, H, N, _ = q.shape
    inside = computed(q.dtype)
    output = np.empty((B, H, N, v.shape[3]), q.dtype)
    maxima, sums = np.empty((B, H, N), inside), np.empty((B, H, N), inside)
    if primitives is None and run_decode.eligible(q, k, v, setting):
        decoded = run_decode.forward(q, k, v, setting, output, maxima, sums)
        if decoded is not None:
            return Pass(output, maxima, sums, decoded)
    found = None if primitives is None else PrimitiveResults(primitives, (B, H, N, setting.keys or k.shape[2]), inside)
    words = [0] * len(Word)
    words[Word.OUT] = output.ctypes.data
    if found is not None:
        found.tell(words)
    pairs = _sweep(words, (q, k, v), setting, (maxima, sums), (output, found), found)
    return Pass(output, maxima, sums, pairs, found)


def weights(
    q: Array, k: Array, setting: AttentionSpec, maxima: Array, sums: Array, rows: Array, columns: Array
) -> Array:
    """A rectangle of the weights of q (B, H, N, D) on k (B, G, M, D), (B, H, R, C): these queries and keys, each once
    and in order, from all queries' maxima and sums."""
    B, H, N, _ = q.shape
    inside = computed(q.dtype)
    rectangle = np.zeros((B, H, len(rows), len(columns)), inside)
    words = [0] * len(Word)
    places = []
    for word, chosen, count in ((Word.ROW_PLACES, rows, N), (Word.COLUMN_PLACES, columns, setting.keys or k.shape[2])):
        place = np.full(count, -1, np.int32)
        place[chosen] = np.arange(len(chosen))
        places.append(place)
        words[word] = place.ctypes.data
    words[Word.WEIGHTS], words[Word.WEIGHTS_ROWS], words[Word.WEIGHTS_COLUMNS] = (
        rectangle.ctypes.data,
        len(rows),
        len(columns),
    )
    if rectangle.size:
        totals = np.ascontiguousarray(maxima), np.ascontiguousarray(sums)
        _sweep(words, (q, k, k[..., :0]), setting, totals, (rectangle, places), None)
    return rectangle


def computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which arrays of this type are computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _sweep(
    words: list[int],
    arrays: tuple[Array, Array, Array],
    setting: AttentionSpec,
    totals: tuple[Array, Array],
    results: tuple[object, ...],
    found: PrimitiveResults | None,
) -> int:
    """Run the kernel over all heads and queries; returns the number of query-key pairs computed."""
    q, k, v = arrays
    B, H, N, D = q.shape
    G, here_keys, E = v.shape[1:]
    M = setting.keys or here_keys
    if not B * H * N:
        return 0
    inside = computed(q.dtype)
    dtype: DType = "float32" if inside == np.float32 else "float64"
    here = target()
    panel = here.panel(dtype)
    cost = here_keys * (D + E)
    workers = threads.get_threads() if B * H * N * cost > _WORTH_A_THREAD else 1
    # Several panels to a task, as long as every thread has some tasks.
    in_a_head = -(-N // panel)
    together = _QUERIES_TOGETHER // panel
    if found is not None:
        together = min(together, max(1, _KEPT_TOGETHER // (max(M, 1) * panel * inside.itemsize)))
    panels = max(1, min(together, in_a_head * B * H // (4 * workers), in_a_head))
    blocks = -(-in_a_head // panels)

    words[Word.TASKS], words[Word.HEADS], words[Word.GROUP] = B * H * blocks, H, H // max(G, 1)
    words[Word.QUERIES], words[Word.KEYS], words[Word.WIDTH], words[Word.VALUE_WIDTH] = N, M, D, E
    words[Word.BLOCKS], words[Word.PANELS] = blocks, panels
    words[Word.MAXIMA], words[Word.SUMS] = totals[0].ctypes.data, totals[1].ctypes.data
    for place, array in ((Word.Q, q), (Word.K, k), (Word.V, v)):
        tell_array(words, place, array)
        if place != Word.Q:
            # Keys have their numbers among all; the mask hides those that aren't here.
            words[place] -= setting.first_key * array.strides[2]
    words[Word.HALF] = {2: Half.FLOAT16 if q.dtype == np.float16 else Half.BFLOAT16}.get(q.itemsize, Half.NOT)
    held = tell_setting(words, setting, (B, H, N, M), dtype)
    _lay_out_scratch(words, here, panel, panels, inside.itemsize, found)

    block = np.array(words, np.int64)
    block[Word.FACTOR : Word.FACTOR + 1].view(inside)[0] = setting.scale * math.log2(math.e)
    block[Word.KEPT : Word.KEPT + 1].view(inside)[0] = 1 / (1 - setting.dropout)
    workers = min(workers, B * H * blocks)
    kept_alive = (arrays, held, totals, results)
    launch(library.kernel("forward", dtype), block, workers, panels * panel * cost, kept_alive)
    return int(block[Word.WORK])


def _lay_out_scratch(
    words: list[int], here: Target, panel: int, panels: int, size: int, found: PrimitiveResults | None
) -> None:
    """Say where each part of a thread's scratch begins, each on a cache line of its own."""
    line = panel * size
    state = (
        (Word.S_OUT, words[Word.VALUE_WIDTH] * line),
        (Word.S_MAXIMA, line),
        (Word.S_SUMS, line),
        (Word.S_BOUNDS, words[Word.INTERVALS] * 2 * panel * 4),
        (Word.S_RANGE, 64),
        (Word.S_LOTS, 2 * panel * 4),
    )
    # A state begins with its packed queries.
    words[Word.S_STATE_SIZE] = follow(words, -(-words[Word.WIDTH] * line // 64) * 64, state)
    half = words[Word.HALF] != Half.NOT
    widest = max(words[Word.WIDTH], words[Word.VALUE_WIDTH])
    parts = [
        (Word.S_STATE, panels * words[Word.S_STATE_SIZE]),
        (Word.S_WEIGHTS, (KEY_BLOCK + here.rows) * line),
        (Word.S_FACTORS, line),
        (Word.S_TOPS, line),
        (Word.S_ADDED, line),
        (Word.S_FLAGS, KEY_BLOCK * panel),
        (Word.S_LINES, KEY_BLOCK * line if words[Word.STEP_COUNT] else 0),
        (Word.S_KEYS, half * KEY_BLOCK * words[Word.WIDTH] * size),
        (Word.S_VALUES, half * KEY_BLOCK * words[Word.VALUE_WIDTH] * size),
        (Word.S_ROWS, half * panel * widest * size),
        (Word.S_VISITS, panels * 8),
    ]
    words[Word.S_VISITS_SIZE] = 8
    if found is not None:
        parts[-1:] = found.scratch(words, line, here.rows, panels, words[Word.KEYS])
    words[Word.S_SIZE] = follow(words, 0, parts)
