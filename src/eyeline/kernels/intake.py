"""What the backward pass takes in: a stripe of keys, a block of queries; and what it gives back of them."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.layout import KEY_BLOCK, sizes
from eyeline.kernels.memory import load_i32, store_word, width, word
from eyeline.kernels.packing import packing
from eyeline.kernels.rows import rows_of
from eyeline.kernels.simd import equal, fma, select
from eyeline.kernels.words import (
    BOUNDS,
    D_OUTPUT,
    DK,
    DV,
    EXTRA,
    FIRST_KEY,
    HEADS,
    HERE_KEYS,
    INTERVALS,
    KEY_HEADS,
    LINE_D,
    LINE_E,
    MAXIMA,
    OUT,
    PRELIMINARY,
    QUERIES,
    S_D_OUTPUT,
    S_DK,
    S_DV,
    S_MAXIMA,
    S_OUT,
    S_OUTPUT,
    S_Q,
    S_ROW_GRADIENTS,
    S_SOUND,
    S_STATE,
    S_STATE_SIZE,
    S_STRIPE_KEYS,
    S_STRIPE_VALUES,
    S_SUMS,
    S_TOTALS,
    SUMS,
    TOTALS,
    VALUE_WIDTH,
    WIDTH,
    K,
    Q,
    V,
    compiled,
    place,
)


def intake(dtype, lanes, vectors):
    """`take_queries`, `take_keys` and `give_keys`, with queries in panels of `vectors` · `lanes`."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, length, line = sizes(dtype, lanes, vectors)
    zero, infinity = dtype(0), dtype(np.inf)
    prepare, _ = packing(dtype, lanes, vectors)
    take_rows, copy_row, clear, turn = rows_of(dtype, lanes, vectors)

    @compiled
    def take_panel(p, state, scratch, batch, head, first_query, count, g, first_of_all):
        """Take in a panel of a block's queries, `g` on from its first: what `prepare` packs; d_output, turned; maxima,
        inverses of sums, totals, which the first stripe of all writes. A row that has seen nothing has inverse and
        total 0."""
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
        extra = scratch + word(p, S_ROW_GRADIENTS)
        if word(p, EXTRA) != 0:
            for i in range(length):
                store_scalar(extra + i * size, load_scalar(word(p, EXTRA) + (row + min(i, count - 1)) * size))
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
            total = even + odd
            if word(p, EXTRA) != 0:
                total = total + load(extra + w * step)
            none = equal(load(inverses + w * step), splat(zero))
            total = select(none, splat(zero), total)
            store(scratch + word(p, S_TOTALS) + g * size + w * step, total)
        if word(p, PRELIMINARY) != 0 or not first_of_all:
            return
        for i in range(count):
            store_scalar(word(p, TOTALS) + (row + i) * size, load_scalar(scratch + word(p, S_TOTALS) + (g + i) * size))

    @compiled
    def take_queries(p, scratch, batch, head, first_query, count, first_of_all):
        """Take in a block of queries. Returns whether all is finite that a key may see of them."""
        sound = True
        for g in range(0, count, length):
            n = min(length, count - g)
            state = scratch + word(p, S_STATE) + (g // length) * word(p, S_STATE_SIZE)
            take_panel(p, state, scratch, batch, head, first_query, n, g, first_of_all)
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
    def here(p, a, e):
        """Those of the keys [a, e) that are here."""
        first = max(a, word(p, FIRST_KEY))
        return first, max(first, min(e, word(p, FIRST_KEY) + word(p, HERE_KEYS)))

    @compiled
    def take_keys(p, scratch, batch, key_head, begin, end):
        """Take in a stripe of keys and values, zeros for those that aren't here, and begin their gradients with 0."""
        lines_d, lines_e = word(p, LINE_D), word(p, LINE_E)
        keys, key_token, key_column = place(p, K, batch, key_head)
        values, value_token, value_column = place(p, V, batch, key_head)
        first, last = here(p, begin, end)
        if last - first < end - begin:
            clear(scratch + word(p, S_STRIPE_KEYS), (end - begin) * lines_d)
            clear(scratch + word(p, S_STRIPE_VALUES), (end - begin) * lines_e)
        for a in range(begin, end, KEY_BLOCK):
            first, last = here(p, a, min(a + KEY_BLOCK, end))
            to = scratch + word(p, S_STRIPE_KEYS) + (first - begin) * lines_d
            at, n = keys + first * key_token, last - first
            sound = take_rows(at, key_token, key_column, n, 0, word(p, WIDTH), to, lines_d)
            to = scratch + word(p, S_STRIPE_VALUES) + (first - begin) * lines_e
            at = values + first * value_token
            sound &= take_rows(at, value_token, value_column, n, 0, word(p, VALUE_WIDTH), to, lines_e)
            store_word(scratch + word(p, S_SOUND) + (a - begin) // KEY_BLOCK * 8, 1 if sound else 0)
        clear(scratch + word(p, S_DK), (end - begin) * lines_d)
        clear(scratch + word(p, S_DV), (end - begin) * lines_e)

    @compiled
    def give_keys(p, scratch, batch, key_head, begin, end):
        """Write the stripe's gradients."""
        D, E = word(p, WIDTH), word(p, VALUE_WIDTH)
        first, last = here(p, begin, end)
        row = (batch * word(p, KEY_HEADS) + key_head) * word(p, HERE_KEYS) + first - word(p, FIRST_KEY)
        from_dk = scratch + word(p, S_DK) + (first - begin) * word(p, LINE_D)
        from_dv = scratch + word(p, S_DV) + (first - begin) * word(p, LINE_E)
        for j in range(last - first):
            copy_row(from_dk + j * word(p, LINE_D), size, D, word(p, DK) + (row + j) * D * size)
            copy_row(from_dv + j * word(p, LINE_E), size, E, word(p, DV) + (row + j) * E * size)

    return take_queries, take_keys, give_keys
