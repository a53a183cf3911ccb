"""Readouts: what is read of a panel's weights once its rows' totals are known, from the scores that were kept.

Rows' own readouts are written as they are. What is read per key, over the queries, is summed by all threads in any
order, so in fixed point, where order doesn't matter: the same bits however the work was shared.
"""

from __future__ import annotations

import numpy as np

from eyeline.kernels.elementary import exp2
from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import add_to, load_i32, raise_to, store_i8, store_word, width, word
from eyeline.kernels.ranking import ranking
from eyeline.kernels.simd import (
    any_nonfinite,
    equal,
    fma,
    largest,
    magnitude,
    maximum,
    select,
    total,
)
from eyeline.kernels.tiles import totals_tile
from eyeline.kernels.words import (
    DISTANCE,
    GROUPS,
    HEADS,
    KEYS,
    LABELS,
    LABELS_BATCH,
    OFFSET,
    ONTO,
    POOL_COLUMN_PLACES,
    POOL_COLUMNS,
    POOL_ROW_PLACES,
    POOL_ROWS,
    POOL_SPOILED,
    POOLED,
    POOLED_MAXIMA,
    QUERIES,
    READ_MAXIMA,
    READ_SUMS,
    RECEIVED,
    RECEIVED_MAXIMA,
    S_BEST,
    S_BEST_KEYS,
    S_DISTANCE,
    S_FACTORS,
    S_MAXIMA,
    S_ONTO,
    S_POOL,
    S_POOL_MAXIMA,
    S_RECEIVED,
    S_RECEIVED_MAXIMA,
    S_SUMS,
    S_SURPRISE,
    S_TOPS,
    S_WEIGHTS,
    SPOILED,
    SURPRISE,
    TOP,
    TOP_KEYS,
    TOP_WEIGHTS,
    UNITS,
    compiled,
)


def reading(dtype, lanes, most_vectors):
    """`begin_task`, `read` and `end_task`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, length, line = sizes(dtype, lanes, most_vectors)
    zero, one = dtype(0), dtype(1)
    infinity = dtype(np.inf)
    least = dtype(-126 if dtype == np.float32 else -1022)
    begin_ranking, rank = ranking(dtype, lanes, most_vectors)
    totals = totals_tile(dtype, lanes, most_vectors, most_vectors)
    totals_thin = totals_tile(dtype, lanes, most_vectors, 1)

    @compiled
    def blank(at, lines, value):
        for at_line in range(at, at + lines * line, step):
            store(at_line, splat(value))

    @compiled
    def begin_task(p, scratch):
        """Forget the last task's sums per key."""
        if word(p, RECEIVED) != 0:
            for j in range(word(p, KEYS)):
                store_word(scratch + word(p, S_RECEIVED) + j * 8, 0)
        if word(p, RECEIVED_MAXIMA) != 0:
            for j in range(word(p, KEYS)):
                store_scalar(scratch + word(p, S_RECEIVED_MAXIMA) + j * size, zero)

    @compiled
    def begin_panel(p, state, scratch, row, count, vectors):
        """The totals that weights are relative to, and empty sums."""
        tops, inverses = scratch + word(p, S_TOPS), scratch + word(p, S_FACTORS)
        for i in range(vectors * lanes):
            at = (row + min(i, count - 1)) * size
            if word(p, READ_MAXIMA) != 0:
                top, denominator = load_scalar(word(p, READ_MAXIMA) + at), load_scalar(word(p, READ_SUMS) + at)
            else:
                top = load_scalar(state + word(p, S_MAXIMA) + i * size)
                denominator = load_scalar(state + word(p, S_SUMS) + i * size)
            store_scalar(tops + i * size, zero if top == -infinity else top)
            # What fills the panel beyond its queries has no weight.
            none = denominator == zero or i >= count
            store_scalar(inverses + i * size, zero if none else one / denominator)
        blank(scratch + word(p, S_SURPRISE), 1, zero)
        blank(scratch + word(p, S_DISTANCE), 1, zero)
        if word(p, ONTO) != 0:
            blank(scratch + word(p, S_ONTO), word(p, GROUPS), zero)
        if word(p, POOLED) != 0:
            blank(scratch + word(p, S_POOL), word(p, POOL_COLUMNS), zero)
        if word(p, POOLED_MAXIMA) != 0:
            blank(scratch + word(p, S_POOL_MAXIMA), word(p, POOL_COLUMNS), zero)

    @compiled
    def weigh_again(p, scratch, scores, first_query, vectors, a, e):
        """The weights of the keys [a, e), and what they add to the rows' surprise and distance."""
        weights = scratch + word(p, S_WEIGHTS)
        for w in range(vectors):
            top = load(scratch + word(p, S_TOPS) + w * step)
            inverse = load(scratch + word(p, S_FACTORS) + w * step)
            surprise, distance = splat(zero), splat(zero)
            spoiled = any_nonfinite(top + inverse)
            for i in range(lanes):
                store_scalar(weights + w * step + i * size, dtype(first_query + w * lanes + i + word(p, OFFSET) - a))
            ahead = load(weights + w * step)
            for j in range(e - a):
                score = load(scores + j * line + w * step)
                below = score - top
                weight = exp2(below) * inverse
                if spoiled:  # hidden is 0 even in a row that is NaN
                    weight = select(equal(score, splat(-infinity)), splat(zero), weight)
                store(weights + j * line + w * step, weight)
                surprise = fma(weight, maximum(splat(least), below), surprise)
                distance = fma(weight, magnitude(ahead), distance)
                ahead = ahead - splat(one)
            at = scratch + word(p, S_SURPRISE) + w * step
            store(at, load(at) + surprise)
            at = scratch + word(p, S_DISTANCE) + w * step
            store(at, load(at) + distance)

    @compiled
    def in_units(p, x):
        """A number of the fixed point."""
        return np.int64(np.float64(x) * np.float64(word(p, UNITS)) + 0.5)

    @compiled
    def gather(p, scratch, first, vectors, a, e):
        """Add the weights of the keys [a, e), all queries of the panel together, to the keys' sums and maxima; `first`
        is the number of the head's first key among all heads'."""
        weights = scratch + word(p, S_WEIGHTS)
        if word(p, RECEIVED) != 0:
            sums = scratch + word(p, S_RECEIVED)
            whole = 0
            while whole + lanes <= e - a:
                at, units = weights + whole * line, sums + (a + whole) * 8
                sound = totals_thin(at, units, word(p, UNITS)) if vectors == 1 else totals(at, units, word(p, UNITS))
                if not sound:
                    break
                whole += lanes
            for j in range(whole, e - a):
                added = load(weights + j * line)
                for w in range(1, vectors):
                    added = added + load(weights + j * line + w * step)
                x, at = total(added), sums + (a + j) * 8
                if x == x:
                    store_word(at, word(at, 0) + in_units(p, x))
                else:
                    store_i8(word(p, SPOILED) + first + a + j, 1)
        if word(p, RECEIVED_MAXIMA) != 0:
            maxima = scratch + word(p, S_RECEIVED_MAXIMA)
            for j in range(e - a):
                most = load(weights + j * line)
                for w in range(1, vectors):
                    most = maximum(load(weights + j * line + w * step), most)
                at = maxima + (a + j) * size
                x, y = load_scalar(at), largest(most)
                store_scalar(at, x if y < x else y)

    @compiled
    def sort(scratch, sums, places, vectors, a, e):
        """Add the weights of the keys [a, e) to the sums of the places that these have."""
        for j in range(a, e):
            place = load_i32(places + j * 4)
            if place >= 0:
                for w in range(vectors):
                    at = sums + place * line + w * step
                    store(at, load(at) + load(scratch + (j - a) * line + w * step))

    @compiled
    def sort_maxima(scratch, maxima, places, vectors, a, e):
        """As `sort`, for the largest."""
        for j in range(a, e):
            place = load_i32(places + j * 4)
            for w in range(vectors):
                at = maxima + place * line + w * step
                store(at, maximum(load(scratch + (j - a) * line + w * step), load(at)))

    @compiled
    def write_pool(p, scratch, picture, first_query, count):
        """Add the panel's columns to the picture, one row of it after the other."""
        columns = word(p, POOL_COLUMNS)
        i = 0
        while i < count:
            row = load_i32(word(p, POOL_ROW_PLACES) + (first_query + i) * 4)
            end = i + 1
            while end < count and load_i32(word(p, POOL_ROW_PLACES) + (first_query + end) * 4) == row:
                end += 1
            for c in range(columns):
                index = (picture + row) * columns + c
                if word(p, POOLED) != 0:
                    x = zero
                    for lane in range(i, end):
                        x += load_scalar(scratch + word(p, S_POOL) + c * line + lane * size)
                    if x == x:
                        add_to(word(p, POOLED) + index * 8, in_units(p, x))
                    else:
                        store_i8(word(p, POOL_SPOILED) + index, 1)
                if word(p, POOLED_MAXIMA) != 0:
                    x = zero
                    for lane in range(i, end):
                        y = load_scalar(scratch + word(p, S_POOL_MAXIMA) + c * line + lane * size)
                        x = x if y < x else y
                    raise_to(word(p, POOLED_MAXIMA) + index * size, x)
            i = end

    @compiled
    def write_rows(p, scratch, row, count, vectors):
        """Write what is each row's own."""
        for i in range(count):
            if word(p, SURPRISE) != 0:
                x = load_scalar(scratch + word(p, S_SURPRISE) + i * size)
                store_scalar(word(p, SURPRISE) + (row + i) * size, x)
            if word(p, DISTANCE) != 0:
                x = load_scalar(scratch + word(p, S_DISTANCE) + i * size)
                store_scalar(word(p, DISTANCE) + (row + i) * size, x)
        most, groups = word(p, TOP), word(p, GROUPS)
        best = scratch + word(p, S_BEST)
        for r in range(most):
            for w in range(vectors):
                at = best + r * line + w * step
                score, top = load(at), load(scratch + word(p, S_TOPS) + w * step)
                weight = exp2(score - top) * load(scratch + word(p, S_FACTORS) + w * step)
                store(scratch + word(p, S_WEIGHTS) + w * step, weight)
            for i in range(count):
                to = (row + i) * most + r
                found = load_scalar(best + r * line + i * size) != -infinity
                weight = load_scalar(scratch + word(p, S_WEIGHTS) + i * size)
                store_scalar(word(p, TOP_WEIGHTS) + to * size, weight if found else zero)
                key = word(scratch + word(p, S_BEST_KEYS), r * length + i)
                store_word(word(p, TOP_KEYS) + to * 8, key if found else -1)
        if word(p, ONTO) != 0:
            for i in range(count):
                for c in range(groups):
                    x = load_scalar(scratch + word(p, S_ONTO) + c * line + i * size)
                    store_scalar(word(p, ONTO) + ((row + i) * groups + c) * size, x)

    @compiled
    def read(p, state, scratch, kept, visits, peaks, batch, head, first_query, count, vectors):
        """All readouts of one panel: `visits` lists the blocks of keys it looked at, whose scores lie at `kept` and
        their largest at `peaks`."""
        group = batch * word(p, HEADS) + head
        row = group * word(p, QUERIES) + first_query
        weights = scratch + word(p, S_WEIGHTS)
        begin_panel(p, state, scratch, row, count, vectors)
        if word(p, TOP) != 0:
            begin_ranking(p, scratch, visits, peaks, vectors)
        for visit in range(word(visits, 0)):
            a, e = word(visits, 1 + 2 * visit), word(visits, 2 + 2 * visit)
            scores = kept + a * line
            weigh_again(p, scratch, scores, first_query, vectors, a, e)
            if word(p, TOP) != 0:
                rank(p, scratch, scores, count, vectors, a, e)
            gather(p, scratch, group * word(p, KEYS), vectors, a, e)
            if word(p, ONTO) != 0:
                labels = word(p, LABELS) + batch * word(p, LABELS_BATCH)
                sort(weights, scratch + word(p, S_ONTO), labels, vectors, a, e)
            if word(p, POOLED) != 0:
                sort(weights, scratch + word(p, S_POOL), word(p, POOL_COLUMN_PLACES), vectors, a, e)
            if word(p, POOLED_MAXIMA) != 0:
                sort_maxima(weights, scratch + word(p, S_POOL_MAXIMA), word(p, POOL_COLUMN_PLACES), vectors, a, e)
        write_rows(p, scratch, row, count, vectors)
        if word(p, POOLED) != 0 or word(p, POOLED_MAXIMA) != 0:
            write_pool(p, scratch, group * word(p, POOL_ROWS), first_query, count)

    @compiled
    def end_task(p, scratch, batch, head):
        """Add the task's sums per key to those of all."""
        first = (batch * word(p, HEADS) + head) * word(p, KEYS)
        if word(p, RECEIVED) != 0:
            for j in range(word(p, KEYS)):
                units = word(scratch + word(p, S_RECEIVED), j)
                if units != 0:
                    add_to(word(p, RECEIVED) + (first + j) * 8, units)
        if word(p, RECEIVED_MAXIMA) != 0:
            for j in range(word(p, KEYS)):
                x = load_scalar(scratch + word(p, S_RECEIVED_MAXIMA) + j * size)
                raise_to(word(p, RECEIVED_MAXIMA) + (first + j) * size, x)

    return begin_task, read, end_task
