"""What decoding does with a block of keys: scores, weights, values."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.decode_layout import SCORES_APART
from eyeline.kernels.decode_tiles import KEYS_AT_ONCE, scores_tile, values_tile
from eyeline.kernels.elementary import exp2
from eyeline.kernels.layout import SUM_BLOCK
from eyeline.kernels.memory import load_i32, width, word
from eyeline.kernels.simd import any_nonfinite, equal, fma, maximum, select
from eyeline.kernels.words import (
    BOUNDS,
    FACTOR,
    GROUP,
    HALF,
    HEADS,
    INTERVALS,
    MAXIMA,
    NOT,
    OUT,
    QUERIES,
    S_FACTORS,
    S_MAXIMA,
    S_OUT,
    S_ROWS,
    S_STATE,
    S_SUMS,
    S_TAIL,
    S_TOPS,
    S_WEIGHTS,
    SINKS,
    SUMS,
    VALUE_WIDTH,
    WIDTH,
    Q,
    compiled,
    place,
)


def weighing(dtype, few, lanes, widen):
    """`pack`, `begin`, `score` and `weigh`, with `few` rows of queries in the lanes of a vector.

    The rows of a task are the queries of each head of a group, head after head, in panels of `few`: packed queries are
    [panel][pairs of d][few][2], scores and weights [panel][SCORES_APART][few]. Lanes beyond the last row repeat it.
    """
    W = width(dtype, few)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size = np.dtype(dtype).itemsize
    line = few * size
    panel_line = SCORES_APART * line
    zero = dtype(0)
    infinity = dtype(np.inf)
    products = scores_tile(dtype, few)
    # A vector of `lanes` numbers holds the scores of so many keys.
    wide, step, together = width(dtype, lanes), lanes * size, lanes // few
    load_wide, store_wide, splat_wide = wide.load, wide.store, wide.splat

    @compiled
    def pack(p, scratch, batch, group):
        """Pack the rows of queries, times the factor."""
        D, N = word(p, WIDTH), word(p, QUERIES)
        R = N * word(p, GROUP)
        factor = load_scalar(p + 8 * FACTOR)
        queries, half = scratch + word(p, S_STATE), word(p, HALF)
        for first in range(0, R, few):
            for lane in range(few):
                r = min(first + lane, R - 1)
                at, token, column = place(p, Q, batch, group * word(p, GROUP) + r // N)
                at += (r % N) * token
                if half != NOT:
                    row = scratch + word(p, S_ROWS)
                    widen(half, at, token, column, 1, D, row, D * size)
                    at, column = row, size
                for d in range(D):
                    to = queries + d // 2 * 2 * line + (2 * lane + d % 2) * size
                    store_scalar(to, load_scalar(at + d * column) * factor)
            queries += (D + D % 2) * line

    @compiled
    def begin(p, scratch):
        """Nothing is seen yet."""
        for r in range(0, word(p, QUERIES) * word(p, GROUP), few):
            store(scratch + word(p, S_MAXIMA) + r * size, splat(-infinity))
            store(scratch + word(p, S_SUMS) + r * size, splat(zero))

    @compiled
    def hide(p, batch, group, a, e, scores):
        """Set the scores of keys that a row may not look at to -inf."""
        N, intervals = word(p, QUERIES), word(p, INTERVALS)
        R = N * word(p, GROUP)
        for lane in range(-(-R // few) * few):
            r = min(lane, R - 1)
            at, token, _ = place(p, BOUNDS, batch, group * word(p, GROUP) + r // N)
            at += (r % N) * token
            to = scores + lane // few * panel_line + lane % few * size
            seen = a
            # What lies between one interval and the next, and after the last.
            for k in range(intervals + 1):
                begin, end = e, e
                if k < intervals:
                    begin, end = np.int64(load_i32(at + 8 * k)), np.int64(load_i32(at + 8 * k + 4))
                for j in range(seen, min(begin, e)):
                    store_scalar(to + (j - a) * line, -infinity)
                seen = max(seen, end)

    @compiled
    def score(p, scratch, batch, group, a, e, keys, token, scores, ahead):
        """The scores of all rows on the keys [a, e) of one block, which begin at `keys`, hidden ones at -inf; asks for
        keys `ahead` on."""
        R, D = word(p, QUERIES) * word(p, GROUP), word(p, WIDTH)
        queries = scratch + word(p, S_STATE)
        for j in range(a, e, KEYS_AT_ONCE):
            at, to = keys + (j - a) * token, scores + (j - a) * line
            ask = at + ahead * token
            for panel in range(-(-R // few)):
                packed, target = queries + panel * (D + D % 2) * line, to + panel * panel_line
                products(at, token, e - 1 - j, packed, D, target, ask, D * size, token)
                ask = packed
        if word(p, BOUNDS) != 0:
            hide(p, batch, group, a, e, scores)
        n = e - a
        for panel in range(-(-R // few)):
            for j in range(n, n + -n % together):
                store(scores + panel * panel_line + j * line, splat(-infinity))

    @compiled
    def highest(scores, n, passing):
        """The rows' largest scores of n keys."""
        found = splat_wide(-infinity)
        for at in range(scores, scores + n * line, step):
            found = maximum(load_wide(at), found)
        store_wide(passing, found)
        top, level = load(passing), False
        for w in range(1, together):
            top = maximum(load(passing + w * line), top)
        store(passing, top)
        for lane in range(few):
            level = level or load_scalar(passing + lane * size) == zero
        if level:
            # Zeros have signs: of equal scores the last is meant.
            top = splat(-infinity)
            for j in range(n):
                top = maximum(top, load(scores + j * line))
        return top

    @compiled
    def weigh(p, scratch, scores, n):
        """Make weights of the scores of n keys, relative to the rows' new maxima; update maxima, sums and factors."""
        R = word(p, QUERIES) * word(p, GROUP)
        to, tops = scratch + word(p, S_WEIGHTS), scratch + word(p, S_TOPS)
        for r in range(0, R, few):
            maxima, sums = scratch + word(p, S_MAXIMA) + r * size, scratch + word(p, S_SUMS) + r * size
            old = load(maxima)
            new = maximum(highest(scores, n, tops), old)
            store(maxima, new)
            # A row that has seen nothing yet has maximum -inf, and -inf - -inf isn't a number.
            top = select(equal(new, splat(-infinity)), splat(zero), new)
            factor = exp2(old - top)
            store(scratch + word(p, S_FACTORS) + r * size, factor)
            for w in range(together):
                store(tops + w * line, top)
            top_wide = load_wide(tops)
            for at in range(0, n * line, step):
                store_wide(to + at, exp2(load_wide(scores + at) - top_wide))
            total = splat(zero)
            for first in range(0, n, SUM_BLOCK):
                part = splat(zero)
                for j in range(first, min(first + SUM_BLOCK, n)):
                    part = part + load(to + j * line)
                total = total + part
            store(sums, fma(load(sums), factor, total))
            scores += panel_line
            to += panel_line

    return pack, begin, score, weigh


def summing(dtype, lanes, row_counts, narrow):
    """`clear`, `add_values` and `finish`, with `lanes` value columns in a vector and tiles of so many rows."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size = np.dtype(dtype).itemsize
    step, wide = lanes * size, 2 * lanes
    zero, one = dtype(0), dtype(1)
    infinity = dtype(np.inf)
    r_most, r_some, _ = row_counts
    wide_most, wide_some, wide_one = (values_tile(dtype, lanes, r, 2) for r in row_counts)
    thin_most, thin_some, thin_one = (values_tile(dtype, lanes, r, 1) for r in row_counts)

    @compiled
    def clear(p, scratch):
        """No values yet."""
        vectors = word(p, QUERIES) * word(p, GROUP) * -(-word(p, VALUE_WIDTH) // lanes)
        for w in range(vectors):
            store(scratch + word(p, S_OUT) + w * step, splat(zero))

    @compiled
    def add_columns(R, few, weights, values, token, n, out, out_line, factors, ask, ask_width, ask_row, thin):
        """Add the rows' weighted values to two vectors of columns, or one."""
        r, line, wanted = 0, few * size, ask
        while r < R:
            at = weights + (r // few * SCORES_APART * few + r % few) * size
            to, by = out + r * out_line, factors + r * size
            left = min(R - r, few - r % few)
            # Two tiles of some rows do better than a full one and a leftover.
            if left >= r_most and (left != 2 * r_some or r_most == 2 * r_some):
                take = r_most
                if thin:
                    thin_most(at, line, values, token, n, to, out_line, by, wanted, ask_width, ask_row)
                else:
                    wide_most(at, line, values, token, n, to, out_line, by, wanted, ask_width, ask_row)
            elif left >= r_some:
                take = r_some
                if thin:
                    thin_some(at, line, values, token, n, to, out_line, by, wanted, ask_width, ask_row)
                else:
                    wide_some(at, line, values, token, n, to, out_line, by, wanted, ask_width, ask_row)
            else:
                take = 1
                if thin:
                    thin_one(at, line, values, token, n, to, out_line, by, wanted, ask_width, ask_row)
                else:
                    wide_one(at, line, values, token, n, to, out_line, by, wanted, ask_width, ask_row)
            r += take
            wanted = weights

    @compiled
    def add_values(p, scratch, values, token, n, few, first, last, ahead):
        """Add the columns [first, last) of n keys' values to the rows' sums, times their weights; asks for values
        `ahead` on. `first` is a multiple of `lanes`, as `last` is unless it is the end."""
        R, E = word(p, QUERIES) * word(p, GROUP), word(p, VALUE_WIDTH)
        weights, out = scratch + word(p, S_WEIGHTS), scratch + word(p, S_OUT)
        factors, tail = scratch + word(p, S_FACTORS), scratch + word(p, S_TAIL)
        whole, out_line = last - last % lanes, -(-E // lanes) * step
        c = first
        while c < whole:
            thin = whole - c < wide
            # Of the rows ahead, the part that is as much as these columns are.
            ask = values + first * size + (ahead + (c - first) * n // (last - first)) * token
            at, to, asked = values + c * size, out + c * size, (last - first) * size
            add_columns(R, few, weights, at, token, n, to, out_line, factors, ask, asked, token, thin)
            c += lanes if thin else wide
        if whole < last:
            # Reading whole vectors here would read beyond the row.
            for j in range(n):
                store(tail + j * step, splat(zero))
                for c in range(whole, last):
                    store_scalar(tail + j * step + (c - whole) * size, load_scalar(values + j * token + c * size))
            to = out + whole * size
            add_columns(R, few, weights, tail, step, n, to, out_line, factors, tail, step, step, True)

    @compiled
    def add_sinks(p, scratch, group):
        """Let each head's sink have its weight: it joins the sums, and gives no value."""
        R, N = word(p, QUERIES) * word(p, GROUP), word(p, QUERIES)
        maxima, sums, passing = scratch + word(p, S_MAXIMA), scratch + word(p, S_SUMS), scratch + word(p, S_TAIL)
        across = -(-word(p, VALUE_WIDTH) // lanes)
        for r in range(R):
            sink = splat(load_scalar(word(p, SINKS) + (group * word(p, GROUP) + r // N) * size))
            old, total = splat(load_scalar(maxima + r * size)), splat(load_scalar(sums + r * size))
            new = maximum(sink, old)
            top = select(equal(new, splat(-infinity)), splat(zero), new)
            factor = exp2(old - top)
            store(passing, new)
            store_scalar(maxima + r * size, load_scalar(passing))
            store(passing, fma(total, factor, exp2(sink - top)))
            store_scalar(sums + r * size, load_scalar(passing))
            for w in range(across):
                at = scratch + word(p, S_OUT) + (r * across + w) * step
                store(at, load(at) * factor)

    @compiled
    def finish(p, scratch, batch, group, first, last):
        """Divide by the sums and write the rows' columns [first, last). Returns whether all that was written is
        finite."""
        if word(p, SINKS) != 0:
            add_sinks(p, scratch, group)
        E, N = word(p, VALUE_WIDTH), word(p, QUERIES)
        R = N * word(p, GROUP)
        maxima, sums, out = scratch + word(p, S_MAXIMA), scratch + word(p, S_SUMS), scratch + word(p, S_OUT)
        row = (batch * word(p, HEADS) + group * word(p, GROUP)) * N
        whole, out_line, half = last - last % lanes, -(-E // lanes) * step, word(p, HALF)
        # x - x is 0 where x is finite and NaN where it isn't, and a sum with a NaN in it is NaN.
        unsound = splat(zero)
        for r in range(R):
            total = load_scalar(sums + r * size)
            inverse = one / (one if total == zero else total)
            source = out + r * out_line
            target = word(p, OUT) + (row + r) * E * size if half == NOT else scratch + word(p, S_ROWS)
            for e in range(first, last, lanes):
                x = load(source + e * size)
                unsound = unsound + (x - x)
            for e in range(first, whole, lanes):
                store(target + e * size, load(source + e * size) * splat(inverse))
            for e in range(whole, last):
                store_scalar(target + e * size, load_scalar(source + e * size) * inverse)
            if half != NOT:
                to = word(p, OUT) + ((row + r) * E + first) * 2
                narrow(half, target + first * size, E * size, 1, last - first, to)
            if first == 0:
                store_scalar(word(p, MAXIMA) + (row + r) * size, load_scalar(maxima + r * size))
                store_scalar(word(p, SUMS) + (row + r) * size, total)
        return not any_nonfinite(unsound)

    return clear, add_values, finish
