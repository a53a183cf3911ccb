"""The contribution of the primitives' gradients to dP, the gradients in a panel's weights.

Each primitive is a sum of weights times coefficients, or of P ln P, so its gradient is added to the weights in the sum:
a column sum's to the weights of that column, a bin's to the weights on all keys of the bin, and so on.
"""

from __future__ import annotations

import math

from eyeline.kernels.compiled.memory import load_i32, width, word
from eyeline.kernels.compiled.offset_ranges import offset_ranges
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import equal, fma, magnitude, select
from eyeline.kernels.compiled.weight_factors import weight_factors


def primitive_gradients(dtype, lanes, most_vectors):
    """`add_to_gradients(p, work, panel, a, e)`: adds all primitives' gradients in the weights on the keys [a, e) to dP;
    P still holds the scores. For panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    with_logarithms = weight_factors(dtype, lanes, most_vectors).with_logarithms
    add_offsets = offset_ranges(dtype, lanes, most_vectors).add_gradients
    zero, one = dtype(0), dtype(1)
    infinity = dtype(float("inf"))
    ln_2 = dtype(math.log(2))

    @compiled
    def gather(array, row, count, target):
        """Copy a number for each of a panel's rows; lanes beyond the last row repeat it."""
        for i in range(length):
            store_scalar(target + i * size, load_scalar(array + (row + min(i, count - 1)) * size))

    @compiled
    def add_log_weights(p, work, panel, a, n):
        """The derivative of P ln P is ln P + 1."""
        S, dP, own = work.P, work.dP, work.row_gradients
        gather(p.primitives.d_row_log_weights, panel.row, panel.count, own)
        gather(p.primitives.log_l, panel.row, panel.count, own + line)
        for w in range(panel.vectors):
            gradient, log_l = load(own + w * vector), load(own + line + w * vector)
            m = load(panel.m + w * vector)
            for j in range(n):
                score, at = load(S + j * line + w * vector), dP + j * line + w * vector
                exponent = (score - m) - log_l
                if panel.factor_count != 0:
                    exponent = with_logarithms(p, panel, exponent, a + j, w)
                derivative = fma(exponent, splat(ln_2), splat(one))
                # A weight of 0, hidden or multiplied, has no finite logarithm.
                derivative = select(equal(exponent, splat(-infinity)), splat(zero), derivative)
                store(at, fma(gradient, derivative, load(at)))

    @compiled
    def add_distances(p, work, panel, a, e):
        dP, own = work.dP, work.row_gradients
        gather(p.primitives.d_row_distances, panel.row, panel.count, own)
        offset = panel.first_query + p.primitives.distance_offset - a
        for w in range(panel.vectors):
            for i in range(lanes):
                store_scalar(own + line + w * vector + i * size, dtype(offset + w * lanes + i))
            gradient, ahead = load(own + w * vector), load(own + line + w * vector)
            for j in range(e - a):
                at = dP + j * line + w * vector
                store(at, fma(gradient, magnitude(ahead), load(at)))
                ahead = ahead - splat(one)

    @compiled
    def add_column_sums(p, work, panel, a, e):
        first = (panel.batch * p.H + panel.head) * p.M
        for j in range(a, e):
            gradient = splat(load_scalar(p.primitives.d_column_sums + (first + j) * size))
            for w in range(panel.vectors):
                at = work.dP + (j - a) * line + w * vector
                store(at, load(at) + gradient)

    @compiled
    def add_scalar(at, x):
        store_scalar(at, load_scalar(at) + x)

    @compiled
    def add_bins(p, work, panel, a, e):
        labels, bins = p.primitives.labels + panel.batch * p.primitives.labels_batch, p.primitives.bins
        for j in range(a, e):
            label = load_i32(labels + j * 4)
            if label >= 0:
                for i in range(panel.count):
                    x = load_scalar(p.primitives.d_row_bins + ((panel.row + i) * bins + label) * size)
                    add_scalar(work.dP + (j - a) * line + i * size, x)

    @compiled
    def add_rectangle(p, work, panel, a, e):
        given = p.primitives.d_rectangle
        first_row = (panel.batch * p.H + panel.head) * given.rows
        for j in range(a, e):
            column = load_i32(given.column_places + j * 4)
            if column >= 0:
                for i in range(panel.count):
                    row = load_i32(given.row_places + (panel.first_query + i) * 4)
                    if row >= 0:
                        x = load_scalar(given.address + ((first_row + row) * given.columns + column) * size)
                        add_scalar(work.dP + (j - a) * line + i * size, x)

    @compiled
    def add_selected(p, work, panel, a, e):
        k = p.primitives.select
        for i in range(panel.count):
            for r in range((panel.row + i) * k, (panel.row + i + 1) * k):
                key = word(p.primitives.selected_keys, r)
                if a <= key < e:
                    x = load_scalar(p.primitives.d_selected + r * size)
                    add_scalar(work.dP + (key - a) * line + i * size, x)

    @compiled
    def add_to_gradients(p, work, panel, a, e):
        given = p.primitives
        if given.d_row_log_weights != 0:
            add_log_weights(p, work, panel, a, e - a)
        if given.d_row_distances != 0:
            add_distances(p, work, panel, a, e)
        if given.d_column_sums != 0:
            add_column_sums(p, work, panel, a, e)
        if given.d_row_bins != 0:
            add_bins(p, work, panel, a, e)
        if given.d_row_offsets != 0:
            add_offsets(given, panel, work.row_gradients, work.dP, a, e)
        if given.d_rectangle.address != 0:
            add_rectangle(p, work, panel, a, e)
        if given.d_selected != 0:
            add_selected(p, work, panel, a, e)

    return add_to_gradients
