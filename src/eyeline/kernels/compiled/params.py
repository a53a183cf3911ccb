"""The interface between the host and the kernels: NumPy records, nested and aligned, that both sides name by field.

A kernel gets the address of one of `PARAMS`, filled by the host, and the address of a thread's workspace, which begins
with a record of addresses (`WORKSPACE`) and contains panels, each of which begins with a `PANEL`. Addresses and strides
are in bytes; address 0 means absent. Letters are as in the legend of shapes and in FlashAttention: m is a row's largest
score, in base 2, l its Σ 2^(score - m), P a block's weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eyeline.kernels.compiled.call_records import (
    CUTS,
    DROPOUT,
    FLOAT,
    INT,
    MASK,
    RECTANGLE,
    STRIDED,
    record,
)
from eyeline.kernels.compiled.programs import Program

#: The requested primitives: the address of each result, or 0 if it isn't requested.
PRIMITIVES = record(
    "asked",  # whether any is
    "counted",  # bytes (B, N): 0 where a query doesn't count; or address 0 if all do
    "m",  # (B, H, N): m and l that normalise the weights, if not this pass's own
    "l",
    "row_log_weights",  # (B, H, N): Σ P · (score - m), in base 2
    "row_weights",  # (B, H, N): Σ P, where a row has factors
    "row_distances",  # (B, H, N)
    "distance_offset",  # the key position of the first query
    "select",  # k, the number of largest weights; the weights and their keys are (B, H, N, select)
    "selected_weights",
    "selected_keys",  # int64
    "by_weight",  # whether to select by weights, times factors, rather than by scores
    "binned_keys",  # int32 (B or 1, M, 2): each block's keys in the order of their bins, and the bins; -1 for none
    "binned_keys_batch",  # its batch stride
    "bins",
    "row_bins",  # (B, H, bins, N)
    "offset_edges",  # int64 (offset_ranges + 1,): range r holds the offsets j - i in [edge r, edge r + 1)
    "offset_ranges",
    "row_offsets",  # (B, H, offset_ranges, N)
    "units",  # int64 (B, H): the number of fixed-point units that make 1
    "column_sums",  # int64 (B, H, M), fixed point
    "column_spoiled",  # bytes (B, H, M): 1 where a sum is NaN
    "column_maxima",  # (B, H, M)
    "grid_rows",
    "grid_columns",
    "grid_row_places",  # int32 (N,): each query's row of the grid
    "grid_column_places",  # int32 (M,)
    "grid_sums",  # int64 (B, H, grid_rows, grid_columns), fixed point
    "grid_spoiled",  # bytes
    "grid_maxima",  # (B, H, grid_rows, grid_columns)
    bin_times=STRIDED,  # the factors of the keys' weights in their bins, or 0; one row
    select_times=STRIDED,  # the factors of the weights by which keys are selected, or 0
)
#: The gradients of the loss in the primitives, each contiguous; 0 where there is none.
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
    "d_row_offsets",  # (B, H, N, offset_ranges)
    "offset_edges",
    "offset_ranges",
    "d_selected",  # (B, H, N, select)
    "selected_keys",
    "select",
    "d_column_sums",  # (B, H, M)
    bin_times=STRIDED,
    d_rectangle=RECTANGLE,
)

#: The offsets of a panel's parts, after its `PANEL`; and the panel's size.
PANEL_PARTS = (
    "q",  # packed queries, [D][panel], times scale · log2 e
    "acc",  # the output so far, [E][panel]; backward: the gradient of the output
    "m",
    "l",  # backward: 1 / l
    "bounds",  # the queries' intervals: firsts, then lengths, int32
    "lots",  # the halves of the queries' 64-bit hashes for dropout, two int32 per query
    "cut_kinds",  # its rows' kinds of hidden pairs, but 0, int64 each
    "cut_rows",  # for each of these, a byte for each row
    "factor_numbers",  # the numbers of those factors that some of its rows have, int64 each
    "factors",  # a line that is 1 for rows that have any factor; then two for each of these: numbers, and logarithms
    "scores",  # all its scores, [M][panel], if primitives are requested
    "visits",  # the ranges of keys that it has processed: `VISIT`
    "peaks",  # each visited block's largest scores
)
PANEL_LAYOUT = record(*PANEL_PARTS, "size")
#: A panel of queries: its rows and head, the keys that these need, and the addresses of its parts.
PANEL = record(
    "batch",
    "head",
    "first_query",  # its index in the array of queries
    "count",  # the number of queries
    "vectors",  # the number of vectors that they fill
    "row",  # the index of the first query among the rows of all heads
    "first_key",  # any query needs only the keys [first_key, end_key)
    "end_key",
    "full_first",  # all queries may look at the keys [full_first, full_end)
    "full_end",
    "visit_count",
    "cut_count",  # the number of its rows' kinds of hidden pairs, but 0
    "factor_count",  # the number of factors that some of its rows have
    "block_first",  # backward: the keys [block_first, block_end) of the block that it has processed
    "block_end",
    *PANEL_PARTS,
)
#: Keys [a, e) of one block that a panel has processed.
VISIT = record("a", "e")

_SHARED_PARTS = (
    "panels",
    "P",  # a block's scores, then weights, [KEY_BLOCK][panel]
    "flags",  # a block's booleans, one byte each
    "biases",  # a block of a bias array
)
#: The addresses (in the params: the offsets) of the parts of a thread's workspace, by kernel.
WORKSPACE: dict[Program, np.dtype[Any]] = {
    "forward": record(
        *_SHARED_PARTS,
        "block_m",  # a block's largest scores
        "block_l",  # a block's sums of weights
        "shift",  # the number subtracted from scores: m, or 0 where m is -inf
        "alpha",  # 2^(old m - new m), the factor of the earlier sums
        "keys",  # a block of keys, widened
        "values",  # a block of values, widened
        "rows",  # a panel's rows, widened on reading, or before they are narrowed
        # For primitives:
        "inverse_l",
        "threshold",  # a lower bound on a panel's k best scores
        "best",  # a panel's k best scores so far, in descending order
        "best_keys",
        "row_log_weights",
        "row_weights",
        "row_distances",
        "row_bins",
        "row_offsets",
        "grid_sums",
        "grid_maxima",
        "column_sums",  # a task's sums per key
        "column_maxima",
    ),
    "backward": record(
        *_SHARED_PARTS,
        "rows",
        "dP",  # a panel's gradients in the weights on a block of keys
        "P_undropped",  # a panel's weights before dropout, -1 where hidden
        "P_dropped",  # a panel's weights after dropout
        "step_inputs",  # a panel's scores before each step that isn't a sum
        "row_gradients",  # a panel's gradients in primitives of rows
        "output",  # a panel's output, transposed
        "block_P",  # all panels' weights on a block of keys, after dropout, in lines of `wide` bytes
        "block_dS",  # all panels' gradients in the scores, likewise
        "delta",  # a block of queries' Σ_j P_ij dP_ij
        "keys",  # the stripe's keys, in lines of `line_d`
        "values",  # the stripe's values, in lines of `line_e`
        "dk",  # the gradients so far in the stripe's keys, and in its values
        "dv",
        "finite",  # for each block of keys in the stripe, whether all its numbers are finite, one int64 each
        "q",  # a block's queries, in lines of `line_d`
        "d_output",  # the gradients in the block's output, in lines of `line_e`
        "dq",  # the gradients so far in the block's queries, in lines of `line_d`
    ),
    "decode": record(
        "q",  # packed queries: [panel][pairs of d][few][2]
        "acc",  # the rows' outputs so far
        "m",
        "l",
        "P",  # a block's scores, then weights: [panel][SCORES_APART][few]
        "alpha",
        "spread",  # a vector for repeating the numbers of a few rows over all lanes
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
    "m",  # (B, H, N), contiguous
    "l",  # (B, H, N), contiguous
    "first_query",  # the position of the first query in the whole attention
    "sinks",  # (H,) logits in base 2, or 0
    "steps",  # the score steps: `STEP`
    "step_count",
    "factors",  # the factors of weights: `FACTOR`
    "factor_count",
    "keep_factors",  # whether a panel keeps factors of 1, for their gradients
    q_factor=FLOAT,  # the factor of queries: scale · log2 e
    q=STRIDED,
    k=STRIDED,
    v=STRIDED,
    output=STRIDED,  # (B, H, N, E), with columns side by side
    mask=MASK,
    cuts=CUTS,
    dropout=DROPOUT,
)


def _params(program: Program, *names: str, **nested: np.dtype[Any]) -> np.dtype[Any]:
    common = [(name, _COMMON.fields[name][0]) for name in _COMMON.names] if _COMMON.names and _COMMON.fields else []
    own = [(name, INT) for name in names]
    return np.dtype([*common, *own, *nested.items(), ("workspace", WORKSPACE[program])], align=True)


#: The parameters of each kernel.
PARAMS: dict[Program, np.dtype[Any]] = {
    "forward": _params(
        "forward",
        "blocks",  # blocks of queries per head
        "panels",  # panels of queries per block
        panel=PANEL_LAYOUT,
        rectangle=RECTANGLE,  # if weights are requested instead of the output, an array of zeros; else address 0
        primitives=PRIMITIVES,
    ),
    "backward": _params(
        "backward",
        "B",
        "G",
        "blocks",
        "dq",  # (B, H, N, D), contiguous; the first stripe that a block of queries needs initialises it
        "dk",  # (B, G, keys_here, D), contiguous
        "dv",  # (B, G, keys_here, E), contiguous
        "delta",  # (B, H, N), contiguous and zero: each row's Σ_j P_ij dP_ij
        "extra_delta",  # (B, H, N): the terms of delta other than d_output · output; or 0
        "first_key",  # the position of the arrays' first key in the whole attention
        "keys_here",  # the arrays' number of keys
        "stripe",  # keys per task
        "tickets",  # int64 (B, H, blocks), zero: the number of stripes that have added to a block of queries' dq
        "line_d",  # bytes of a line of D numbers in the workspace; `line_e` of E numbers
        "line_e",
        "elaborate",  # whether there are steps, dropout, primitives or factors
        "preliminary",  # whether to compute only the primitives' part of delta; there are then no values
        "step_gradients",  # for each step, its array's gradient (`STRIDED`), or 0
        "factor_gradients",  # for each factor, the address of its numbers' gradients, (B, H, N), or 0; or 0
        scale=FLOAT,  # the factor of q·k
        d_output=STRIDED,  # the gradient of the loss in the output, (B, H, N, E)
        reach=STRIDED,  # int32: the keys [first, last) that each block of queries needs; a "token" is a block here
        panel=PANEL_LAYOUT,
        primitives=PRIMITIVE_GRADIENTS,
    ),
    "decode": _params(
        "decode",
        "rows_across",  # the number of rows of queries in a vector
        "unsound",  # the number of tasks with results that aren't finite
        "stage",  # a `Stage`
        "parts",  # the number of tasks per key head
        "part_columns",  # value columns per part
        "scores",  # (B, G, blocks of keys, panels of rows, SCORES_APART, rows across), if scores are kept
        "scores_block",  # bytes of a block of them
    ),
}
