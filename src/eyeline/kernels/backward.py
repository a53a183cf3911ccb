"""The backward pass: from the gradient of the loss in the output, that in queries, keys and values.

With weights w = softmax(s), s = scale · q·k and output o = Σ w v, and do the gradient in o (Dao et al. 2022, B.2):

    dv_j = Σ_i w_ij do_i    dw_ij = do_i · v_j    ds_ij = w_ij (dw_ij - total_i), total_i = Σ_j w_ij dw_ij = do_i · o_i
    dq_i = scale Σ_j ds_ij k_j    dk_j = scale Σ_i ds_ij q_i

Weights are computed again, from the maxima and sums that the forward pass left. Each task is a stripe of one head's
keys: it keeps their dk and dv, and goes over the blocks of queries, the last one first, of all the heads that share
the keys. dq is summed over the keys in order, block by block: the threads that hold stripes of the same head take
turns (see `turns`). Stripes are handed out in order, so whoever waits, waits for one who is at work.

A key's gradients are sums over blocks of queries at fixed positions, a query's over blocks of keys, so their bits
depend neither on the threads nor on the stripes. What a mask hides adds 0; where keys, values, queries or gradients
hold what isn't finite, 0 times which isn't 0, a pair of blocks is multiplied carefully instead: without what is hidden.

Nothing here allocates, raises or calls back, so the machine code stands alone (see `compile`).
"""

from __future__ import annotations

import numpy as np

from eyeline.kernels.backward_layout import QUERY_BLOCK
from eyeline.kernels.intake import intake
from eyeline.kernels.layout import KEY_BLOCK
from eyeline.kernels.memory import add_to, load_i32, width, word
from eyeline.kernels.pairs import pairs
from eyeline.kernels.rows import rows_of
from eyeline.kernels.turns import pass_on, turn_at
from eyeline.kernels.words import (
    BATCHES,
    BLOCKS,
    DQ,
    GROUP,
    HEADS,
    KEY_HEADS,
    KEYS,
    LINE_D,
    NEXT,
    PRELIMINARY,
    QUERIES,
    REACH,
    REACH_BATCH,
    REACH_BLOCK,
    REACH_HEAD,
    S_DQ,
    S_SOUND,
    S_TOTALS,
    STEP_GRADIENTS,
    STRIPE,
    TASKS,
    TOTALS,
    TURNS,
    WIDTH,
    WORK,
    compiled,
)


def backward(dtype, lanes, vectors, rows, value_rows):
    """The kernel for one element type and vector width: `kernel(words, scratch, most)` does up to `most` tasks.

    It returns the number of tasks that were left to take when it stopped, 0 once all are taken. Any number of threads
    may run it on the same words, each with a scratch of its own.
    """
    W = width(dtype, lanes)
    load_scalar, store_scalar = W.load_scalar, W.store_scalar
    size = np.dtype(dtype).itemsize
    take_queries, take_keys, give_keys = intake(dtype, lanes, vectors)
    weigh, add_up = pairs(dtype, lanes, vectors, rows, value_rows)
    _, copy_row, clear, _ = rows_of(dtype, lanes, vectors)

    @compiled
    def wait(turns, mine):
        while turn_at(turns) != mine:
            pass

    @compiled
    def sweep(p, scratch, batch, head, block, begin, end, first, last):
        """A block of queries, which needs the keys [first, last), against the stripe of keys [begin, end)."""
        first_query = block * QUERY_BLOCK
        count = min(QUERY_BLOCK, word(p, QUERIES) - first_query)
        D, lines = word(p, WIDTH), word(p, LINE_D)
        group = batch * word(p, HEADS) + head
        row = group * word(p, QUERIES) + first_query
        target, held = word(p, DQ) + row * D * size, scratch + word(p, S_DQ)
        totals = word(p, TOTALS) + row * size
        turns = word(p, TURNS) + (group * word(p, BLOCKS) + block) * 8
        mine = begin // word(p, STRIPE) - first // word(p, STRIPE)
        sound = take_queries(p, scratch, batch, head, first_query, count, mine == 0)
        preliminary, has_begun, seen = word(p, PRELIMINARY) != 0, False, 0
        if preliminary or word(p, STEP_GRADIENTS) != 0:
            # Then each block of keys adds to more than dq.
            wait(turns, mine)
        if preliminary:
            for i in range(count):
                store_scalar(scratch + word(p, S_TOTALS) + i * size, load_scalar(totals + i * size))
        for a in range(max(begin, first - first % KEY_BLOCK), min(end, last), KEY_BLOCK):
            e = min(a + KEY_BLOCK, word(p, KEYS))
            careful = not (sound and word(scratch + word(p, S_SOUND), (a - begin) // KEY_BLOCK) != 0)
            looked, whole = weigh(p, scratch, batch, head, first_query, count, begin, a, e, careful)
            if looked == 0 or preliminary:
                continue
            seen += looked
            if not has_begun:
                has_begun = True
                wait(turns, mine)
                if mine == 0:
                    clear(held, count * lines)
                else:
                    for i in range(count):
                        copy_row(target + i * D * size, size, D, held + i * lines)
            add_up(p, scratch, count, e - a, a, a - begin, whole, careful)
        wait(turns, mine)
        if not has_begun and mine == 0:
            clear(held, count * lines)
        if (has_begun or mine == 0) and not preliminary:
            for i in range(count):
                copy_row(held + i * lines, size, D, target + i * D * size)
        if preliminary:
            for i in range(count):
                store_scalar(totals + i * size, load_scalar(scratch + word(p, S_TOTALS) + i * size))
        pass_on(turns)
        add_to(p + 8 * WORK, seen)

    def kernel(p, scratch, most):
        tasks, key_heads, group, M = word(p, TASKS), word(p, KEY_HEADS), word(p, GROUP), word(p, KEYS)
        batches, stripe = word(p, BATCHES), word(p, STRIPE)
        heads = batches * key_heads
        units = heads * ((M + stripe - 1) // stripe)
        while most > 0:
            task = add_to(p, 1)
            if task >= tasks:
                return 0
            most -= 1
            # The first stripes of all heads, then the second ones, and so on. One to a task; or where gradients of
            # steps are sums over the batch or all heads too, all those of a head, or all there are.
            unit = task
            while unit < units:
                batch, key_head = (unit % heads) // key_heads, unit % key_heads
                begin = unit // heads * stripe
                end = min(begin + stripe, M)
                take_keys(p, scratch, batch, key_head, begin, end)
                for head in range(key_head * group, (key_head + 1) * group):
                    reach = word(p, REACH) + batch * word(p, REACH_BATCH) + head * word(p, REACH_HEAD)
                    for block in range(word(p, BLOCKS) - 1, -1, -1):
                        at = reach + block * word(p, REACH_BLOCK)
                        first, last = load_i32(at), load_i32(at + 4)
                        if first < last and first < end and last > begin:
                            sweep(p, scratch, batch, head, block, begin, end, first, last)
                if word(p, PRELIMINARY) == 0:
                    give_keys(p, scratch, batch, key_head, begin, end)
                unit += tasks
        return max(tasks - word(p, NEXT), 0)

    return kernel
