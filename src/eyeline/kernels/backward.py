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

from eyeline.kernels.backward_layout import CELL, QUERY_BLOCK, wide
from eyeline.kernels.differentiate import differentiation
from eyeline.kernels.hiding import hiding
from eyeline.kernels.layout import KEY_BLOCK, sizes
from eyeline.kernels.memory import add_to, load_i32, store_word, width, word
from eyeline.kernels.packing import packing
from eyeline.kernels.panel import panel
from eyeline.kernels.products import products
from eyeline.kernels.rows import rows_of
from eyeline.kernels.simd import equal, fma, select
from eyeline.kernels.steps import steps
from eyeline.kernels.turns import pass_on, turn_at
from eyeline.kernels.words import (
    BLOCKS,
    BOUNDS,
    D_OUTPUT,
    DK,
    DQ,
    DV,
    GROUP,
    HEADS,
    INTERVALS,
    KEY_HEADS,
    KEYS,
    LINE_D,
    LINE_E,
    MAXIMA,
    NEXT,
    OUT,
    QUERIES,
    REACH,
    REACH_BATCH,
    REACH_BLOCK,
    REACH_HEAD,
    S_CHANGES,
    S_D_OUTPUT,
    S_DK,
    S_DQ,
    S_DV,
    S_GAINS,
    S_MAXIMA,
    S_OUT,
    S_OUTPUT,
    S_PANELS,
    S_Q,
    S_RANGE,
    S_SOUND,
    S_STATE,
    S_STATE_SIZE,
    S_STRIPE_KEYS,
    S_STRIPE_VALUES,
    S_SUMS,
    S_TAKEN,
    S_TOTALS,
    S_WEIGHTS,
    STEP_COUNT,
    STRIPE,
    SUMS,
    TASKS,
    TOTALS,
    TURNS,
    VALUE_WIDTH,
    WIDTH,
    WORK,
    K,
    Q,
    V,
    compiled,
    place,
)


def backward(dtype, lanes, vectors, rows, value_rows):
    """The kernel for one element type and vector width: `kernel(words, scratch, most)` does up to `most` tasks.

    It returns the number of tasks that were left to take when it stopped, 0 once all are taken. Any number of threads
    may run it on the same words, each with a scratch of its own.
    """
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, length, line = sizes(dtype, lanes, vectors)
    wide_line = wide(size)
    zero, infinity = dtype(0), dtype(np.inf)
    prepare, _ = packing(dtype, lanes, vectors)
    where, _, _ = panel(dtype, lanes, vectors, rows, value_rows)
    _, _, hide, _ = hiding(dtype, lanes, vectors)
    change = steps(dtype, lanes, vectors)
    multiply, add_product, add_product_carefully = products(dtype, lanes, vectors, rows, value_rows)
    take_rows, copy_row, clear, turn = rows_of(dtype, lanes, vectors)
    differentiate = differentiation(dtype, lanes, vectors)

    @compiled
    def take_panel(p, state, scratch, batch, head, first_query, count, g):
        """Take in a panel of a block's queries, `g` on from its first: what `prepare` packs; d_output, turned; maxima,
        inverses of sums, totals. A row that has seen nothing has inverse and total 0."""
        prepare(p, state, scratch, batch, head, first_query + g, count, vectors)
        row = (batch * word(p, HEADS) + head) * word(p, QUERIES) + first_query + g
        tops, inverses = state + word(p, S_MAXIMA), state + word(p, S_SUMS)
        for i in range(length):
            at = (row + min(i, count - 1)) * size
            top, total = load_scalar(word(p, MAXIMA) + at), load_scalar(word(p, SUMS) + at)
            store_scalar(tops + i * size, zero if top == -infinity else top)
            store_scalar(inverses + i * size, zero if total == zero else dtype(1) / total)
        if word(p, BOUNDS) != 0:
            at, token, _ = place(p, BOUNDS, batch, head)
            for i in range(count):
                source, sees = at + (first_query + g + i) * token, False
                for k in range(word(p, INTERVALS)):
                    sees = sees or load_i32(source + 8 * k) < load_i32(source + 8 * k + 4)
                if not sees:
                    store_scalar(inverses + i * size, zero)

        E = word(p, VALUE_WIDTH)
        at, token, column = place(p, D_OUTPUT, batch, head)
        turned, output = state + word(p, S_OUT), scratch + word(p, S_OUTPUT)
        turn(at + (first_query + g) * token, token, column, count, E, turned)
        turn(word(p, OUT) + row * E * size, E * size, size, count, E, output)
        for w in range(vectors):
            even, odd = splat(zero), splat(zero)
            for e in range(E):
                x = load(output + e * line + w * step)
                gradient = load(turned + e * line + w * step)
                # An output of 0, as where nothing was seen, takes nothing of a gradient that may be NaN.
                if e % 2 == 0:
                    even = select(equal(x, splat(zero)), even, fma(x, gradient, even))
                else:
                    odd = select(equal(x, splat(zero)), odd, fma(x, gradient, odd))
            none = equal(load(inverses + w * step), splat(zero))
            total = select(none, splat(zero), even + odd)
            store(scratch + word(p, S_TOTALS) + g * size + w * step, total)
        for i in range(count):
            store_scalar(word(p, TOTALS) + (row + i) * size, load_scalar(scratch + word(p, S_TOTALS) + (g + i) * size))

    @compiled
    def take_queries(p, scratch, batch, head, first_query, count):
        """Take in a block of queries. Returns whether all is finite that a key may see of them."""
        sound = True
        for g in range(0, count, length):
            n = min(length, count - g)
            state = scratch + word(p, S_STATE) + (g // length) * word(p, S_STATE_SIZE)
            take_panel(p, state, scratch, batch, head, first_query, n, g)
            first, inverses = first_query + g, state + word(p, S_SUMS)
            at, token, column = place(p, Q, batch, head)
            to = scratch + word(p, S_Q) + g * word(p, LINE_D)
            sound &= take_rows(at + first * token, token, column, n, inverses, word(p, WIDTH), to, word(p, LINE_D))
            at, token, column = place(p, D_OUTPUT, batch, head)
            to = scratch + word(p, S_D_OUTPUT) + g * word(p, LINE_E)
            sound &= take_rows(
                at + first * token, token, column, n, inverses, word(p, VALUE_WIDTH), to, word(p, LINE_E)
            )
        return sound

    @compiled
    def blank(p, scratch, g, first, last, careful):
        """Nothing, hidden if that's to be told apart, for a panel and the keys [first, last) of a block."""
        at = first * wide_line + g * size
        for j in range(last - first):
            for w in range(vectors):
                to = at + j * wide_line + w * step
                store(scratch + word(p, S_CHANGES) + to, splat(zero))
                store(scratch + word(p, S_TAKEN) + to, splat(dtype(-1) if careful else zero))

    @compiled
    def weigh(p, scratch, batch, head, first_query, count, begin, a, e, careful):
        """The weights and the gradients of the scores of a block of queries and the keys [a, e), in a stripe that
        begins at `begin`. Returns how many panels looked at any of the keys, and how many at all."""
        some, all_of_them = 0, 0
        for g in range(0, count, length):
            state = scratch + word(p, S_STATE) + (g // length) * word(p, S_STATE_SIZE)
            queries = min(length, count - g)
            used = 1 if queries <= lanes else vectors
            first, last, flagged = where(p, state, scratch, batch, head, first_query + g, queries, a, e)
            if first >= last:
                first, last = a, a
            looked = scratch + word(p, S_PANELS) + (g // length) * 16
            store_word(looked, first)
            store_word(looked + 8, last)
            blank(p, scratch, g, 0, first - a, careful)
            blank(p, scratch, g, last - a, e - a, careful)
            if first == last:
                continue
            some += 1
            if first == a and last == e:
                all_of_them += 1
            n, scores = last - first, scratch + word(p, S_WEIGHTS)
            keys = scratch + word(p, S_STRIPE_KEYS) + (first - begin) * word(p, LINE_D)
            multiply(keys, word(p, LINE_D), n, state, word(p, WIDTH), scores, used)
            if word(p, STEP_COUNT) != 0:
                change(p, scratch, scores, batch, head, first_query + g, queries, used, first, last)
            ranges = state + word(p, S_RANGE)
            if flagged or first < word(ranges, 2) or last > word(ranges, 3):
                hide(p, state, scratch, scores, used, first, last, flagged)
            values = scratch + word(p, S_STRIPE_VALUES) + (first - begin) * word(p, LINE_E)
            turned = state + word(p, S_OUT)
            multiply(values, word(p, LINE_E), n, turned, word(p, VALUE_WIDTH), scratch + word(p, S_GAINS), used)
            differentiate(p, state, scratch, g * size, n, first - a, used, careful)
        return some, all_of_them

    @compiled
    def add_to_keys(p, scratch, first, count, place_in_stripe, begin, n):
        """Add what the block's queries [begin, begin + n) give to dk and dv of its keys [first, first + count)."""
        taken = scratch + word(p, S_TAKEN) + first * wide_line + begin * size
        changes = scratch + word(p, S_CHANGES) + first * wide_line + begin * size
        to, lines = scratch + word(p, S_DV) + (place_in_stripe + first) * word(p, LINE_E), word(p, LINE_E)
        rows_in = scratch + word(p, S_D_OUTPUT) + begin * lines
        add_product(taken, wide_line, size, count, rows_in, lines, n, to, lines, word(p, VALUE_WIDTH))
        to, lines = scratch + word(p, S_DK) + (place_in_stripe + first) * word(p, LINE_D), word(p, LINE_D)
        rows_in = scratch + word(p, S_Q) + begin * lines
        add_product(changes, wide_line, size, count, rows_in, lines, n, to, lines, word(p, WIDTH))

    @compiled
    def add_to_queries(p, scratch, begin, count, place_in_stripe, first, n):
        """Add what the block's keys [first, first + n) give to dq of its queries [begin, begin + count)."""
        changes = scratch + word(p, S_CHANGES) + first * wide_line + begin * size
        lines = word(p, LINE_D)
        keys = scratch + word(p, S_STRIPE_KEYS) + (place_in_stripe + first) * lines
        to = scratch + word(p, S_DQ) + begin * lines
        add_product(changes, size, wide_line, count, keys, lines, n, to, lines, word(p, WIDTH))

    @compiled
    def add_carefully(p, scratch, count, n, place_in_stripe):
        """As `add_to_keys` and `add_to_queries` for a whole pair of blocks, but without what is hidden."""
        taken, changes = scratch + word(p, S_TAKEN), scratch + word(p, S_CHANGES)
        D, lines_d, lines_e = word(p, WIDTH), word(p, LINE_D), word(p, LINE_E)
        dv, dk = (
            scratch + word(p, S_DV) + place_in_stripe * lines_e,
            scratch + word(p, S_DK) + place_in_stripe * lines_d,
        )
        keys, dq = scratch + word(p, S_STRIPE_KEYS) + place_in_stripe * lines_d, scratch + word(p, S_DQ)
        q, d_output = scratch + word(p, S_Q), scratch + word(p, S_D_OUTPUT)
        E = word(p, VALUE_WIDTH)
        add_product_carefully(taken, taken, wide_line, size, n, d_output, lines_e, count, dv, lines_e, E)
        add_product_carefully(changes, taken, wide_line, size, n, q, lines_d, count, dk, lines_d, D)
        add_product_carefully(changes, taken, size, wide_line, count, keys, lines_d, n, dq, lines_d, D)

    @compiled
    def add_parts(p, scratch, count, n, a, place_in_stripe):
        """As `add_to_keys` and `add_to_queries`, where panels need different keys: no more than they need."""
        for first in range(0, n, CELL):
            last = min(first + CELL, n)
            begin, end = count, 0
            for g in range(0, count, length):
                panel = scratch + word(p, S_PANELS) + (g // length) * 16
                if word(panel, 0) - a < last and word(panel, 1) - a > first:
                    begin, end = min(begin, g), min(g + length, count)
            if begin < end:
                add_to_keys(p, scratch, first, last - first, place_in_stripe, begin, end - begin)
        for g in range(0, count, length):
            panel = scratch + word(p, S_PANELS) + (g // length) * 16
            first, last = word(panel, 0) - a, word(panel, 1) - a
            if first < last:
                queries = min(length, count - g)
                add_to_queries(p, scratch, g, queries, place_in_stripe, first, last - first)

    @compiled
    def sweep(p, scratch, batch, head, block, begin, end, first, last):
        """A block of queries, which needs the keys [first, last), against the stripe of keys [begin, end)."""
        first_query = block * QUERY_BLOCK
        count = min(QUERY_BLOCK, word(p, QUERIES) - first_query)
        D, lines = word(p, WIDTH), word(p, LINE_D)
        row = (batch * word(p, HEADS) + head) * word(p, QUERIES) + first_query
        target, held = word(p, DQ) + row * D * size, scratch + word(p, S_DQ)
        turns = word(p, TURNS) + ((batch * word(p, HEADS) + head) * word(p, BLOCKS) + block) * 8
        my_turn, has_begun = begin // word(p, STRIPE) - first // word(p, STRIPE), False
        sound = take_queries(p, scratch, batch, head, first_query, count)
        seen = 0
        for a in range(max(begin, first - first % KEY_BLOCK), min(end, last), KEY_BLOCK):
            e = min(a + KEY_BLOCK, word(p, KEYS))
            careful = not (sound and word(scratch + word(p, S_SOUND), (a - begin) // KEY_BLOCK) != 0)
            some, all_of_them = weigh(p, scratch, batch, head, first_query, count, begin, a, e, careful)
            if some == 0:
                continue
            seen += count * (e - a)
            if not has_begun:
                has_begun = True
                while turn_at(turns) != my_turn:
                    pass
                for i in range(count):
                    copy_row(target + i * D * size, size, D, held + i * lines)
            if careful:
                add_carefully(p, scratch, count, e - a, a - begin)
            elif all_of_them == (count + length - 1) // length:
                add_to_keys(p, scratch, 0, e - a, a - begin, 0, count)
                add_to_queries(p, scratch, 0, count, a - begin, 0, e - a)
            else:
                add_parts(p, scratch, count, e - a, a, a - begin)
        if has_begun:
            for i in range(count):
                copy_row(held + i * lines, size, D, target + i * D * size)
        else:
            while turn_at(turns) != my_turn:
                pass
        pass_on(turns)
        add_to(p + 8 * WORK, seen)

    @compiled
    def take_keys(p, scratch, batch, key_head, begin, end):
        """Take in a stripe of keys and values, and begin their gradients with 0."""
        for a in range(begin, end, KEY_BLOCK):
            n = min(KEY_BLOCK, end - a)
            at, token, column = place(p, K, batch, key_head)
            lines = word(p, LINE_D)
            to = scratch + word(p, S_STRIPE_KEYS) + (a - begin) * lines
            sound = take_rows(at + a * token, token, column, n, 0, word(p, WIDTH), to, lines)
            at, token, column = place(p, V, batch, key_head)
            lines = word(p, LINE_E)
            to = scratch + word(p, S_STRIPE_VALUES) + (a - begin) * lines
            sound &= take_rows(at + a * token, token, column, n, 0, word(p, VALUE_WIDTH), to, lines)
            store_word(scratch + word(p, S_SOUND) + (a - begin) // KEY_BLOCK * 8, 1 if sound else 0)
        clear(scratch + word(p, S_DK), (end - begin) * word(p, LINE_D))
        clear(scratch + word(p, S_DV), (end - begin) * word(p, LINE_E))

    @compiled
    def give_keys(p, scratch, batch, key_head, begin, end):
        """Write the stripe's gradients."""
        row = (batch * word(p, KEY_HEADS) + key_head) * word(p, KEYS) + begin
        D, E = word(p, WIDTH), word(p, VALUE_WIDTH)
        for j in range(end - begin):
            copy_row(scratch + word(p, S_DK) + j * word(p, LINE_D), size, D, word(p, DK) + (row + j) * D * size)
            copy_row(scratch + word(p, S_DV) + j * word(p, LINE_E), size, E, word(p, DV) + (row + j) * E * size)

    def kernel(p, scratch, most):
        tasks, key_heads, group, M = word(p, TASKS), word(p, KEY_HEADS), word(p, GROUP), word(p, KEYS)
        stripes = (M + word(p, STRIPE) - 1) // word(p, STRIPE)
        heads = tasks // stripes
        while most > 0:
            # The first stripes of all heads, then the second ones, and so on.
            task = add_to(p, 1)
            if task >= tasks:
                return 0
            most -= 1
            batch, key_head = (task % heads) // key_heads, task % key_heads
            begin = task // heads * word(p, STRIPE)
            end = min(begin + word(p, STRIPE), M)
            take_keys(p, scratch, batch, key_head, begin, end)
            for head in range(key_head * group, (key_head + 1) * group):
                reach = word(p, REACH) + batch * word(p, REACH_BATCH) + head * word(p, REACH_HEAD)
                for block in range(word(p, BLOCKS) - 1, -1, -1):
                    at = reach + block * word(p, REACH_BLOCK)
                    first, last = load_i32(at), load_i32(at + 4)
                    if first < last and first < end and last > begin:
                        sweep(p, scratch, batch, head, block, begin, end, first, last)
            give_keys(p, scratch, batch, key_head, begin, end)
        return max(tasks - word(p, NEXT), 0)

    return kernel
