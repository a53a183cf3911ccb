"""The interface between the host and the kernels: NumPy records, nested and aligned, that both sides name by field.

A kernel is handed the address of one of `PARAMS`, filled by the host, and that of a thread's workspace, which begins
with a record of addresses (`WORKSPACE`) and holds panels, each of which begins with a `PANEL`. Addresses and strides
are in bytes; an address of 0 says that there is nothing. The letters are those of the shapes' legend, and
FlashAttention's: m is a row's largest score, in base 2, l its Σ 2^(score - m), P a block's weights.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from eyeline.kernels.compiled.programs import Program

#: A whole number, an address among them; what computes with numbers of either type.
INT, FLOAT = np.dtype(np.int64), np.dtype(np.float64)


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


class Stage(IntEnum):
    """What decoding does at once: everything, or first the scores, in parts of the keys, and then the values, in parts
    of their columns."""

    EVERYTHING = 0
    KEEP_SCORES = 1
    SUM_VALUES = 2


def record(*names: str, **nested: np.dtype[Any]) -> np.dtype[Any]:
    """An aligned record: whole numbers by name, then fields of other types."""
    return np.dtype([*((name, INT) for name in names), *nested.items()], align=True)


#: An array of four axes: its address, and its strides of batch, head, token and column.
STRIDED = record("address", "batch", "head", "token", "column")
#: Which keys a query may look at.
MASK = record(
    "intervals",  # how many intervals of keys each query has
    "rules",  # addresses of the user's own rules, compiled (see `user_functions`)
    "rule_count",
    bounds=STRIDED,  # int32: the intervals, or 0 if every key may be seen
    allowed=STRIDED,  # booleans, or 0
)
#: A step that changes scores: its array; or the address of a user's function, compiled; or a cap, in base 2.
STEP = record("kind", array=STRIDED, cap=FLOAT, inverse_cap=FLOAT)
#: Dropout: a weight is dropped if its lot is below `threshold`, else multiplied by `keep_factor`.
DROPOUT = record("threshold", "seed", keep_factor=FLOAT)
#: A rectangle of the weights, (B, H, rows, columns), contiguous; where each query's row and each key's column goes,
#: int32 (N,) and (M,), -1 if nowhere.
RECTANGLE = record("address", "rows", "columns", "row_places", "column_places")
#: The primitives that are read of the weights, with the address of each, or 0 if it isn't asked for.
PRIMITIVES = record(
    "asked",  # whether any is
    "m",  # (B, H, N): as the params' m and l, if weights are relative to other totals than this pass's own
    "l",
    "row_log_weights",  # (B, H, N): Σ P · (score - m), in base 2
    "row_distances",  # (B, H, N)
    "distance_offset",  # the key at which the first query stands
    "select",  # how many keys of the largest weights; with these their weights and numbers, (B, H, N, select)
    "selected_weights",
    "selected_keys",  # int64
    "labels",  # int32 (B or 1, M): the bin of each key, or -1
    "labels_batch",  # their stride
    "bins",
    "row_bins",  # (B, H, N, bins)
    "units",  # how many units of the fixed point make 1
    "column_sums",  # int64 (B, H, M), fixed point
    "column_spoiled",  # bytes (B, H, M): where a sum isn't a number
    "column_maxima",  # (B, H, M)
    "grid_rows",
    "grid_columns",
    "grid_row_places",  # int32 (N,): the row of the grid in which each query lies
    "grid_column_places",  # int32 (M,)
    "grid_sums",  # int64 (B, H, grid_rows, grid_columns), fixed point
    "grid_spoiled",  # bytes
    "grid_maxima",  # (B, H, grid_rows, grid_columns)
)
#: The gradients of the loss in what was read, each contiguous, or 0.
PRIMITIVE_GRADIENTS = record(
    "given",  # whether any is
    "d_row_log_weights",  # (B, H, N), in Σ P ln P
    "log_l",  # (B, H, N): the binary logarithms of l
    "d_row_distances",  # (B, H, N)
    "distance_offset",
    "d_row_bins",  # (B, H, N, bins)
    "labels",
    "labels_batch",
    "bins",
    "d_selected",  # (B, H, N, select)
    "selected_keys",
    "select",
    "d_column_sums",  # (B, H, M)
    d_rectangle=RECTANGLE,
)

#: Where the parts of a panel lie in it, after its `PANEL`; and its size.
PANEL_PARTS = (
    "q",  # packed queries, [D][panel], times scale · log2 e
    "acc",  # the output so far, [E][panel]; backward: the gradient of the output
    "m",
    "l",  # backward: its inverse
    "bounds",  # its queries' intervals: firsts, then lengths, int32
    "lots",  # two int32 per query, from which dropout draws
    "scores",  # all its scores, [M][panel], where something is read of the weights
    "visits",  # the blocks of keys that it took in: `VISIT`
    "peaks",  # each visited block's largest scores
)
PANEL_LAYOUT = record(*PANEL_PARTS, "size")
#: What a panel of queries is: which rows of which head, which keys these need, and where its parts lie.
PANEL = record(
    "batch",
    "head",
    "first_query",  # among the queries that are here
    "count",  # how many queries
    "vectors",  # how many vectors they fill
    "row",  # the number of the first one among the rows of all heads
    "first_key",  # the keys [first_key, end_key) are those that any query needs,
    "end_key",
    "full_first",  # [full_first, full_end) those that every one may see
    "full_end",
    "visit_count",
    "block_first",  # backward: the keys [block_first, block_end) of a block that it has looked at
    "block_end",
    *PANEL_PARTS,
)
#: Keys [a, e) of one block that a panel took in.
VISIT = record("a", "e")

_SHARED_PARTS = (
    "panels",
    "P",  # a block's scores, then weights, [KEY_BLOCK][panel]
    "flags",  # a block's booleans, one byte each
    "biases",  # a block of biases
)
#: Where the parts of a thread's workspace lie, by kernel.
WORKSPACE: dict[Program, np.dtype[Any]] = {
    "forward": record(
        *_SHARED_PARTS,
        "block_m",  # a block's largest scores
        "block_l",  # a block's sums of weights
        "shift",  # what is subtracted of scores: m, or 0 where it is -inf
        "alpha",  # 2^(old m - new m), by which what was summed before is multiplied
        "keys",  # a block of keys, widened
        "values",  # a block of values, widened
        "rows",  # a panel's rows, as they are read or before they are narrowed
        # What is read of the weights.
        "inverse_l",
        "threshold",  # what a panel's best scores are at least
        "best",  # its best scores so far, from the best down
        "best_keys",
        "row_log_weights",
        "row_distances",
        "row_bins",
        "grid_sums",
        "grid_maxima",
        "column_sums",  # a task's sums per key
        "column_maxima",
    ),
    "backward": record(
        *_SHARED_PARTS,
        "rows",
        "dP",  # a panel's gradients of the weights of a block of keys
        "P_undropped",  # its weights before dropout, -1 where hidden
        "P_dropped",  # its weights after dropout
        "step_inputs",  # its scores before each step that isn't a sum
        "row_gradients",  # its gradients of its rows' primitives
        "output",  # its output, turned
        "block_P",  # all panels' weights on a block of keys, by which values are taken, in lines of `wide` bytes
        "block_dS",  # their gradients of the scores, likewise
        "delta",  # a block of queries' Σ_j P_ij dP_ij
        "keys",  # the stripe's keys, in lines of `line_d`
        "values",  # its values, in lines of `line_e`
        "dk",  # their gradients so far
        "dv",
        "finite",  # for each of its blocks of keys, whether all in it is finite, one int64 each
        "q",  # a block's queries, in lines of `line_d`
        "d_output",  # its gradients of the output, in lines of `line_e`
        "dq",  # its gradients of the queries so far, in lines of `line_d`
    ),
    "decode": record(
        "q",  # packed queries: [panel][pairs of d][few][2]
        "acc",  # the rows' outputs so far
        "m",
        "l",
        "P",  # a block's scores, then weights: [panel][SCORES_APART][few]
        "alpha",
        "spread",  # a vector, on its way from some rows to all lanes
        "keys",
        "values",
        "rows",
        "tail",  # a block's value columns that don't fill a vector
    ),
}

_COMMON = record(
    "next_task",  # the next task to take, shared by all threads
    "work",  # query-key pairs computed so far, all threads together
    "tasks",
    "H",
    "group",  # query heads per key head
    "N",
    "M",
    "D",
    "E",
    "half",  # how q, k, v and the output are stored (`Half`)
    "output",  # (B, H, N, E), contiguous
    "m",  # (B, H, N), contiguous
    "l",  # (B, H, N), contiguous
    "first_query",  # the number of the first query among all, for what goes by it
    "sinks",  # (H,) logits in base 2, or 0
    "steps",  # the steps that change scores: `STEP`
    "step_count",
    "workspace_size",
    q_factor=FLOAT,  # what queries are multiplied by: scale · log2 e
    q=STRIDED,
    k=STRIDED,
    v=STRIDED,
    mask=MASK,
    dropout=DROPOUT,
)


def _params(program: Program, *names: str, **nested: np.dtype[Any]) -> np.dtype[Any]:
    common = [(name, _COMMON.fields[name][0]) for name in _COMMON.names] if _COMMON.names and _COMMON.fields else []
    own = [(name, INT) for name in names]
    return np.dtype([*common, *own, *nested.items(), ("workspace", WORKSPACE[program])], align=True)


#: What a kernel is told.
PARAMS: dict[Program, np.dtype[Any]] = {
    "forward": _params(
        "forward",
        "blocks",  # blocks of queries per head
        "panels",  # panels of queries per block
        panel=PANEL_LAYOUT,
        rectangle=RECTANGLE,  # zero, if weights are asked for instead of the output; else at 0
        primitives=PRIMITIVES,
    ),
    "backward": _params(
        "backward",
        "B",
        "G",
        "blocks",
        "dq",  # (B, H, N, D), contiguous; the first stripe that a block of queries needs begins it
        "dk",  # (B, G, keys_here, D), contiguous
        "dv",  # (B, G, keys_here, E), contiguous
        "delta",  # (B, H, N), contiguous and zero: each row's Σ_j P_ij dP_ij
        "extra_delta",  # (B, H, N): what delta is beside d_output · output; or 0
        "first_key",  # the number of the first key that is here, among all
        "keys_here",  # how many are
        "stripe",  # keys per task
        "tickets",  # int64 (B, H, blocks), zero: how many stripes have added to a block of queries' dq
        "line_d",  # bytes of a line of D numbers in the workspace
        "line_e",
        "elaborate",  # whether there is more to it than scores, mask and output: steps, dropout, primitives
        "preliminary",  # whether only the primitives' part of delta is wanted; there are then no values
        "step_gradients",  # for each step, where its array has its gradient (`STRIDED`), or 0
        scale=FLOAT,  # what q·k is multiplied by
        d_output=STRIDED,  # the gradient of the loss in the output, (B, H, N, E)
        reach=STRIDED,  # int32: the keys [first, last) that a block of queries, in place of a token, needs
        panel=PANEL_LAYOUT,
        primitives=PRIMITIVE_GRADIENTS,
    ),
    "decode": _params(
        "decode",
        "rows_across",  # how many rows of queries a vector holds
        "unsound",  # how many tasks gave what isn't finite
        "stage",  # what is to be done (`Stage`)
        "parts",  # how many tasks one key head is cut into
        "part_columns",  # value columns per part
        "scores",  # (B, G, blocks of keys, panels of rows, SCORES_APART, rows across), if scores are kept
        "scores_block",  # bytes of a block of them
    ),
}
