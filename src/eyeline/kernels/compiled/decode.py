"""Decoding: few queries against many keys, at the speed of reading keys and values from memory.

A task is one key head with all query rows of the heads that share it, so that keys and values are read once, in order.
For the scores, rows of queries lie in the lanes, in vectors no wider than the number of rows; for the sums of values,
value columns do. Every number goes through the same operations in the same order as in `forward`, so the results are
the same bit for bit.
"""

from __future__ import annotations

import numpy as np

from eyeline.kernels.compiled.call_records import Half, Stage
from eyeline.kernels.compiled.decode_values import decode_values
from eyeline.kernels.compiled.decode_weights import decode_weights
from eyeline.kernels.compiled.half_precision import half_precision
from eyeline.kernels.compiled.memory import load_i32
from eyeline.kernels.compiled.params import PARAMS
from eyeline.kernels.compiled.programs import KEY_BLOCK, SUM_BLOCK, widths_across
from eyeline.kernels.compiled.records import add_to_field, compiled, head_of, record_at, workspace_opener

NOT = int(Half.NOT)
EVERYTHING, KEEP_SCORES, SUM_VALUES = (int(stage) for stage in Stage)


def decode(dtype, lanes, vectors, rows, added_rows):
    """The kernel for one element type and vector width: `kernel(params, workspace, most)` does up to `most` tasks.

    It returns the number of tasks not yet taken when it stopped. Any number of threads may run it on the same params,
    each with its own workspace. The param `unsound` counts tasks with results that aren't finite, which are invalid.
    """
    rows_at_hand = half_precision(dtype, lanes).rows_at_hand
    clear, add_values, finish = decode_values(dtype, lanes, added_rows)
    params_at, open_workspace = record_at(PARAMS["decode"]), workspace_opener("decode")

    @compiled
    def seen_part(p, batch, key_head, a, e):
        """The range of the keys [a, e) that any row's intervals overlap."""
        if p.mask.bounds.address == 0:
            return a, e
        first, last = e, a
        for h in range(p.group):
            at, token, _ = head_of(p.mask.bounds, batch, key_head * p.group + h)
            for i in range(p.N):
                for k in range(p.mask.intervals):
                    begin = max(np.int64(load_i32(at + i * token + 8 * k)), a)
                    end = min(np.int64(load_i32(at + i * token + 8 * k + 4)), e)
                    if begin < end:
                        first, last = min(first, begin), max(last, end)
        return first, last

    @compiled
    def part_of_keys(p, part, first, last):
        """The part of the keys [first, last), in whole blocks, whose scores this task computes."""
        first_block = first - first % KEY_BLOCK
        blocks = (last - first_block + KEY_BLOCK - 1) // KEY_BLOCK
        end = min(last, first_block + (part + 1) * blocks // p.parts * KEY_BLOCK)
        return first_block + part * blocks // p.parts * KEY_BLOCK, end

    @compiled
    def part_of_columns(p, part):
        """The value columns that this task sums."""
        if p.stage != SUM_VALUES:
            return 0, p.E
        first = part * p.part_columns
        return first, min(first + p.part_columns, p.E)

    def sweeping(few):
        """`sweep`, with `few` rows in a vector."""
        pack, begin, score, weigh = decode_weights(dtype, few, lanes)

        @compiled
        def sweep(p, work, batch, key_head, part):
            """All rows of one key head over all the keys, or this stage's part of that."""
            stage = p.stage
            first, last = seen_part(p, batch, key_head, 0, p.M)
            first_block = first - first % KEY_BLOCK
            first_column, last_column = part_of_columns(p, part)
            if stage == KEEP_SCORES:
                first_block, last = part_of_keys(p, part, first, last)
            else:
                begin(p, work)
                clear(p, work)
            if stage != SUM_VALUES:
                pack(p, work, batch, key_head)
            all_blocks = (p.M + KEY_BLOCK - 1) // KEY_BLOCK
            scores_kept = p.scores + (batch * (p.H // p.group) + key_head) * all_blocks * p.scores_block
            seen = 0
            for block in range(first_block, last, KEY_BLOCK):
                a, e = seen_part(p, batch, key_head, max(block, first), min(block + KEY_BLOCK, last))
                if a >= e:
                    continue
                a -= a % SUM_BLOCK
                S = work.P
                if stage != EVERYTHING:
                    S = scores_kept + block // KEY_BLOCK * p.scores_block
                # Prefetch the next block while this one is computed.
                ahead = KEY_BLOCK if block + KEY_BLOCK < last and p.half == NOT else 0
                if stage != SUM_VALUES:
                    K = rows_at_hand(p, p.k, work.keys, batch, key_head, p.D, a, e)
                    score(p, work, batch, key_head, a, e, K, S, ahead)
                    seen += p.group * p.N * (e - a)
                if stage != KEEP_SCORES:
                    weigh(p, work, S, e - a)
                    V = rows_at_hand(p, p.v, work.values, batch, key_head, p.E, a, e)
                    add_values(p, work, V, e - a, few, first_column, last_column, ahead)
            add_to_field(p, "work", seen)
            if stage != KEEP_SCORES and not finish(p, work, batch, key_head, first_column, last_column):
                add_to_field(p, "unsound", 1)

        return sweep

    few_narrow, few_middle, few_wide = widths_across(dtype, lanes)
    narrow, middle, wide = sweeping(few_narrow), sweeping(few_middle), sweeping(few_wide)

    def kernel(params, workspace, most):
        p = params_at(params)
        work = open_workspace(p.workspace, workspace)
        key_heads = p.H // p.group
        while most > 0:
            task = p.tasks - 1 - add_to_field(p, "next_task", 1)
            if task < 0:
                return 0
            most -= 1
            part, key_head, batch = task % p.parts, task // p.parts % key_heads, task // (p.parts * key_heads)
            if p.rows_across == few_narrow:
                narrow(p, work, batch, key_head, part)
            elif p.rows_across == few_middle:
                middle(p, work, batch, key_head, part)
            else:
                wide(p, work, batch, key_head, part)
        return max(p.tasks - p.next_task, 0)

    return kernel
