"""Scores of a block of keys, and what the online softmax makes of them."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.elementary import exp2
from eyeline.kernels.hiding import hiding
from eyeline.kernels.layout import SUM_BLOCK, sizes
from eyeline.kernels.memory import width, word
from eyeline.kernels.simd import equal, fma, maximum, select
from eyeline.kernels.steps import steps
from eyeline.kernels.tiles import product_tile, weights_tile
from eyeline.kernels.words import (
    S_ADDED,
    S_FACTORS,
    S_MAXIMA,
    S_RANGE,
    S_SUMS,
    S_TOPS,
    S_WEIGHTS,
    STEP_COUNT,
    WIDTH,
    compiled,
)


def softmax(dtype, lanes, most_vectors, rows):
    """`narrowed`, `flag`, `score` and `weigh`, for panels of `most_vectors` · `lanes` queries, tiles of `rows` keys."""
    W = width(dtype, lanes)
    load, store, splat = W.load, W.store, W.splat
    _, step, _, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    infinity = dtype(np.inf)
    hidden = dtype(-1)
    narrowed, flag, hide, highest = hiding(dtype, lanes, most_vectors)
    _, change = steps(dtype, lanes, most_vectors)
    scores_tile = product_tile(dtype, lanes, most_vectors, most_vectors, rows, scaled=False)
    scores_tile_thin = product_tile(dtype, lanes, most_vectors, 1, rows, scaled=False)
    weights = weights_tile(dtype, lanes, most_vectors, most_vectors)
    weights_thin = weights_tile(dtype, lanes, most_vectors, 1)

    @compiled
    def score(p, state, scratch, scores, batch, head, first_query, count, vectors, keys, token, column, a, e, flagged):
        """The scores of the keys [a, e), which begin at `keys`, to `scores`: hidden ones -inf; and the largest of
        them."""
        n = e - a
        tops = scratch + word(p, S_TOPS)
        for w in range(vectors):
            store(tops + w * step, splat(-infinity))
        D = word(p, WIDTH)
        for j in range(0, n, rows):
            at, to = keys + j * token, scores + j * line
            if vectors == 1:
                scores_tile_thin(at, token, column, n - 1 - j, state, D, to, tops)
            else:
                scores_tile(at, token, column, n - 1 - j, state, D, to, tops)
        changed = word(p, STEP_COUNT) != 0
        if changed:
            change(p, scratch, scores, batch, head, first_query, count, vectors, a, e)
        ranges = state + word(p, S_RANGE)
        if flagged or a < word(ranges, 2) or e > word(ranges, 3):
            hide(p, state, scratch, scores, vectors, a, e, flagged)
            changed = True
        if changed:
            highest(p, scratch, scores, vectors, n)

    @compiled
    def weigh(p, state, scratch, scores, vectors, a, n, careful):
        """Turn the scores of n keys, from a on, into weights relative to the row's new maximum; update maxima, sums and
        factors."""
        to, factors, tops = scratch + word(p, S_WEIGHTS), scratch + word(p, S_FACTORS), scratch + word(p, S_TOPS)
        maxima, sums, added = state + word(p, S_MAXIMA), state + word(p, S_SUMS), scratch + word(p, S_ADDED)
        for w in range(vectors):
            old = load(maxima + w * step)
            new = maximum(load(tops + w * step), old)
            store(maxima + w * step, new)
            # A row that has seen nothing yet has maximum -inf, and -inf - -inf isn't a number.
            top = select(equal(new, splat(-infinity)), splat(zero), new)
            store(tops + w * step, top)
            store(factors + w * step, exp2(old - top))
        if careful:
            for w in range(vectors):
                top, total = load(tops + w * step), splat(zero)
                begin = 0
                while begin < n:
                    part, end = splat(zero), min(begin + SUM_BLOCK - (a + begin) % SUM_BLOCK, n)
                    for j in range(begin, end):
                        value = load(scores + j * line + w * step)
                        weight = exp2(value - top)
                        part = part + weight
                        store(to + j * line + w * step, select(equal(value, splat(-infinity)), splat(hidden), weight))
                    total = total + part
                    begin = end
                store(added + w * step, total)
        elif vectors == 1:
            weights_thin(scores, to, n, a % SUM_BLOCK, tops, added)
        else:
            weights(scores, to, n, a % SUM_BLOCK, tops, added)
        for w in range(vectors):
            store(sums + w * step, fma(load(sums + w * step), load(factors + w * step), load(added + w * step)))

    return narrowed, flag, score, weigh
