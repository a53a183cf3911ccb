"""The keys of each row's k largest weights, kept in order; found from the scores alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.memory import store_word, width, word
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import above, bits_above, lowest_bit, maximum, select


class TopKFunctions(NamedTuple):
    """`begin_topk(p, work, panel)`: clears the lists; `take_best(p, work, panel, S, a, e)`: inserts the best of the
    keys [a, e), whose scores lie at S; `write_topk(p, work, panel)`: writes the weights and keys."""

    begin_topk: object
    take_best: object
    write_topk: object


def topk(dtype, lanes, most_vectors):
    """The largest weights, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero, infinity = dtype(0), dtype(np.inf)

    @compiled
    def insert(best, keys, k, lane, score, key):
        """Insert a score into a lane's ordered list; among equal scores the earlier key stays first."""
        r = k - 1
        while r > 0 and load_scalar(best + (r - 1) * line + lane * size) < score:
            store_scalar(best + r * line + lane * size, load_scalar(best + (r - 1) * line + lane * size))
            store_word(keys + (r * length + lane) * 8, word(keys, (r - 1) * length + lane))
            r -= 1
        store_scalar(best + r * line + lane * size, score)
        store_word(keys + (r * length + lane) * 8, key)

    @compiled
    def forget(best, k):
        """Clear the lists of best scores."""
        for at in range(best, best + k * line, vector):
            store(at, splat(-infinity))

    @compiled
    def begin_topk(p, work, panel):
        """Clear the lists, and find a lower bound on the k-th best score: with k blocks or more, the k-th largest of
        their peaks. It saves most insertions."""
        k, best, threshold, visits = p.primitives.select, work.best, work.threshold, panel.visit_count
        forget(best, k)
        for w in range(panel.vectors):
            store(threshold + w * vector, splat(-infinity))
        if visits < k:
            return
        for w in range(panel.vectors):
            for visit in range(visits):
                peak = load(panel.peaks + visit * line + w * vector)
                for r in range(k):
                    at = best + r * line + w * vector
                    other = load(at)
                    store(at, maximum(peak, other))
                    peak = select(above(peak, other), other, peak)
            store(threshold + w * vector, load(best + (k - 1) * line + w * vector))
        forget(best, k)

    @compiled
    def take_best(p, work, panel, S, a, e):
        k, best, keys, count = p.primitives.select, work.best, work.best_keys, panel.count
        for w in range(panel.vectors):
            real = (1 << min(lanes, max(count - w * lanes, 0))) - 1
            last = best + (k - 1) * line + w * vector
            threshold = load(work.threshold + w * vector)
            for j in range(0, e - a, 4):
                at = S + j * line + w * vector
                two = maximum(load(at), load(at + line))
                others = maximum(load(at + 2 * line), load(at + 3 * line))
                # Beyond e, the buffer holds old data, which is excluded when keys are looked at one by one.
                if bits_above(threshold, maximum(two, others)) & real == real:
                    continue
                for i in range(j, min(j + 4, e - a)):
                    score = load(S + i * line + w * vector)
                    better = bits_above(score, load(last)) & (real & ~bits_above(threshold, score))
                    while better != 0:
                        lane = lowest_bit(better)
                        better &= better - 1
                        at = S + i * line + w * vector + lane * size
                        insert(best, keys, k, w * lanes + lane, load_scalar(at), a + i)

    @compiled
    def write_topk(p, work, panel):
        k, best, P, row = p.primitives.select, work.best, work.P, panel.row
        for r in range(k):
            for w in range(panel.vectors):
                score, shift = load(best + r * line + w * vector), load(work.shift + w * vector)
                store(P + w * vector, exp2(score - shift) * load(work.inverse_l + w * vector))
            for i in range(panel.count):
                to = (row + i) * k + r
                found = load_scalar(best + r * line + i * size) != -infinity
                weight = load_scalar(P + i * size)
                store_scalar(p.primitives.selected_weights + to * size, weight if found else zero)
                key = word(work.best_keys, r * length + i)
                store_word(p.primitives.selected_keys + to * 8, key if found else -1)

    return TopKFunctions(begin_topk, take_best, write_topk)
