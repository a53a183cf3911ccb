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
    WEIGHTS = auto()  # (B, H, N, M), contiguous and zero, if weights are asked for instead of the output; else 0
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
    # Where each part of a thread's scratch begins.
    S_STATE = auto()  # for each panel: packed queries, sums of values, maxima, sums, intervals, four key positions
    S_STATE_SIZE = auto()
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
    S_SIZE = auto()
