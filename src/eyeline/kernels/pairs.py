"""A block of queries against a block of keys: what each gives to the other's gradients."""

from __future__ import annotations

from eyeline.kernels.backward_layout import CELL, wide
from eyeline.kernels.differentiate import differentiation
from eyeline.kernels.hiding import hiding
from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import store_word, width, word
from eyeline.kernels.panel import panel
from eyeline.kernels.products import products
from eyeline.kernels.slopes import slopes
from eyeline.kernels.words import (
    ELABORATE,
    LINE_D,
    LINE_E,
    PRELIMINARY,
    S_CHANGES,
    S_D_OUTPUT,
    S_DK,
    S_DQ,
    S_DV,
    S_GAINS,
    S_OUT,
    S_PANELS,
    S_Q,
    S_RANGE,
    S_STATE,
    S_STATE_SIZE,
    S_STRIPE_KEYS,
    S_STRIPE_VALUES,
    S_TAKEN,
    S_WEIGHTS,
    STEP_COUNT,
    VALUE_WIDTH,
    WIDTH,
    compiled,
)


def pairs(dtype, lanes, vectors, rows, value_rows):
    """`weigh` and `add_up`, with queries in panels of `vectors` · `lanes`, on tiles of `rows` and `value_rows` rows."""
    W = width(dtype, lanes)
    store, splat = W.store, W.splat
    size, step, length, _ = sizes(dtype, lanes, vectors)
    wide_line = wide(size)
    zero, hidden = dtype(0), dtype(-1)
    where, _, _ = panel(dtype, lanes, vectors, rows, value_rows)
    _, _, hide, _ = hiding(dtype, lanes, vectors)
    multiply, add_product, add_product_carefully = products(dtype, lanes, vectors, rows, value_rows)
    differentiate, differentiate_all, add_totals = differentiation(dtype, lanes, vectors)
    change_forth, _ = slopes(dtype, lanes, vectors)

    @compiled
    def leave_out(p, scratch, g, first, last, careful):
        """Nothing, hidden if that's to be told apart, for a panel and the keys [first, last) of a block."""
        at = first * wide_line + g * size
        for j in range(last - first):
            for w in range(vectors):
                to = at + j * wide_line + w * step
                store(scratch + word(p, S_CHANGES) + to, splat(zero))
                store(scratch + word(p, S_TAKEN) + to, splat(hidden if careful else zero))

    @compiled
    def weigh(p, scratch, batch, head, first_query, count, begin, a, e, careful):
        """The weights and the gradients of the scores of a block of queries and the keys [a, e), in a stripe that
        begins at `begin`. Returns how many pairs were looked at, and whether all panels looked at all keys."""
        looked, whole = 0, True
        for g in range(0, count, length):
            state = scratch + word(p, S_STATE) + (g // length) * word(p, S_STATE_SIZE)
            queries = min(length, count - g)
            used = 1 if queries <= lanes else vectors
            first, last, flagged = where(p, state, scratch, batch, head, first_query + g, queries, a, e)
            if first >= last:
                first, last = a, a
            at = scratch + word(p, S_PANELS) + (g // length) * 16
            store_word(at, first)
            store_word(at + 8, last)
            leave_out(p, scratch, g, 0, first - a, careful)
            leave_out(p, scratch, g, last - a, e - a, careful)
            whole = whole and first == a and last == e
            if first == last:
                continue
            looked += queries * (last - first)
            n, scores = last - first, scratch + word(p, S_WEIGHTS)
            keys = scratch + word(p, S_STRIPE_KEYS) + (first - begin) * word(p, LINE_D)
            multiply(keys, word(p, LINE_D), n, state, word(p, WIDTH), scores, used)
            if word(p, STEP_COUNT) != 0:
                change_forth(p, scratch, batch, head, first_query + g, queries, used, first, last)
            ranges = state + word(p, S_RANGE)
            if flagged or first < word(ranges, 2) or last > word(ranges, 3):
                hide(p, state, scratch, scores, used, first, last, flagged)
            values = scratch + word(p, S_STRIPE_VALUES) + (first - begin) * word(p, LINE_E)
            turned = state + word(p, S_OUT)
            multiply(values, word(p, LINE_E), n, turned, word(p, VALUE_WIDTH), scratch + word(p, S_GAINS), used)
            if word(p, ELABORATE) == 0:
                differentiate(p, state, scratch, g * size, n, first - a, used, careful)
            elif word(p, PRELIMINARY) == 0:
                differentiate_all(
                    p, state, scratch, batch, head, first_query + g, queries, g * size, a, used, first, last, careful
                )
            else:
                add_totals(p, state, scratch, batch, head, first_query + g, queries, g * size, used, first, last)
        return looked, whole

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
        dv = scratch + word(p, S_DV) + place_in_stripe * lines_e
        dk = scratch + word(p, S_DK) + place_in_stripe * lines_d
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
    def add_up(p, scratch, count, n, a, place_in_stripe, whole, careful):
        """Add what the block's queries and its n keys, from `a` on, give to each other, once they are weighed."""
        if careful:
            add_carefully(p, scratch, count, n, place_in_stripe)
        elif whole:
            add_to_keys(p, scratch, 0, n, place_in_stripe, 0, count)
            add_to_queries(p, scratch, 0, count, place_in_stripe, 0, n)
        else:
            add_parts(p, scratch, count, n, a, place_in_stripe)

    return weigh, add_up
