"""What a panel of queries takes of a block of keys: values, or the weights themselves."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.layout import KEY_BLOCK, SUM_BLOCK, sizes
from eyeline.kernels.memory import width, word
from eyeline.kernels.simd import equal, exp2, fma, select
from eyeline.kernels.softmax import softmax
from eyeline.kernels.tiles import product_tile, transpose_tile
from eyeline.kernels.words import (
    BOUNDS,
    GROUP,
    HEADS,
    INTERVALS,
    KEYS,
    MAXIMA,
    QUERIES,
    S_FACTORS,
    S_MAXIMA,
    S_OUT,
    S_RANGE,
    S_SUMS,
    S_WEIGHTS,
    SUMS,
    VALUE_WIDTH,
    WEIGHTS,
    V,
    compiled,
    place,
)


def panel(dtype, lanes, most_vectors, rows, value_rows):
    """`take_in` and `write_weights`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, _, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    infinity = dtype(np.inf)
    hidden = dtype(-1)
    narrowed, score, weigh = softmax(dtype, lanes, most_vectors, rows)
    full = [product_tile(dtype, lanes, most_vectors, most_vectors, r, scaled=True) for r in value_rows]
    thin = [product_tile(dtype, lanes, most_vectors, 1, r, scaled=True) for r in value_rows]
    (most, some, one), (most_thin, some_thin, one_thin) = full, thin
    r_most, r_some, _ = value_rows
    transpose = transpose_tile(dtype, lanes)

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
    def take_in(p, state, scratch, batch, head, first_query, count, vectors, a, e, careful):
        """Take the keys [a, e), all of one block, into the panel's sums. Returns how many keys were looked at."""
        ranges = state + word(p, S_RANGE)
        a, e = max(a, word(ranges, 0)), min(e, word(ranges, 1))
        if a < e and word(p, BOUNDS) != 0 and word(p, INTERVALS) > 1:
            a, e = narrowed(p, state, a, e)
        if a >= e:
            return 0
        a -= a % SUM_BLOCK
        n = e - a
        score(p, state, scratch, batch, head, first_query, count, vectors, a, e)
        weigh(p, state, scratch, vectors, n, careful)

        scores = scratch + word(p, S_WEIGHTS)
        values, token, column = place(p, V, batch, head // word(p, GROUP))
        values += a * token
        if careful:
            add_values_carefully(p, state, scratch, vectors, n, values, token, column)
            return n
        E = word(p, VALUE_WIDTH)
        factors, out = scratch + word(p, S_FACTORS), state + word(p, S_OUT)
        done = 0
        while done < E:
            left = E - done
            at, to = values + done * column, out + done * line
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
        return n

    @compiled
    def write_weights(p, state, scratch, batch, head, first_query, count, vectors):
        """Write the panel's rows of the weight matrix, given their maxima and sums. What is hidden stays zero."""
        M = word(p, KEYS)
        row = (batch * word(p, HEADS) + head) * word(p, QUERIES) + first_query
        scores = scratch + word(p, S_WEIGHTS)
        maxima, inverses = state + word(p, S_MAXIMA), state + word(p, S_SUMS)
        for i in range(vectors * lanes):
            at = (row + min(i, count - 1)) * size
            top, total = load_scalar(word(p, MAXIMA) + at), load_scalar(word(p, SUMS) + at)
            store_scalar(maxima + i * size, zero if top == -infinity else top)
            store_scalar(inverses + i * size, zero if total == zero else dtype(1) / total)
        ranges = state + word(p, S_RANGE)
        for a in range(word(ranges, 0), word(ranges, 1), KEY_BLOCK):
            e = min(a + KEY_BLOCK, word(ranges, 1))
            n = e - a
            score(p, state, scratch, batch, head, first_query, count, vectors, a, e)
            for w in range(vectors):
                top, inverse = load(maxima + w * step), load(inverses + w * step)
                for j in range(n):
                    at = scores + j * line + w * step
                    value = load(at)
                    weight = exp2(value - top) * inverse
                    # Hidden is 0 even in a row that is NaN.
                    store(at, select(equal(value, splat(-infinity)), splat(zero), weight))
            whole = n - n % lanes
            for g in range(0, count, lanes):
                target = word(p, WEIGHTS) + ((row + g) * M + a) * size
                for j in range(0, whole, lanes):
                    source = scores + j * line + g * size
                    transpose(source, line, lanes, target + j * size, M * size, min(lanes, count - g), splat(dtype(1)))
            for i in range(count):
                target = word(p, WEIGHTS) + ((row + i) * M + a) * size
                for j in range(whole, n):
                    store_scalar(target + j * size, load_scalar(scores + j * line + i * size))

    return take_in, write_weights
