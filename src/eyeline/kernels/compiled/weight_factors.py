"""Factors of a panel's weights, after the softmax; `scores.lowered.Weighted` defines them.

A panel keeps those factors that some of its rows have, so the other panels cost nothing and keep their bits.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.call_records import FACTOR
from eyeline.kernels.compiled.memory import load_i8, store_word, width, word
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled, factor_at, head_of
from eyeline.kernels.compiled.simd import above, equal, fma, magnitude, maximum, select

FACTOR_BYTES = FACTOR.itemsize


class WeightFactors(NamedTuple):
    """`take_factors(p, panel)`: finds the panel's factors, and loads their numbers.

    `multiply(p, panel, P, a, e)`: multiplies the weights on the keys [a, e), which lie at P, but those marked hidden by
    -inf. `with_logarithms(p, panel, exponents, j, w)`: adds to the binary logarithms of key j's weights, in the panel's
    vector w, those of their factors' sizes.

    `add_weighed(p, work, panel, S, a, e)`: adds the multiplied weights on these keys, whose scores lie at S, to the
    rows' log-weights, weights and distances. `rank(work, panel, S, n)`: overwrites n keys' scores at S by what the
    largest weights are selected by: the weights, for rows that have factors, and the scores for others.

    `add_to_gradients(p, work, panel, a, e)`, backward: adds to the factors' gradients, Σ_j P_ij dP_ij of their
    columns.
    """

    take_factors: object
    multiply: object
    with_logarithms: object
    add_weighed: object
    rank: object
    add_to_gradients: object


@cache
def weight_factors(dtype, lanes, most_vectors):
    """The factors, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero, one, infinity, nan = dtype(0), dtype(1), dtype(np.inf), dtype(np.nan)
    least = dtype(-126 if dtype == np.float32 else -1022)

    @compiled
    def take_factors(p, panel):
        factors, found = panel.factors, 0
        for i in range(length):
            store_scalar(factors + i * size, zero)
        for k in range(p.factor_count):
            own = factor_at(p.factors + k * FACTOR_BYTES)
            if load_i8(own.heads.address + panel.batch * own.heads.batch + panel.head * own.heads.head) == 0:
                continue
            source, token, _ = head_of(own.by, panel.batch, panel.head)
            source += panel.first_query * token
            to, acts = factors + (1 + 2 * found) * line, p.keep_factors != 0
            for i in range(length):
                at = source + min(i, panel.count - 1) * token
                by = load_scalar(at)
                store_scalar(to + i * size, by)
                store_scalar(to + line + i * size, load_scalar(at + own.logs))
                if by != one:
                    acts = True
                    store_scalar(factors + i * size, one)
            if acts:
                store_word(panel.factor_numbers + found * 8, k)
                found += 1
        panel.factor_count = found

    @compiled
    def columns_of(p, panel, number):
        """Where the flags of keys lie for the panel's factor of this number, and how far apart."""
        own = factor_at(p.factors + word(panel.factor_numbers, number) * FACTOR_BYTES)
        flags, _, column = head_of(own.columns, panel.batch, panel.head)
        return flags, column

    @compiled
    def multiply(p, panel, P, a, e):
        vectors = panel.vectors
        for number in range(panel.factor_count):
            flags, column = columns_of(p, panel, number)
            numbers = panel.factors + (1 + 2 * number) * line
            for j in range(a, e):
                if load_i8(flags + j * column) != 0:
                    for w in range(vectors):
                        at = P + (j - a) * line + w * vector
                        weight = load(at)
                        product = weight * load(numbers + w * vector)
                        store(at, select(equal(weight, splat(-infinity)), weight, product))

    @compiled
    def with_logarithms(p, panel, exponents, j, w):
        for number in range(panel.factor_count):
            flags, column = columns_of(p, panel, number)
            if load_i8(flags + j * column) != 0:
                exponents = exponents + load(panel.factors + (2 + 2 * number) * line + w * vector)
        return exponents

    @compiled
    def add_weighed(p, work, panel, S, a, e):
        P, logs = work.P, p.primitives.row_log_weights != 0
        for w in range(panel.vectors):
            shift = load(work.shift + w * vector)
            log_weights, weights, distances = splat(zero), splat(zero), splat(zero)
            first = panel.first_query + p.primitives.distance_offset - a + w * lanes
            for i in range(lanes):
                store_scalar(work.alpha + i * size, dtype(first + i))
            ahead = load(work.alpha)
            for j in range(e - a):
                weight = load(P + j * line + w * vector)
                if logs:
                    below = with_logarithms(p, panel, load(S + j * line + w * vector) - shift, a + j, w)
                    # A weight below 0 has no logarithm.
                    below = select(above(splat(zero), weight), splat(nan), maximum(splat(least), below))
                    log_weights = fma(weight, below, log_weights)
                weights = weights + weight
                distances = fma(weight, magnitude(ahead), distances)
                ahead = ahead - splat(one)
            at = work.row_log_weights + w * vector
            store(at, load(at) + log_weights)
            at = work.row_weights + w * vector
            store(at, load(at) + weights)
            at = work.row_distances + w * vector
            store(at, load(at) + distances)

    @compiled
    def rank(work, panel, S, n):
        for w in range(panel.vectors):
            edited = equal(load(panel.factors + w * vector), splat(one))
            for j in range(n):
                at = j * line + w * vector
                score, weight = load(S + at), load(work.P + at)
                weight = select(equal(score, splat(-infinity)), score, weight)
                store(S + at, select(edited, weight, score))

    @compiled
    def add_to_gradients(p, work, panel, a, e):
        P, dP, vectors, sums = work.P_undropped, work.dP, panel.vectors, work.row_gradients
        for number in range(panel.factor_count):
            target = word(p.factor_gradients, word(panel.factor_numbers, number))
            if target == 0:
                continue
            flags, column = columns_of(p, panel, number)
            for w in range(vectors):
                total = splat(zero)
                for j in range(a, e):
                    if load_i8(flags + j * column) != 0:
                        at = (j - a) * line + w * vector
                        weight = load(P + at)
                        product = weight * load(dP + at)
                        for other in range(panel.factor_count):
                            flags_of_other, column_of_other = columns_of(p, panel, other)
                            if other != number and load_i8(flags_of_other + j * column_of_other) != 0:
                                product = product * load(panel.factors + (1 + 2 * other) * line + w * vector)
                        total = total + select(equal(weight, splat(-infinity)), splat(zero), product)
                store(sums + w * vector, total)
            target += panel.row * size
            for i in range(panel.count):
                store_scalar(target + i * size, load_scalar(target + i * size) + load_scalar(sums + i * size))

    return WeightFactors(take_factors, multiply, with_logarithms, add_weighed, rank, add_to_gradients)
