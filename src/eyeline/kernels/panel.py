"""What a panel of queries takes of a block of keys: values, or the weights themselves."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.dropping import dropping
from eyeline.kernels.elementary import exp2
from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import load_i32, width, word
from eyeline.kernels.simd import equal, fma, select
from eyeline.kernels.softmax import softmax
from eyeline.kernels.tiles import product_tile, transpose_tile
from eyeline.kernels.words import (
    ALLOWED,
    BOUNDS,
    COLUMN_PLACES,
    DROPPED,
    HEADS,
    INTERVALS,
    MAXIMA,
    QUERIES,
    ROW_PLACES,
    RULE_COUNT,
    S_FACTORS,
    S_MAXIMA,
    S_OUT,
    S_RANGE,
    S_SUMS,
    S_TOPS,
    S_WEIGHTS,
    SUMS,
    VALUE_WIDTH,
    WEIGHTS,
    WEIGHTS_COLUMNS,
    WEIGHTS_ROWS,
    compiled,
)


def panel(dtype, lanes, most_vectors, rows, value_rows):
    """`where`, `take_in` and `write_weights`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, _, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    infinity = dtype(np.inf)
    hidden = dtype(-1)
    narrowed, flag, score, weigh = softmax(dtype, lanes, most_vectors, rows)
    full = [product_tile(dtype, lanes, most_vectors, most_vectors, r, scaled=True) for r in value_rows]
    thin = [product_tile(dtype, lanes, most_vectors, 1, r, scaled=True) for r in value_rows]
    (most, some, one), (most_thin, some_thin, one_thin) = full, thin
    r_most, r_some, _ = value_rows
    transpose = transpose_tile(dtype, lanes)
    _, drop = dropping(dtype, lanes, most_vectors)

    @compiled
    def add_values_carefully(p, state, scratch, vectors, n, values, token, column):
        """As the tiles do, but without what is hidden."""
        weights, factors = scratch + word(p, S_WEIGHTS), scratch + word(p, S_FACTORS)
        out = state + word(p, S_OUT)
        for e in range(word(p, VALUE_WIDTH)):
            for w in range(vectors):
                even, odd = splat(zero), splat(zero)
                for j in range(n):
                    weight = load(weights + j * line + w * step)
                    value = splat(load_scalar(values + j * token + e * column))
                    if j % 2 == 0:
                        even = select(equal(weight, splat(hidden)), even, fma(value, weight, even))
                    else:
                        odd = select(equal(weight, splat(hidden)), odd, fma(value, weight, odd))
                at = out + e * line + w * step
                store(at, fma(load(at), load(factors + w * step), even + odd))

    @compiled
    def where(p, state, scratch, batch, head, first_query, count, a, e):
        """The part of the keys [a, e), all of one block, that the panel has to look at, from an even one on, since
        even and odd ones are summed apart, and whether flags say more of it; nothing if a isn't below e."""
        ranges = state + word(p, S_RANGE)
        a, e = max(a, word(ranges, 0)), min(e, word(ranges, 1))
        if a < e and word(p, BOUNDS) != 0 and word(p, INTERVALS) > 1:
            a, e = narrowed(p, state, a, e)
        if a >= e:
            return 0, 0, False
        a -= a % 2
        if word(p, ALLOWED) == 0 and word(p, RULE_COUNT) == 0:
            return a, e, False
        found = flag(p, scratch, batch, head, first_query, count, a, e)
        return a, 0 if found == 0 else e, found != 2

    @compiled
    def take_in(
        p, state, scratch, kept, peaks, batch, head, first_query, count, vectors, keys, values, a, e, flagged, careful
    ):
        """Take the keys [a, e) into the panel's sums; their scores stay at `kept`, and the largest at `peaks` if that
        isn't 0.

        `keys` and `values` are where those of key a lie, with their strides of token and column."""
        n = e - a
        at, token, column = keys
        score(p, state, scratch, kept, batch, head, first_query, count, vectors, at, token, column, a, e, flagged)
        if peaks != 0:
            for w in range(vectors):
                store(peaks + w * step, load(scratch + word(p, S_TOPS) + w * step))
        weigh(p, state, scratch, kept, vectors, a, n, careful)
        if word(p, DROPPED) != 0:
            drop(p, state, scratch + word(p, S_WEIGHTS), vectors, a, e)

        scores = scratch + word(p, S_WEIGHTS)
        first, token, column = values
        if careful:
            add_values_carefully(p, state, scratch, vectors, n, first, token, column)
            return
        E = word(p, VALUE_WIDTH)
        factors, out = scratch + word(p, S_FACTORS), state + word(p, S_OUT)
        done = 0
        while done < E:
            left = E - done
            at, to = first + done * column, out + done * line
            # Two tiles of some rows do better than a full one and a leftover.
            if left >= r_most and (left != 2 * r_some or r_most == 2 * r_some):
                take = r_most
                if vectors == 1:
                    most_thin(at, column, token, take, scores, n, to, factors)
                else:
                    most(at, column, token, take, scores, n, to, factors)
            elif left >= r_some:
                take = r_some
                if vectors == 1:
                    some_thin(at, column, token, take, scores, n, to, factors)
                else:
                    some(at, column, token, take, scores, n, to, factors)
            else:
                take = 1
                if vectors == 1:
                    one_thin(at, column, token, take, scores, n, to, factors)
                else:
                    one(at, column, token, take, scores, n, to, factors)
            done += take

    @compiled
    def write_weights(p, state, scratch, batch, head, first_query, count, vectors, keys, a, e, flagged):
        """Write what is wanted of the panel's weights on the keys [a, e), given the rows' maxima and sums. What is
        hidden stays zero."""
        group = batch * word(p, HEADS) + head
        row = group * word(p, QUERIES) + first_query
        scores = scratch + word(p, S_WEIGHTS)
        maxima, inverses = state + word(p, S_MAXIMA), state + word(p, S_SUMS)
        for i in range(vectors * lanes):
            at = (row + min(i, count - 1)) * size
            top, total = load_scalar(word(p, MAXIMA) + at), load_scalar(word(p, SUMS) + at)
            store_scalar(maxima + i * size, zero if top == -infinity else top)
            store_scalar(inverses + i * size, zero if total == zero else dtype(1) / total)
        n = e - a
        at, token, column = keys
        score(p, state, scratch, scores, batch, head, first_query, count, vectors, at, token, column, a, e, flagged)
        for w in range(vectors):
            top, inverse = load(maxima + w * step), load(inverses + w * step)
            for j in range(n):
                at = scores + j * line + w * step
                value = load(at)
                weight = exp2(value - top) * inverse
                # Hidden is 0 even in a row that is NaN.
                store(at, select(equal(value, splat(-infinity)), splat(zero), weight))
        R, C = word(p, WEIGHTS_ROWS), word(p, WEIGHTS_COLUMNS)
        places = word(p, COLUMN_PLACES) + a * 4
        first = load_i32(places)
        together = first >= 0 and load_i32(places + (n - 1) * 4) == first + n - 1
        whole = n - n % lanes if together else 0
        for g in range(0, count, lanes):
            last = min(g + lanes, count) - 1
            to = load_i32(word(p, ROW_PLACES) + (first_query + g) * 4)
            to_last = load_i32(word(p, ROW_PLACES) + (first_query + last) * 4)
            begin = 0
            if to >= 0 and to_last == to + last - g:
                begin = whole
                target = word(p, WEIGHTS) + ((group * R + to) * C + first) * size
                for j in range(0, whole, lanes):
                    source = scores + j * line + g * size
                    transpose(source, line, lanes, target + j * size, C * size, last - g + 1, splat(dtype(1)))
            for i in range(g, last + 1):
                to = load_i32(word(p, ROW_PLACES) + (first_query + i) * 4)
                if to >= 0:
                    target = word(p, WEIGHTS) + (group * R + to) * C * size
                    for j in range(begin, n):
                        c = load_i32(places + j * 4)
                        if c >= 0:
                            store_scalar(target + c * size, load_scalar(scores + j * line + i * size))

    return where, take_in, write_weights
