"""A panel of queries against a block of keys: adds the weighted values, or writes the weights themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.dropout import dropout
from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.ladder import ladder
from eyeline.kernels.compiled.memory import load_i32, width
from eyeline.kernels.compiled.packing import CAREFUL, FAST, SCALE_UP
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.row_totals import row_totals
from eyeline.kernels.compiled.simd import equal, fma, select
from eyeline.kernels.compiled.softmax import softmax
from eyeline.kernels.compiled.tiles import rescaled_tile
from eyeline.kernels.compiled.transpose import transpose_tile
from eyeline.kernels.compiled.weight_factors import weight_factors

#: The numbers of value columns in the tiles of the weighted sum. Each tile passes over all of a block's values, whose
#: rows, in a model, lie so that few of them fit in the cache at once: wide tiles pass over them less often.
VALUE_COLUMNS = (6, 4, 1)


class PanelPass(NamedTuple):
    """`take_block(p, work, panel, S, K, V, keys, care)`: updates the panel's m, l and acc by these keys, whose first
    are the first rows of K and V, and leaves their scores at S; `write_weights(p, work, panel, K, keys)`: writes the
    rectangle's part of the panel's weights on them."""

    take_block: object
    write_weights: object


def panel_pass(dtype, lanes, most_vectors, rows):
    """Panels of `most_vectors` · `lanes` queries, on tiles of `rows` keys."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, _, line = sizes(dtype, lanes, most_vectors)
    zero, infinity = dtype(0), dtype(np.inf)
    hidden, one, scale_down = dtype(-np.inf), dtype(1), dtype(1 / SCALE_UP)
    score, weigh = softmax(dtype, lanes, most_vectors, rows)
    columns_at_once, values_tile = ladder(
        lambda vectors, count: rescaled_tile(dtype, lanes, most_vectors, vectors, count), VALUE_COLUMNS, most_vectors
    )
    transpose = transpose_tile(dtype, lanes)
    drop = dropout(dtype, lanes, most_vectors).drop
    multiply = weight_factors(dtype, lanes, most_vectors).multiply
    take_totals = row_totals(dtype, lanes, most_vectors)

    @compiled
    def add_values(work, panel, V, E, n):
        """acc = acc · alpha + V · P; the rows of the product are value columns."""
        P, alpha, thin = work.P, work.alpha, panel.vectors == 1
        done = 0
        while done < E:
            take = columns_at_once(E - done)
            values_tile(take, thin, V.at + done * V.column, V.column, V.token, P, n, panel.acc + done * line, alpha)
            done += take

    @compiled
    def add_values_carefully(work, panel, V, E, n, factor):
        """As `add_values`, but leaving out hidden keys; weights are multiplied by a factor."""
        for e in range(E):
            for w in range(panel.vectors):
                even, odd = splat(zero), splat(zero)
                for j in range(n):
                    weight = load(work.P + j * line + w * vector)
                    scaled = weight * splat(factor)
                    value = splat(load_scalar(V.at + j * V.token + e * V.column))
                    if j % 2 == 0:
                        even = select(equal(weight, splat(hidden)), even, fma(value, scaled, even))
                    else:
                        odd = select(equal(weight, splat(hidden)), odd, fma(value, scaled, odd))
                at = panel.acc + e * line + w * vector
                store(at, fma(load(at), load(work.alpha + w * vector), even + odd))

    @compiled
    def take_block(p, work, panel, S, K, V, keys, care):
        score(p, work, panel, S, K, keys)
        if p.primitives.select != 0:
            for w in range(panel.vectors):
                peak = panel.peaks + (panel.visit_count - 1) * line + w * vector
                store(peak, load(work.block_m + w * vector))
        weigh(work, panel, S, keys, care != FAST)
        if p.dropout.threshold != 0:
            drop(p, panel, work.P, keys.a, keys.e)
        if panel.factor_count != 0:
            multiply(p, panel, work.P, keys.a, keys.e)
        n = keys.e - keys.a
        if care == FAST:
            add_values(work, panel, V, p.E, n)
        else:
            add_values_carefully(work, panel, V, p.E, n, one if care == CAREFUL else scale_down)

    @compiled
    def write_rows(p, work, panel, keys):
        """Write the weights of the rectangle's rows and columns: a square at a time where these are consecutive."""
        n, P, group, count = keys.e - keys.a, work.P, panel.batch * p.H + panel.head, panel.count
        R, C = p.rectangle.rows, p.rectangle.columns
        rows_in, columns_in = p.rectangle.row_places + panel.first_query * 4, p.rectangle.column_places + keys.a * 4
        first = load_i32(columns_in)
        together = first >= 0 and load_i32(columns_in + (n - 1) * 4) == first + n - 1
        whole = n - n % lanes if together else 0
        for g in range(0, count, lanes):
            last = min(g + lanes, count) - 1
            to, to_last = load_i32(rows_in + g * 4), load_i32(rows_in + last * 4)
            begin = 0
            if to >= 0 and to_last == to + last - g:
                begin = whole
                target = p.rectangle.address + ((group * R + to) * C + first) * size
                for j in range(0, whole, lanes):
                    source = P + j * line + g * size
                    transpose(source, line, lanes, target + j * size, C * size, last - g + 1, splat(dtype(1)))
            for i in range(g, last + 1):
                to = load_i32(rows_in + i * 4)
                if to >= 0:
                    target = p.rectangle.address + (group * R + to) * C * size
                    for j in range(begin, n):
                        c = load_i32(columns_in + j * 4)
                        if c >= 0:
                            store_scalar(target + c * size, load_scalar(P + j * line + i * size))

    @compiled
    def write_weights(p, work, panel, K, keys):
        """Uses the rows' m and l from an earlier pass. Hidden pairs stay 0."""
        P = work.P
        take_totals(p.m + panel.row * size, p.l + panel.row * size, panel.count, work.shift, work.inverse_l)
        score(p, work, panel, P, K, keys)
        for w in range(panel.vectors):
            shift, inverse = load(work.shift + w * vector), load(work.inverse_l + w * vector)
            for j in range(keys.e - keys.a):
                at = P + j * line + w * vector
                value = load(at)
                weight = exp2(value - shift) * inverse
                # Hidden is 0 even in a row that is NaN.
                store(at, select(equal(value, splat(-infinity)), splat(zero), weight))
        if panel.factor_count != 0:
            multiply(p, panel, P, keys.a, keys.e)
        write_rows(p, work, panel, keys)

    return PanelPass(take_block, write_weights)
