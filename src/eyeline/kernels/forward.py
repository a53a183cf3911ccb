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

from eyeline.kernels.layout import KEY_BLOCK
from eyeline.kernels.memory import add_to, word
from eyeline.kernels.packing import packing
from eyeline.kernels.panel import panel
from eyeline.kernels.words import (
    BLOCKS,
    HEADS,
    KEYS,
    NEXT,
    PANELS,
    QUERIES,
    S_RANGE,
    S_STATE,
    S_STATE_SIZE,
    TASKS,
    WEIGHTS,
    WORK,
    compiled,
)


def forward(dtype, lanes, vectors, rows, value_rows):
    """The kernel for one element type and vector width: `kernel(words, scratch, most)` does up to `most` tasks.

    If the words give a place for weights, it writes these, from the maxima and sums of an earlier pass; else the
    output.

    It returns the number of tasks that were left to take when it stopped, 0 once all are taken. Any number of threads
    may run it on the same words, each with a scratch of its own.
    """
    prepare, finish = packing(dtype, lanes, vectors)
    take_in, write_weights = panel(dtype, lanes, vectors, rows, value_rows)
    length = lanes * vectors

    @compiled
    def sweep(p, scratch, batch, head, first_query, count, careful):
        """One panel or several, side by side, over all the keys. Returns which of them are finite, as bits."""
        states, size = scratch + word(p, S_STATE), word(p, S_STATE_SIZE)
        M = word(p, KEYS)
        begin, end, seen = M, 0, 0
        for g in range(0, count, length):
            n = min(length, count - g)
            state = states + (g // length) * size
            prepare(p, state, batch, head, first_query + g, n, 1 if n <= lanes else vectors)
            ranges = state + word(p, S_RANGE)
            begin, end = min(begin, word(ranges, 0)), max(end, word(ranges, 1))
        for a in range(begin - begin % KEY_BLOCK, end, KEY_BLOCK):
            e = min(a + KEY_BLOCK, M)
            for g in range(0, count, length):
                n = min(length, count - g)
                state = states + (g // length) * size
                used = 1 if n <= lanes else vectors
                seen += n * take_in(p, state, scratch, batch, head, first_query + g, n, used, a, e, careful)
        add_to(p + 8 * WORK, seen)
        finite = 0
        for g in range(0, count, length):
            n = min(length, count - g)
            state = states + (g // length) * size
            if finish(p, state, batch, head, first_query + g, n, 1 if n <= lanes else vectors):
                finite |= 1 << (g // length)
        return finite

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
                    n = min(length, count - g)
                    used = 1 if n <= lanes else vectors
                    prepare(p, scratch, batch, head, first_query + g, n, used)
                    write_weights(p, scratch, scratch, batch, head, first_query + g, n, used)
                continue
            finite = sweep(p, scratch, batch, head, first_query, count, False)
            for g in range(0, count, length):
                if not (finite >> (g // length)) & 1:
                    sweep(p, scratch, batch, head, first_query + g, min(length, count - g), True)
        return max(tasks - word(p, NEXT), 0)

    return kernel
