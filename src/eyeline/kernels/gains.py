"""What the gradients of readouts add to the gradients of a panel's weights.

Each readout is a sum of weights, times something or through -w ln w, so its gradient goes to the weights it was read
of: that of `Received` to a key's column, that of `GroupMass` to all keys of a group, and so on.
"""

from __future__ import annotations

import math

from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import load_i32, width, word
from eyeline.kernels.simd import equal, fma, magnitude, select
from eyeline.kernels.words import (
    COLUMN_PLACES,
    D_DISTANCE,
    D_ENTROPY,
    D_ONTO,
    D_RECEIVED,
    D_TOP,
    D_WEIGHTS,
    GROUPS,
    HEADS,
    KEYS,
    LABELS,
    LABELS_BATCH,
    LOG_SUMS,
    OFFSET,
    QUERIES,
    ROW_PLACES,
    S_GAINS,
    S_MAXIMA,
    S_ROW_GRADIENTS,
    S_WEIGHTS,
    TOP,
    TOP_KEYS,
    WEIGHTS_COLUMNS,
    WEIGHTS_ROWS,
    compiled,
)


def gaining(dtype, lanes, most_vectors):
    """`add_gains`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, length, line = sizes(dtype, lanes, most_vectors)
    zero, one = dtype(0), dtype(1)
    infinity = dtype(float("inf"))
    ln_2 = dtype(math.log(2))

    @compiled
    def gather(array, row, count, target):
        """A number for each of a panel's rows; those beyond the last repeat it."""
        for i in range(length):
            store_scalar(target + i * size, load_scalar(array + (row + min(i, count - 1)) * size))

    @compiled
    def add_entropy(p, state, scratch, row, count, vectors, n):
        """The entropy is -Σ w ln w, so a weight's gain is -(ln w + 1)."""
        scores, gains, own = (
            scratch + word(p, S_WEIGHTS),
            scratch + word(p, S_GAINS),
            scratch + word(p, S_ROW_GRADIENTS),
        )
        gather(word(p, D_ENTROPY), row, count, own)
        gather(word(p, LOG_SUMS), row, count, own + line)
        for w in range(vectors):
            gradient, log_sum = splat(zero) - load(own + w * step), load(own + line + w * step)
            top = load(state + word(p, S_MAXIMA) + w * step)
            for j in range(n):
                score, at = load(scores + j * line + w * step), gains + j * line + w * step
                logarithm = fma((score - top) - log_sum, splat(ln_2), splat(one))
                # The logarithm of a weight of 0 that is hidden isn't finite.
                logarithm = select(equal(score, splat(-infinity)), splat(zero), logarithm)
                store(at, fma(gradient, logarithm, load(at)))

    @compiled
    def add_distance(p, scratch, row, first_query, count, vectors, a, e):
        gains, own = scratch + word(p, S_GAINS), scratch + word(p, S_ROW_GRADIENTS)
        gather(word(p, D_DISTANCE), row, count, own)
        for w in range(vectors):
            for i in range(lanes):
                ahead_of_first = first_query + w * lanes + i + word(p, OFFSET) - a
                store_scalar(own + line + w * step + i * size, dtype(ahead_of_first))
            gradient, ahead = load(own + w * step), load(own + line + w * step)
            for j in range(e - a):
                at = gains + j * line + w * step
                store(at, fma(gradient, magnitude(ahead), load(at)))
                ahead = ahead - splat(one)

    @compiled
    def add_received(p, scratch, group, vectors, a, e):
        gains = scratch + word(p, S_GAINS)
        for j in range(a, e):
            gradient = splat(load_scalar(word(p, D_RECEIVED) + (group * word(p, KEYS) + j) * size))
            for w in range(vectors):
                at = gains + (j - a) * line + w * step
                store(at, load(at) + gradient)

    @compiled
    def add_scalar(at, x):
        store_scalar(at, load_scalar(at) + x)

    @compiled
    def add_onto(p, scratch, batch, row, count, a, e):
        gains, labels = scratch + word(p, S_GAINS), word(p, LABELS) + batch * word(p, LABELS_BATCH)
        for j in range(a, e):
            label = load_i32(labels + j * 4)
            if label >= 0:
                for i in range(count):
                    x = load_scalar(word(p, D_ONTO) + ((row + i) * word(p, GROUPS) + label) * size)
                    add_scalar(gains + (j - a) * line + i * size, x)

    @compiled
    def add_weights(p, scratch, group, first_query, count, a, e):
        gains, columns = scratch + word(p, S_GAINS), word(p, WEIGHTS_COLUMNS)
        for j in range(a, e):
            column = load_i32(word(p, COLUMN_PLACES) + j * 4)
            if column >= 0:
                for i in range(count):
                    row = load_i32(word(p, ROW_PLACES) + (first_query + i) * 4)
                    if row >= 0:
                        at = word(p, D_WEIGHTS) + ((group * word(p, WEIGHTS_ROWS) + row) * columns + column) * size
                        add_scalar(gains + (j - a) * line + i * size, load_scalar(at))

    @compiled
    def add_top(p, scratch, row, count, a, e):
        gains, most = scratch + word(p, S_GAINS), word(p, TOP)
        for i in range(count):
            for r in range((row + i) * most, (row + i + 1) * most):
                key = word(word(p, TOP_KEYS), r)
                if a <= key < e:
                    add_scalar(gains + (key - a) * line + i * size, load_scalar(word(p, D_TOP) + r * size))

    @compiled
    def add_gains(p, state, scratch, batch, head, first_query, count, vectors, a, e):
        """Add to the gradients of the weights of the keys [a, e) what all readouts say; the scores are still there."""
        group = batch * word(p, HEADS) + head
        row = group * word(p, QUERIES) + first_query
        if word(p, D_ENTROPY) != 0:
            add_entropy(p, state, scratch, row, count, vectors, e - a)
        if word(p, D_DISTANCE) != 0:
            add_distance(p, scratch, row, first_query, count, vectors, a, e)
        if word(p, D_RECEIVED) != 0:
            add_received(p, scratch, group, vectors, a, e)
        if word(p, D_ONTO) != 0:
            add_onto(p, scratch, batch, row, count, a, e)
        if word(p, D_WEIGHTS) != 0:
            add_weights(p, scratch, group, first_query, count, a, e)
        if word(p, D_TOP) != 0:
            add_top(p, scratch, row, count, a, e)

    return add_gains
