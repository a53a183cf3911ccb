"""The keys of each row's k largest weights, kept in order; found from the scores alone, or where weights have
factors, from the weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.memory import load_i32, store_word, width
from eyeline.kernels.compiled.programs import FEW_BEST, sizes
from eyeline.kernels.compiled.records import compiled, head_of
from eyeline.kernels.compiled.simd import above, bits_above, equal, maximum, select
from eyeline.kernels.compiled.topk_tile import topk_tile


class TopKFunctions(NamedTuple):
    """`begin_topk(p, work, panel)`: clears the lists; `weigh_candidates(p, work, panel, S, a, e)`: overwrites the
    scores on the keys [a, e), at S, by their weights P times factors, where keys are selected by these; `take_best(p,
    work, panel, S, a, e)`: inserts the best of the keys [a, e), whose scores, or weights, lie at S; `write_topk(p,
    work, panel)`: writes the weights and keys."""

    begin_topk: object
    weigh_candidates: object
    take_best: object
    write_topk: object


def topk(dtype, lanes, most_vectors):
    """The largest weights, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    load_ints, store_ints, splat_int = W.load_ints, W.store_ints, W.splat_int
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero, one, infinity = dtype(0), dtype(1), dtype(np.inf)
    take_one, take_few = (topk_tile(dtype, lanes, line, length * 4, most) for most in (1, FEW_BEST))

    @compiled
    def insert(best, keys, k, score, key):
        """Insert one key's scores into all lanes' ordered lists; among equal scores the earlier key stays first."""
        number = splat_int(np.int32(key))
        for r in range(k - 1, 0, -1):
            at, at_keys = best + r * line, keys + r * length * 4
            here, ahead = load(at), load(at - line)
            passes, enters = above(score, ahead), above(score, here)
            store(at, select(passes, ahead, select(enters, score, here)))
            moved = select(enters, number, load_ints(at_keys))
            store_ints(at_keys, select(passes, load_ints(at_keys - length * 4), moved))
            if bits_above(score, ahead) == 0:
                return
        first = load(best)
        enters = above(score, first)
        store(best, select(enters, score, first))
        store_ints(keys, select(enters, number, load_ints(keys)))

    @compiled
    def forget(best, k):
        """Clear the lists of best scores."""
        for at in range(best, best + k * line, vector):
            store(at, splat(-infinity))

    @compiled
    def begin_topk(p, work, panel):
        """Clear the lists, and find a lower bound on the k-th best score: with k blocks or more, the k-th largest of
        their peaks. It saves most insertions. Rows that have factors have no such bound."""
        k, best, threshold, visits = p.primitives.select, work.best, work.threshold, panel.visit_count
        forget(best, max(k, FEW_BEST))
        for w in range(panel.vectors):
            store(threshold + w * vector, splat(-infinity))
        if visits < k or p.primitives.by_weight != 0:
            return
        for w in range(panel.vectors):
            for visit in range(visits):
                peak = load(panel.peaks + visit * line + w * vector)
                for r in range(k):
                    at = best + r * line + w * vector
                    other = load(at)
                    store(at, maximum(peak, other))
                    peak = select(above(peak, other), other, peak)
            bound = load(best + (k - 1) * line + w * vector)
            if panel.factor_count != 0:
                bound = select(equal(load(panel.factors + w * vector), splat(one)), splat(-infinity), bound)
            store(threshold + w * vector, bound)
        forget(best, k)

    @compiled
    def weigh_candidates(p, work, panel, S, a, e):
        times = head_of(p.primitives.select_times, panel.batch, panel.head).at
        for j in range(e - a):
            factor = one if times == 0 else load_scalar(times + (a + j) * size)
            for w in range(panel.vectors):
                at = S + j * line + w * vector
                weight = load(work.P + j * line + w * vector) * splat(factor)
                store(at, select(equal(load(at), splat(-infinity)), splat(-infinity), weight))

    @compiled
    def take_best(p, work, panel, S, a, e):
        k, best, keys, count = p.primitives.select, work.best, work.best_keys, panel.count
        if k <= FEW_BEST:
            for w in range(panel.vectors):
                to, to_keys = best + w * vector, keys + w * lanes * 4
                if k == 1:
                    take_one(S + w * vector, e - a, a, work.threshold + w * vector, to, to_keys)
                else:
                    take_few(S + w * vector, e - a, a, work.threshold + w * vector, to, to_keys)
            return
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
                    if bits_above(score, load(last)) & (real & ~bits_above(threshold, score)) != 0:
                        insert(best + w * vector, keys + w * lanes * 4, k, score, a + i)

    @compiled
    def write_topk(p, work, panel):
        k, best, P, row = p.primitives.select, work.best, work.P, panel.row
        for r in range(k):
            for w in range(panel.vectors):
                score, shift = load(best + r * line + w * vector), load(work.shift + w * vector)
                weight = exp2(score - shift) * load(work.inverse_l + w * vector)
                if p.primitives.by_weight != 0:
                    weight = score
                elif panel.factor_count != 0:
                    weight = select(equal(load(panel.factors + w * vector), splat(one)), score, weight)
                store(P + w * vector, weight)
            for i in range(panel.count):
                to = (row + i) * k + r
                found = load_scalar(best + r * line + i * size) != -infinity
                weight = load_scalar(P + i * size)
                store_scalar(p.primitives.selected_weights + to * size, weight if found else zero)
                key = load_i32(work.best_keys + (r * length + i) * 4)
                store_word(p.primitives.selected_keys + to * 8, key if found else -1)

    return TopKFunctions(begin_topk, weigh_candidates, take_best, write_topk)
