"""What the backward kernel is told beside the words of `layout`: positions that follow theirs."""

from __future__ import annotations

from enum import IntEnum, auto

from eyeline.kernels.layout import Word

#: Queries are taken in blocks of this many, at positions that are multiples of it: a key's gradient is summed over them
#: block by block, so its bits depend on it.
QUERY_BLOCK = 128
#: Within a pair of blocks, keys are looked at this many at a time when it's decided which queries see them.
CELL = 32


class Gradient(IntEnum):
    """Positions of the words. Strides are of batch, head, token and column."""

    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return len(Word) + count

    D_OUTPUT = auto()  # the gradient of the loss in the output, (B, H, N, E)
    D_OUTPUT_BATCH = auto()
    D_OUTPUT_HEAD = auto()
    D_OUTPUT_TOKEN = auto()
    D_OUTPUT_COLUMN = auto()
    DQ = auto()  # (B, H, N, D), contiguous; the first stripe that a block of queries needs begins it
    DK = auto()  # (B, G, HERE_KEYS, D), contiguous
    DV = auto()  # (B, G, HERE_KEYS, E), contiguous
    TOTALS = auto()  # (B, H, N), contiguous and zero: each row's Σ weight · gradient of the weight
    BATCHES = auto()
    KEY_HEADS = auto()
    FIRST_KEY = auto()  # the number of the first key that is here, among all
    HERE_KEYS = auto()  # how many are
    STRIPE = auto()  # keys per task
    SCALE = auto()  # what q·k is multiplied by, in the first bytes of its word
    TURNS = auto()  # int64 (B, H, blocks), zero: how many stripes have added to a block of queries' dq
    REACH = auto()  # int32 (B, H, blocks, 2): the keys [first, last) that a block of queries needs
    REACH_BATCH = auto()
    REACH_HEAD = auto()
    REACH_BLOCK = auto()
    LINE_D = auto()  # bytes of a line of D numbers in the scratch
    LINE_E = auto()
    ELABORATE = auto()  # whether there is more to it than scores, mask and output: steps, dropout, readouts
    PRELIMINARY = auto()  # whether only the readouts' part of TOTALS is wanted; there are then no values
    EXTRA = auto()  # (B, H, N): what a row's total is beside d_output · output; or 0
    STEP_GRADIENTS = auto()  # rows of `STEP_WORDS` words: where a step's array has its gradient, and four strides
    # The gradients of the loss in readouts, each contiguous, or 0.
    D_READ = auto()  # whether there is any
    D_ENTROPY = auto()  # (B, H, N)
    LOG_SUMS = auto()  # (B, H, N): the binary logarithms of SUMS
    D_RECEIVED = auto()  # (B, H, M)
    D_DISTANCE = auto()  # (B, H, N)
    D_ONTO = auto()  # (B, H, N, GROUPS)
    D_WEIGHTS = auto()  # (B, H, WEIGHTS_ROWS, WEIGHTS_COLUMNS)
    D_TOP = auto()  # (B, H, N, TOP)
    # Where each part of a thread's scratch begins.
    S_STRIPE_KEYS = auto()  # the stripe's keys, in lines of LINE_D
    S_STRIPE_VALUES = auto()
    S_DK = auto()  # their gradients so far
    S_DV = auto()
    S_SOUND = auto()  # for each of its blocks of keys, whether all in it is finite, one int64 each
    S_Q = auto()  # a block's queries, in lines of LINE_D
    S_D_OUTPUT = auto()  # a block's gradients of the output, in lines of LINE_E
    S_DQ = auto()  # a block's gradients of the queries so far, in lines of LINE_D
    S_TOTALS = auto()
    S_OUTPUT = auto()  # a panel's output, turned
    S_GAINS = auto()  # a panel's gradients of the weights of a block of keys
    S_PANELS = auto()  # for each panel, which keys [first, last) of a block it has looked at, two int64 each
    S_TAKEN = auto()  # a pair of blocks' weights, by which values are taken, in lines of `wide` bytes
    S_CHANGES = auto()  # a pair of blocks' gradients of the scores, likewise
    S_FRESH = auto()  # a panel's weights on a block of keys, before dropout
    S_INPUTS = auto()  # a panel's scores before each step that isn't a sum
    S_ROW_GRADIENTS = auto()  # a panel's gradients of its rows' readouts


def wide(size: int) -> int:
    """Bytes of a line of `QUERY_BLOCK` numbers of `size` bytes, and a cache line more: lines a power of two apart would
    meet in the same few places of the cache."""
    return QUERY_BLOCK * size + 64


def padded(columns: int, size: int) -> int:
    """Bytes of a line of so many numbers: whole cache lines, and an odd number of them, for the same reason."""
    lines = -(-columns * size // 64)
    return (lines + 1 - lines % 2) * 64
