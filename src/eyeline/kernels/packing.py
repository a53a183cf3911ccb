"""How a panel of queries comes in, packed, and how its rows go out."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.dropping import dropping
from eyeline.kernels.elementary import exp2
from eyeline.kernels.halves import halves
from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import load_i32, store_word, width, word
from eyeline.kernels.simd import any_nonfinite, equal, fma, maximum, select
from eyeline.kernels.tiles import transpose_tile
from eyeline.kernels.words import (
    BOUNDS,
    DROPPED,
    FACTOR,
    HALF,
    HEADS,
    INTERVALS,
    KEPT,
    KEYS,
    MAXIMA,
    NOT,
    OUT,
    QUERIES,
    S_BOUNDS,
    S_MAXIMA,
    S_OUT,
    S_RANGE,
    S_ROWS,
    S_SUMS,
    SINKS,
    SUMS,
    VALUE_WIDTH,
    WIDTH,
    Q,
    compiled,
    place,
)


def packing(dtype, lanes, most_vectors):
    """`prepare` and `finish`, for panels of `most_vectors` · `lanes` queries.

    A panel with fewer queries works on as many `vectors` as these fill; its lines are as long.
    """
    W = width(dtype, lanes)
    load, store, splat = W.load, W.store, W.splat
    load_scalar, store_scalar, store_int = W.load_scalar, W.store_scalar, W.store_int
    size, step, length, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    infinity = dtype(np.inf)
    transpose = transpose_tile(dtype, lanes)
    draw_lots, _ = dropping(dtype, lanes, most_vectors)
    widen, narrow = halves(dtype, lanes, most_vectors)

    @compiled
    def prepare(p, state, scratch, batch, head, first_query, count, vectors):
        """Pack `count` queries and their intervals of keys; note which keys the panel needs."""
        at, token, column = place(p, Q, batch, head)
        at += first_query * token
        D = word(p, WIDTH)
        if word(p, HALF) != NOT:
            rows = scratch + word(p, S_ROWS)
            widen(word(p, HALF), at, token, column, count, D, rows, D * size)
            at, token, column = rows, D * size, size
        factor = load_scalar(p + 8 * FACTOR)
        whole = 0
        if column == size:
            whole = D - D % lanes
            for g in range(0, vectors * lanes, lanes):
                last = max(min(lanes - 1, count - 1 - g), 0)
                source = at + min(g, count - 1) * token
                for d in range(0, whole, lanes):
                    transpose(source + d * size, token, last, state + d * line + g * size, line, lanes, splat(factor))
        for d in range(whole, D):
            for i in range(length):
                x = load_scalar(at + min(i, count - 1) * token + d * column)
                store_scalar(state + d * line + i * size, x * factor)

        maxima, sums, out = state + word(p, S_MAXIMA), state + word(p, S_SUMS), state + word(p, S_OUT)
        for w in range(vectors):
            store(maxima + w * step, splat(-infinity))
            store(sums + w * step, splat(zero))
        for w in range(word(p, VALUE_WIDTH) * most_vectors):
            store(out + w * step, splat(zero))

        # The keys that any query needs, [first, last), and those which every one may see, [full_first, full_last).
        M = word(p, KEYS)
        first, last, full_first, full_last = 0, M, 0, M
        if word(p, BOUNDS) != 0:
            first, last = M, 0
            at, token, _ = place(p, BOUNDS, batch, head)
            count_intervals = word(p, INTERVALS)
            for i in range(length):
                source = at + (first_query + min(i, count - 1)) * token
                for k in range(count_intervals):
                    begin, end = load_i32(source + 8 * k), load_i32(source + 8 * k + 4)
                    target = state + word(p, S_BOUNDS) + (2 * k * length + i) * 4
                    store_int(target, begin)
                    store_int(target + length * 4, end - begin)
                    if begin < end:
                        first, last = min(first, begin), max(last, end)
                    full_first, full_last = max(full_first, begin), min(full_last, end)
            if count_intervals > 1:
                full_last = full_first
        if word(p, DROPPED) != 0:
            draw_lots(p, state, batch, head, first_query)
        ranges = state + word(p, S_RANGE)
        store_word(ranges, first)
        store_word(ranges + 8, last)
        store_word(ranges + 16, full_first)
        store_word(ranges + 24, full_last)

    @compiled
    def add_sink(p, state, head, vectors):
        """Let the head's sink have its weight: it joins the sums, and gives no value."""
        maxima, sums, out = state + word(p, S_MAXIMA), state + word(p, S_SUMS), state + word(p, S_OUT)
        sink = splat(load_scalar(word(p, SINKS) + head * size))
        for w in range(vectors):
            old = load(maxima + w * step)
            new = maximum(sink, old)
            top = select(equal(new, splat(-infinity)), splat(zero), new)
            factor = exp2(old - top)
            store(maxima + w * step, new)
            store(sums + w * step, fma(load(sums + w * step), factor, exp2(sink - top)))
            for e in range(word(p, VALUE_WIDTH)):
                at = out + e * line + w * step
                store(at, load(at) * factor)

    @compiled
    def finish(p, state, scratch, batch, head, first_query, count, vectors):
        """Divide by the sums and write the rows. Returns whether all that was written is finite."""
        if word(p, SINKS) != 0:
            add_sink(p, state, head, vectors)
        E = word(p, VALUE_WIDTH)
        row = (batch * word(p, HEADS) + head) * word(p, QUERIES) + first_query
        half = word(p, HALF)
        target = word(p, OUT) + row * E * size if half == NOT else scratch + word(p, S_ROWS)
        maxima, sums, out = state + word(p, S_MAXIMA), state + word(p, S_SUMS), state + word(p, S_OUT)
        whole = E - E % lanes
        # x - x is 0 where x is finite and NaN where it isn't, and a sum with a NaN in it is NaN.
        unsound = splat(zero)
        for w in range(vectors):
            total = load(sums + w * step)
            inverse = splat(dtype(1)) / select(equal(total, splat(zero)), splat(dtype(1)), total)
            if word(p, DROPPED) != 0:
                inverse = inverse * splat(load_scalar(p + 8 * KEPT))
            for e in range(E):
                x = load(out + e * line + w * step)
                unsound = unsound + (x - x)
            for e in range(whole, E):
                at = out + e * line + w * step
                store(at, load(at) * inverse)
            if w * lanes < count:
                to, rows_left = target + w * lanes * E * size, min(lanes, count - w * lanes)
                for e in range(0, whole, lanes):
                    transpose(out + e * line + w * step, line, lanes, to + e * size, E * size, rows_left, inverse)
        for i in range(count):
            for e in range(whole, E):
                store_scalar(target + (i * E + e) * size, load_scalar(out + e * line + i * size))
            store_scalar(word(p, MAXIMA) + (row + i) * size, load_scalar(maxima + i * size))
            store_scalar(word(p, SUMS) + (row + i) * size, load_scalar(sums + i * size))
        if half != NOT:
            narrow(half, target, E * size, count, E, word(p, OUT) + row * E * 2)
        return not any_nonfinite(unsound)

    return prepare, finish
