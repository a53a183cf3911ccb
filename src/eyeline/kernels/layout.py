"""What is handed to a kernel: one row of int64 words, here by name. Addresses and strides are in bytes."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Literal

import numpy as np

#: Keys are taken in blocks of this many, at positions that are multiples of it, whoever asks: a row's bits depend on
#: it.
KEY_BLOCK = 128
#: Within a block, weights are added up this many at a time, at positions that are multiples of it.
SUM_BLOCK = 16
#: No panel has more queries than this.
PANEL_AT_MOST = 128
#: The kernels there are, each a module of this room that is compiled by itself, when it is first needed.
Program = Literal["forward", "backward", "decode"]
PROGRAMS: tuple[Program, ...] = ("forward", "backward", "decode")
#: The name under which a kernel is found in its machine code.
ENTRY = "eyeline_kernel"


def sizes(dtype: type[np.floating], lanes: int, most_vectors: int) -> tuple[int, int, int, int]:
    """Of a panel: bytes of a number and of a vector, how many queries it has, and bytes of a line of them."""
    size = np.dtype(dtype).itemsize
    length = most_vectors * lanes
    return size, lanes * size, length, length * size


#: Words to a step that changes scores.
STEP_WORDS = 6


class StepKind(IntEnum):
    """What a step does to the scores; the names are those of `scores.lowered`."""

    RELATIVE = 0
    ADDED = 1
    CAPPED = 2
    CALLED = 3


class Half(IntEnum):
    """How numbers of 16 bits are stored, which a kernel of float32 widens as it reads."""

    NOT = 0
    FLOAT16 = 1
    BFLOAT16 = 2


class Word(IntEnum):
    """Positions of the words. Strides are of batch, head, token and column."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count

    NEXT = auto()  # the next task to take, shared by all threads
    WORK = auto()  # query-key pairs computed so far, all threads together
    TASKS = auto()
    HEADS = auto()
    GROUP = auto()  # query heads per key head
    QUERIES = auto()
    KEYS = auto()
    WIDTH = auto()
    VALUE_WIDTH = auto()
    BLOCKS = auto()  # blocks of queries per head
    PANELS = auto()  # panels of queries per block
    FACTOR = auto()  # what queries are multiplied by, scale · log2 e, in the first bytes of its word
    Q = auto()
    Q_BATCH = auto()
    Q_HEAD = auto()
    Q_TOKEN = auto()
    Q_COLUMN = auto()
    K = auto()
    K_BATCH = auto()
    K_HEAD = auto()
    K_TOKEN = auto()
    K_COLUMN = auto()
    V = auto()
    V_BATCH = auto()
    V_HEAD = auto()
    V_TOKEN = auto()
    V_COLUMN = auto()
    OUT = auto()  # (B, H, N, E), contiguous
    WEIGHTS = auto()  # (B, H, R, C), contiguous and zero, if weights are asked for instead of the output; else 0
    WEIGHTS_ROWS = auto()  # R
    WEIGHTS_COLUMNS = auto()  # C
    ROW_PLACES = auto()  # int32 (N,): where each query's row goes, -1 if nowhere
    COLUMN_PLACES = auto()  # int32 (M,)
    MAXIMA = auto()  # (B, H, N), contiguous: each row's largest score, in base 2
    SUMS = auto()  # (B, H, N), contiguous: each row's Σ 2^(score - maximum)
    BOUNDS = auto()  # int32 intervals of keys, or 0 if every key may be seen
    BOUNDS_BATCH = auto()
    BOUNDS_HEAD = auto()
    BOUNDS_TOKEN = auto()
    INTERVALS = auto()  # how many per query
    ALLOWED = auto()  # booleans, or 0
    ALLOWED_BATCH = auto()
    ALLOWED_HEAD = auto()
    ALLOWED_TOKEN = auto()
    ALLOWED_KEY = auto()
    FIRST_QUERY = auto()  # the number of the first query among all, for what goes by it
    RULES = auto()  # addresses of the user's own rules, compiled (see `functions`)
    RULE_COUNT = auto()
    STEPS = auto()  # rows of `STEP_WORDS` words: a kind (`StepKind`), an address or a value, four strides
    STEP_COUNT = auto()
    SINKS = auto()  # (H,) logits in base 2, or 0
    DROPPED = auto()  # 2^32 times the share of weights that is dropped
    KEPT = auto()  # what weights that are kept are multiplied by, in the first bytes of its word
    SEED = auto()
    HALF = auto()  # how q, k, v and the output are stored (`Half`)
    # Readouts: where each goes, or 0 if it isn't asked for.
    READ = auto()  # whether any is
    READ_MAXIMA = auto()  # (B, H, N): as MAXIMA and SUMS, if weights are relative to other totals than this pass's own
    READ_SUMS = auto()
    SURPRISE = auto()  # (B, H, N): Σ w · (score - maximum), in base 2
    DISTANCE = auto()  # (B, H, N)
    OFFSET = auto()  # the key at which the first query stands
    TOP = auto()  # how many keys of most weight; with these their weights and numbers, (B, H, N, TOP)
    TOP_WEIGHTS = auto()
    TOP_KEYS = auto()  # int64
    LABELS = auto()  # int32 (B or 1, M): the group of each key, or -1
    LABELS_BATCH = auto()
    GROUPS = auto()
    ONTO = auto()  # (B, H, N, GROUPS)
    UNITS = auto()  # how many units of the fixed point make 1
    RECEIVED = auto()  # int64 (B, H, M), fixed point
    RECEIVED_MAXIMA = auto()  # (B, H, M)
    SPOILED = auto()  # bytes (B, H, M): where a sum isn't a number
    POOL_ROWS = auto()
    POOL_COLUMNS = auto()
    POOL_ROW_PLACES = auto()  # int32 (N,)
    POOL_COLUMN_PLACES = auto()  # int32 (M,)
    POOLED = auto()  # int64 (B, H, POOL_ROWS, POOL_COLUMNS), fixed point
    POOLED_MAXIMA = auto()  # (B, H, POOL_ROWS, POOL_COLUMNS)
    POOL_SPOILED = auto()
    # Where each part of a thread's scratch begins.
    S_STATE = auto()  # for each panel: packed queries, sums of values, maxima, sums, intervals, four key positions
    S_STATE_SIZE = auto()
    S_LOTS = auto()  # within a panel's state: two int32 per query, from which dropout draws
    S_OUT = auto()  # within a panel's state: sums of values
    S_MAXIMA = auto()
    S_SUMS = auto()
    S_BOUNDS = auto()
    S_RANGE = auto()
    S_WEIGHTS = auto()  # a block's scores, then weights
    S_FACTORS = auto()  # a panel's rescaling factors
    S_TOPS = auto()  # a panel's largest scores
    S_ADDED = auto()  # a panel's sums of a block's weights
    S_FLAGS = auto()  # a block's booleans, one byte each
    S_LINES = auto()  # a block of biases
    S_KEYS = auto()  # a block of keys, widened
    S_VALUES = auto()  # a block of values, widened
    S_ROWS = auto()  # a panel's rows of the output, before they are narrowed
    S_KEPT = auto()  # for each panel: all its scores
    S_KEPT_SIZE = auto()
    S_VISITS = auto()  # for each panel: how many blocks of keys it took in, and each one's [a, e)
    S_VISITS_SIZE = auto()
    S_PEAKS = auto()  # for each panel: every visited block's largest scores
    S_PEAKS_SIZE = auto()
    S_BOUNDS_BELOW = auto()  # what a panel's best scores are at least
    S_SURPRISE = auto()
    S_DISTANCE = auto()
    S_BEST = auto()  # a panel's best scores so far, from the best down
    S_BEST_KEYS = auto()
    S_ONTO = auto()  # a panel's sums per group
    S_POOL = auto()  # a panel's sums, or maxima, per column of the picture
    S_POOL_MAXIMA = auto()
    S_RECEIVED = auto()  # a task's sums per key
    S_RECEIVED_MAXIMA = auto()
    S_SIZE = auto()
