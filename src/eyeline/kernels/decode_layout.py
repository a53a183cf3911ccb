"""What the decoding kernel is told beside the words of `layout`: positions that follow theirs."""

from __future__ import annotations

from enum import IntEnum, auto

import numpy as np

from eyeline.kernels.layout import KEY_BLOCK, Word

#: How many keys of room the scores of a block have: a tile of keys may reach beyond the block.
SCORES_APART = KEY_BLOCK + 16


class Decoding(IntEnum):
    """Positions of the words."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return len(Word) + count

    ROWS_ACROSS = auto()  # how many rows of queries a vector holds
    UNSOUND = auto()  # how many tasks gave what isn't finite
    STAGE = auto()  # what is to be done (`Stage`)
    PARTS = auto()  # how many tasks one key head is cut into
    PART_COLUMNS = auto()  # value columns per part
    SCORES = auto()  # (B, G, blocks of keys, panels of rows, SCORES_APART, rows across), if scores are kept
    SCORES_BLOCK = auto()  # bytes of a block of them
    S_TAIL = auto()  # a block's value columns that don't fill a vector


class Stage(IntEnum):
    """What is done at once: everything, or first the scores, in parts of the keys, and then the values, in parts of
    their columns."""

    EVERYTHING = 0
    KEEP_SCORES = 1
    SUM_VALUES = 2


def widths_across(dtype: type[np.floating], lanes: int) -> tuple[int, int, int]:
    """How many rows of queries there may be in a vector: two numbers for each, and vectors of 16, 32 and 64 bytes, as
    far as they go."""
    size = np.dtype(dtype).itemsize
    narrow, middle, wide = (min(width // size, lanes) // 2 for width in (16, 32, 64))
    return narrow, middle, wide
