"""Decoding: few queries against many keys, at the speed at which memory gives them.

A task is one key head with all the query rows that look at it, those of its group of heads, so that keys and values
are read once, in order. Rows of queries lie in the lanes for the scores, in vectors no wider than there are rows; value
columns do for the sums of values. What is done to each number, in which order, is what `forward` does, so every bit of
the result is the same.
"""

from __future__ import annotations

import numpy as np

from eyeline.kernels.decode_layout import widths_across
from eyeline.kernels.decoding import summing, weighing
from eyeline.kernels.halves import halves
from eyeline.kernels.layout import KEY_BLOCK, SUM_BLOCK
from eyeline.kernels.memory import add_to, load_i32, word
from eyeline.kernels.words import (
    BOUNDS,
    EVERYTHING,
    GROUP,
    HALF,
    HEADS,
    INTERVALS,
    KEEP_SCORES,
    KEYS,
    NEXT,
    NOT,
    PART_COLUMNS,
    PARTS,
    QUERIES,
    ROWS_ACROSS,
    S_KEYS,
    S_VALUES,
    S_WEIGHTS,
    SCORES,
    SCORES_BLOCK,
    STAGE,
    SUM_VALUES,
    TASKS,
    UNSOUND,
    VALUE_WIDTH,
    WIDTH,
    WORK,
    K,
    V,
    compiled,
    place,
)


def decode(dtype, lanes, vectors, rows, value_rows):
    """The kernel for one element type and vector width: `kernel(words, scratch, most)` does up to `most` tasks.

    It returns the number of tasks that were left to take when it stopped, 0 once all are taken. Any number of threads
    may run it on the same words, each with a scratch of its own. Where a row's result isn't finite, the word UNSOUND
    says so, and the row counts for nothing.
    """
    widen, narrow_rows = halves(dtype, lanes, vectors)
    clear, add_values, finish = summing(dtype, lanes, value_rows, narrow_rows)
    size = np.dtype(dtype).itemsize

    @compiled
    def seen_part(p, batch, group, a, e):
        """The part of the keys [a, e) that some row's intervals touch."""
        if word(p, BOUNDS) == 0:
            return a, e
        first, last = e, a
        for h in range(word(p, GROUP)):
            at, token, _ = place(p, BOUNDS, batch, group * word(p, GROUP) + h)
            for i in range(word(p, QUERIES)):
                for k in range(word(p, INTERVALS)):
                    begin = max(np.int64(load_i32(at + i * token + 8 * k)), a)
                    end = min(np.int64(load_i32(at + i * token + 8 * k + 4)), e)
                    if begin < end:
                        first, last = min(first, begin), max(last, end)
        return first, last

    @compiled
    def rows_of(p, scratch, array, place_in_scratch, batch, group, columns, a, e):
        """Where an array's rows [a, e) lie, and how far apart: where they are, or widened into the scratch."""
        at, token, column = place(p, array, batch, group)
        at += a * token
        if word(p, HALF) == NOT:
            return at, token
        to = scratch + word(p, place_in_scratch)
        widen(word(p, HALF), at, token, column, e - a, columns, to, columns * size)
        return to, columns * size

    def sweeping(few):
        """`sweep`, with `few` rows in a vector."""
        pack, begin, score, weigh = weighing(dtype, few, lanes, widen)

        @compiled
        def sweep(p, scratch, batch, group, part):
            """All rows of one key head over all the keys, or the part of it that this stage has."""
            stage, parts = word(p, STAGE), word(p, PARTS)
            first, last = seen_part(p, batch, group, 0, word(p, KEYS))
            first_block, first_column, last_column = first - first % KEY_BLOCK, 0, word(p, VALUE_WIDTH)
            if stage == KEEP_SCORES:
                blocks = (last - first_block + KEY_BLOCK - 1) // KEY_BLOCK
                last = min(last, first_block + (part + 1) * blocks // parts * KEY_BLOCK)
                first_block += part * blocks // parts * KEY_BLOCK
            else:
                begin(p, scratch)
                clear(p, scratch)
            if stage == SUM_VALUES:
                first_column = part * word(p, PART_COLUMNS)
                last_column = min(first_column + word(p, PART_COLUMNS), last_column)
            else:
                pack(p, scratch, batch, group)
            all_blocks = (word(p, KEYS) + KEY_BLOCK - 1) // KEY_BLOCK
            kept = word(p, SCORES) + (batch * groups(p) + group) * all_blocks * word(p, SCORES_BLOCK)
            seen = 0
            for block in range(first_block, last, KEY_BLOCK):
                a, e = seen_part(p, batch, group, max(block, first), min(block + KEY_BLOCK, last))
                if a >= e:
                    continue
                a -= a % SUM_BLOCK
                scores = scratch + word(p, S_WEIGHTS)
                if stage != EVERYTHING:
                    scores = kept + block // KEY_BLOCK * word(p, SCORES_BLOCK)
                # While one block is worked on, the next comes in.
                ahead = KEY_BLOCK if block + KEY_BLOCK < last and word(p, HALF) == NOT else 0
                if stage != SUM_VALUES:
                    at, token = rows_of(p, scratch, K, S_KEYS, batch, group, word(p, WIDTH), a, e)
                    score(p, scratch, batch, group, a, e, at, token, scores, ahead)
                    seen += word(p, GROUP) * word(p, QUERIES) * (e - a)
                if stage != KEEP_SCORES:
                    weigh(p, scratch, scores, e - a)
                    at, token = rows_of(p, scratch, V, S_VALUES, batch, group, word(p, VALUE_WIDTH), a, e)
                    add_values(p, scratch, at, token, e - a, few, first_column, last_column, ahead)
            add_to(p + 8 * WORK, seen)
            if stage != KEEP_SCORES and not finish(p, scratch, batch, group, first_column, last_column):
                add_to(p + 8 * UNSOUND, 1)

        return sweep

    @compiled
    def groups(p):
        """How many key heads there are."""
        return word(p, HEADS) // word(p, GROUP)

    few_narrow, few_middle, few_wide = widths_across(dtype, lanes)
    narrow, middle, wide = sweeping(few_narrow), sweeping(few_middle), sweeping(few_wide)

    def kernel(p, scratch, most):
        tasks, parts = word(p, TASKS), word(p, PARTS)
        while most > 0:
            task = tasks - 1 - add_to(p, 1)
            if task < 0:
                return 0
            most -= 1
            part, group, batch = task % parts, task // parts % groups(p), task // (parts * groups(p))
            if word(p, ROWS_ACROSS) == few_narrow:
                narrow(p, scratch, batch, group, part)
            elif word(p, ROWS_ACROSS) == few_middle:
                middle(p, scratch, batch, group, part)
            else:
                wide(p, scratch, batch, group, part)
        return max(tasks - word(p, NEXT), 0)

    return kernel
