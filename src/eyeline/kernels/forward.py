"""The forward pass: blocks of queries against blocks of keys, with the softmax kept up to date on the way.

Each task is one head's block of queries, cut into panels that lie in the vector lanes (see `tiles`). For every block
of keys that the mask leaves, and every panel: scores, mask, new maximum, weights 2^(score - maximum), and the values
added up. What is added up is rescaled when a row's maximum grows (online softmax: Milakov and Gimelshein 2018; Dao et
al. 2022). Scores are in base 2: queries are multiplied by scale · log2 e while they are packed.

A weight of 0 times a NaN is NaN, which a value that the mask hides must not do to its neighbours. So a panel whose
result isn't finite is done once more, carefully: hidden keys are then left out one by one. What is finite costs
nothing for it.

Nothing here allocates, raises or calls back, so the machine code stands alone (see `compile`).
"""

from __future__ import annotations

import numpy as np

from eyeline.kernels.halves import halves
from eyeline.kernels.layout import KEY_BLOCK
from eyeline.kernels.memory import add_to, load_i32, store_word, word
from eyeline.kernels.packing import packing
from eyeline.kernels.panel import panel
from eyeline.kernels.reading import reading
from eyeline.kernels.words import (
    BLOCKS,
    COLUMN_PLACES,
    GROUP,
    HALF,
    HEADS,
    KEYS,
    NEXT,
    NOT,
    PANELS,
    QUERIES,
    READ,
    ROW_PLACES,
    S_KEPT,
    S_KEPT_SIZE,
    S_KEYS,
    S_PEAKS,
    S_PEAKS_SIZE,
    S_RANGE,
    S_STATE,
    S_STATE_SIZE,
    S_VALUES,
    S_VISITS,
    S_VISITS_SIZE,
    S_WEIGHTS,
    TASKS,
    TOP,
    VALUE_WIDTH,
    WEIGHTS,
    WIDTH,
    WORK,
    K,
    V,
    compiled,
    place,
)


def forward(dtype, lanes, vectors, rows, value_rows):
    """The kernel for one element type and vector width: `kernel(words, scratch, most)` does up to `most` tasks.

    If the words give a place for weights, it writes these, from the maxima and sums of an earlier pass; else the
    output.

    It returns the number of tasks that were left to take when it stopped, 0 once all are taken. Any number of threads
    may run it on the same words, each with a scratch of its own.
    """
    prepare, finish = packing(dtype, lanes, vectors)
    where, take_in, write_weights = panel(dtype, lanes, vectors, rows, value_rows)
    begin_task, read, end_task = reading(dtype, lanes, vectors)
    widen, _ = halves(dtype, lanes, vectors)
    length = lanes * vectors
    size = np.dtype(dtype).itemsize
    line = length * size

    @compiled
    def block_of(p, scratch, array, place_in_scratch, batch, head, columns, a, e):
        """Where an array's rows [a, e) lie, and their strides: where they are, or widened into the scratch."""
        at, token, column = place(p, array, batch, head)
        at += a * token
        if word(p, HALF) == NOT:
            return at, token, column
        to = scratch + word(p, place_in_scratch)
        widen(word(p, HALF), at, token, column, e - a, columns, to, columns * size)
        return to, columns * size, size

    @compiled
    def sweep(p, scratch, batch, head, first_query, count, careful):
        """One panel or several, side by side, over all the keys. Returns which of them are finite, as bits."""
        states, state_size = scratch + word(p, S_STATE), word(p, S_STATE_SIZE)
        M = word(p, KEYS)
        begin, end, seen = M, 0, 0
        for g in range(0, count, length):
            n = min(length, count - g)
            state = states + (g // length) * state_size
            prepare(p, state, scratch, batch, head, first_query + g, n, 1 if n <= lanes else vectors)
            ranges = state + word(p, S_RANGE)
            begin, end = min(begin, word(ranges, 0)), max(end, word(ranges, 1))
            store_word(scratch + word(p, S_VISITS) + (g // length) * word(p, S_VISITS_SIZE), 0)
        key_head = head // word(p, GROUP)
        for block in range(begin - begin % KEY_BLOCK, end, KEY_BLOCK):
            last = min(block + KEY_BLOCK, M)
            keys, key_token, key_column = block_of(p, scratch, K, S_KEYS, batch, key_head, word(p, WIDTH), block, last)
            values, value_token, value_column = block_of(
                p, scratch, V, S_VALUES, batch, key_head, word(p, VALUE_WIDTH), block, last
            )
            for g in range(0, count, length):
                n = min(length, count - g)
                state = states + (g // length) * state_size
                a, e, flagged = where(p, state, scratch, batch, head, first_query + g, n, block, last)
                if a >= e:
                    continue
                seen += n * (e - a)
                scores, peaks = scratch + word(p, S_WEIGHTS), 0
                if word(p, READ) != 0:
                    scores = scratch + word(p, S_KEPT) + (g // length) * word(p, S_KEPT_SIZE) + a * line
                    visits = scratch + word(p, S_VISITS) + (g // length) * word(p, S_VISITS_SIZE)
                    visit = add_to(visits, 1)
                    store_word(visits + 8 * (1 + 2 * visit), a)
                    store_word(visits + 8 * (2 + 2 * visit), e)
                    if word(p, TOP) != 0:
                        peaks = scratch + word(p, S_PEAKS) + (g // length) * word(p, S_PEAKS_SIZE) + visit * line
                take_in(
                    p,
                    state,
                    scratch,
                    scores,
                    peaks,
                    batch,
                    head,
                    first_query + g,
                    n,
                    1 if n <= lanes else vectors,
                    (keys + (a - block) * key_token, key_token, key_column),
                    (values + (a - block) * value_token, value_token, value_column),
                    a,
                    e,
                    flagged,
                    careful,
                )
        add_to(p + 8 * WORK, seen)
        finite = 0
        for g in range(0, count, length):
            n = min(length, count - g)
            state = states + (g // length) * state_size
            if finish(p, state, scratch, batch, head, first_query + g, n, 1 if n <= lanes else vectors):
                finite |= 1 << (g // length)
        return finite

    @compiled
    def read_panel(p, scratch, slot, batch, head, first_query, count):
        state = scratch + word(p, S_STATE) + slot * word(p, S_STATE_SIZE)
        kept = scratch + word(p, S_KEPT) + slot * word(p, S_KEPT_SIZE)
        visits = scratch + word(p, S_VISITS) + slot * word(p, S_VISITS_SIZE)
        peaks = scratch + word(p, S_PEAKS) + slot * word(p, S_PEAKS_SIZE)
        read(p, state, scratch, kept, visits, peaks, batch, head, first_query, count, 1 if count <= lanes else vectors)

    @compiled
    def write_panel(p, scratch, batch, head, first_query, count):
        """Write what is wanted of a panel's rows of the weight matrix."""
        used = 1 if count <= lanes else vectors
        prepare(p, scratch, scratch, batch, head, first_query, count, used)
        ranges = scratch + word(p, S_RANGE)
        M = word(p, KEYS)
        begin, end = word(ranges, 0), word(ranges, 1)
        for block in range(begin - begin % KEY_BLOCK, end, KEY_BLOCK):
            last = min(block + KEY_BLOCK, M)
            wanted = False
            for j in range(block, last):
                wanted = wanted or load_i32(word(p, COLUMN_PLACES) + 4 * j) >= 0
            if not wanted:
                continue
            a, e, flagged = where(p, scratch, scratch, batch, head, first_query, count, block, last)
            if a < e:
                keys, token, column = block_of(
                    p, scratch, K, S_KEYS, batch, head // word(p, GROUP), word(p, WIDTH), block, last
                )
                first = (keys + (a - block) * token, token, column)
                write_weights(p, scratch, scratch, batch, head, first_query, count, used, first, a, e, flagged)

    def kernel(p, scratch, most):
        tasks, blocks, heads = word(p, TASKS), word(p, BLOCKS), word(p, HEADS)
        N, per_block = word(p, QUERIES), word(p, PANELS) * length
        while most > 0:
            # From the last block to the first: under a causal mask the last ones are the longest.
            task = tasks - 1 - add_to(p, 1)
            if task < 0:
                return 0
            most -= 1
            block = task % blocks
            head = (task // blocks) % heads
            batch = task // (blocks * heads)
            first_query = block * per_block
            count = min(per_block, N - first_query)
            if word(p, WEIGHTS) != 0:
                for g in range(0, count, length):
                    n, wanted = min(length, count - g), False
                    for i in range(first_query + g, first_query + g + n):
                        wanted = wanted or load_i32(word(p, ROW_PLACES) + 4 * i) >= 0
                    if wanted:
                        write_panel(p, scratch, batch, head, first_query + g, n)
                continue
            if word(p, READ) != 0:
                begin_task(p, scratch)
            finite = sweep(p, scratch, batch, head, first_query, count, False)
            if word(p, READ) != 0:
                for g in range(0, count, length):
                    if (finite >> (g // length)) & 1:
                        read_panel(p, scratch, g // length, batch, head, first_query + g, min(length, count - g))
            for g in range(0, count, length):
                if not (finite >> (g // length)) & 1:
                    n = min(length, count - g)
                    sweep(p, scratch, batch, head, first_query + g, n, True)
                    if word(p, READ) != 0:
                        read_panel(p, scratch, 0, batch, head, first_query + g, n)
            if word(p, READ) != 0:
                end_task(p, scratch, batch, head)
        return max(tasks - word(p, NEXT), 0)

    return kernel
