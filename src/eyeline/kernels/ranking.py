"""The keys of most weight: kept in order for every row, from the scores alone."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import store_word, width, word
from eyeline.kernels.simd import above, bits_above, lowest_bit, maximum, select
from eyeline.kernels.words import S_BEST, S_BEST_KEYS, S_BOUNDS_BELOW, TOP, compiled


def ranking(dtype, lanes, most_vectors):
    """`begin_ranking` and `rank`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, length, line = sizes(dtype, lanes, most_vectors)
    infinity = dtype(np.inf)

    @compiled
    def insert(best, keys, most, lane, score, key):
        """One more score into a lane's best, which are in order; of equal ones the earlier key stays first."""
        r = most - 1
        while r > 0 and load_scalar(best + (r - 1) * line + lane * size) < score:
            store_scalar(best + r * line + lane * size, load_scalar(best + (r - 1) * line + lane * size))
            store_word(keys + (r * length + lane) * 8, word(keys, (r - 1) * length + lane))
            r -= 1
        store_scalar(best + r * line + lane * size, score)
        store_word(keys + (r * length + lane) * 8, key)

    @compiled
    def forget(p, scratch):
        """No best scores yet."""
        best = scratch + word(p, S_BEST)
        for at in range(best, best + word(p, TOP) * line, step):
            store(at, splat(-infinity))

    @compiled
    def begin_ranking(p, scratch, visits, peaks, vectors):
        """No best scores yet, but what they are at least: with as many blocks as scores wanted, the last of the best
        blocks' peaks. It spares most of the insertions."""
        forget(p, scratch)
        most, best, bound = word(p, TOP), scratch + word(p, S_BEST), scratch + word(p, S_BOUNDS_BELOW)
        for w in range(vectors):
            store(bound + w * step, splat(-infinity))
        if word(visits, 0) < most:
            return
        for w in range(vectors):
            for visit in range(word(visits, 0)):
                peak = load(peaks + visit * line + w * step)
                for r in range(most):
                    at = best + r * line + w * step
                    other = load(at)
                    store(at, maximum(peak, other))
                    peak = select(above(peak, other), other, peak)
            store(bound + w * step, load(best + (most - 1) * line + w * step))
        forget(p, scratch)

    @compiled
    def rank(p, scratch, scores, count, vectors, a, e):
        """Keep the best of the keys [a, e)."""
        most, best, keys = word(p, TOP), scratch + word(p, S_BEST), scratch + word(p, S_BEST_KEYS)
        for w in range(vectors):
            real = (1 << min(lanes, max(count - w * lanes, 0))) - 1
            last = best + (most - 1) * line + w * step
            bound = load(scratch + word(p, S_BOUNDS_BELOW) + w * step)
            for j in range(0, e - a, 4):
                at = scores + j * line + w * step
                two = maximum(load(at), load(at + line))
                others = maximum(load(at + 2 * line), load(at + 3 * line))
                # Beyond e lies what another block left, or nothing yet: looked at one by one, it is left out.
                if bits_above(bound, maximum(two, others)) & real == real:
                    continue
                for i in range(j, min(j + 4, e - a)):
                    score = load(scores + i * line + w * step)
                    better = bits_above(score, load(last)) & (real & ~bits_above(bound, score))
                    while better != 0:
                        lane = lowest_bit(better)
                        better &= better - 1
                        at = scores + i * line + w * step + lane * size
                        insert(best, keys, most, w * lanes + lane, load_scalar(at), a + i)

    return begin_ranking, rank
