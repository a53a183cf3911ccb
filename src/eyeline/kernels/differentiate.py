"""A panel of queries against a block of keys: the weights again, and how the loss changes with each score."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.backward_layout import wide
from eyeline.kernels.dropping import dropping
from eyeline.kernels.elementary import exp2
from eyeline.kernels.gains import gaining
from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import width, word
from eyeline.kernels.simd import equal, fma, select
from eyeline.kernels.slopes import slopes
from eyeline.kernels.words import (
    D_READ,
    DROPPED,
    KEPT,
    S_CHANGES,
    S_FRESH,
    S_GAINS,
    S_LINES,
    S_MAXIMA,
    S_SUMS,
    S_TAKEN,
    S_TOTALS,
    S_WEIGHTS,
    SCALE,
    STEP_COUNT,
    compiled,
)


def differentiation(dtype, lanes, most_vectors):
    """`differentiate`, `differentiate_all` and `add_totals`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar = W.load, W.store, W.splat, W.load_scalar
    size, step, _, line = sizes(dtype, lanes, most_vectors)
    wide_line = wide(size)
    zero = dtype(0)
    infinity = dtype(np.inf)
    hidden = dtype(-1)
    _, drop = dropping(dtype, lanes, most_vectors)
    add_gains = gaining(dtype, lanes, most_vectors)
    _, change_back = slopes(dtype, lanes, most_vectors)

    @compiled
    def differentiate(p, state, scratch, place, n, first, vectors, careful):
        """From n keys' scores and the gradients of their weights (`S_GAINS`), the weights and the gradients of q·k.

        They are written for keys from the `first` of the block on, and for queries from byte `place` of a line on.
        What is hidden gets 0, or weight -1 if it is to be told apart.
        """
        scores, gains = scratch + word(p, S_WEIGHTS), scratch + word(p, S_GAINS)
        taken = scratch + word(p, S_TAKEN) + first * wide_line + place
        changes = scratch + word(p, S_CHANGES) + first * wide_line + place
        scale, nothing = splat(load_scalar(p + 8 * SCALE)), splat(zero)
        mark = splat(hidden) if careful else nothing
        for w in range(vectors):
            top, inverse = load(state + word(p, S_MAXIMA) + w * step), load(state + word(p, S_SUMS) + w * step)
            total = load(scratch + word(p, S_TOTALS) + place + w * step)
            scaled_inverse = inverse * scale
            for j in range(n):
                score = load(scores + j * line + w * step)
                unseen = equal(score, splat(-infinity))
                raised = exp2(score - top)
                change = (raised * scaled_inverse) * (load(gains + j * line + w * step) - total)
                store(taken + j * wide_line + w * step, select(unseen, mark, raised * inverse))
                store(changes + j * wide_line + w * step, select(unseen, nothing, change))

    @compiled
    def weigh_afresh(p, state, scratch, n, vectors):
        """n keys' weights from their scores, -1 where hidden."""
        scores, fresh = scratch + word(p, S_WEIGHTS), scratch + word(p, S_FRESH)
        for w in range(vectors):
            top, inverse = load(state + word(p, S_MAXIMA) + w * step), load(state + word(p, S_SUMS) + w * step)
            for j in range(n):
                score = load(scores + j * line + w * step)
                weight = exp2(score - top) * inverse
                store(fresh + j * line + w * step, select(equal(score, splat(-infinity)), splat(hidden), weight))

    @compiled
    def drop_again(p, state, scratch, vectors, a, e):
        """The weights that the forward pass took values by, and their gradients' part of those of all weights."""
        fresh, taken, gains = scratch + word(p, S_FRESH), scratch + word(p, S_LINES), scratch + word(p, S_GAINS)
        for at in range(0, (e - a) * line, step):
            store(taken + at, load(fresh + at))
        drop(p, state, taken, vectors, a, e)
        times = splat(load_scalar(p + 8 * KEPT))
        for at in range(0, (e - a) * line, step):
            weight = load(taken + at)
            store(gains + at, select(equal(weight, splat(zero)), splat(zero), load(gains + at) * times))
            store(taken + at, select(equal(weight, splat(hidden)), weight, weight * times))

    @compiled
    def differentiate_all(p, state, scratch, batch, head, first_query, count, place, begin, vectors, a, e, careful):
        """As `differentiate`, with dropout, readouts and steps, for the keys [a, e) of a block that begins at
        `begin`."""
        n, fresh, gains = e - a, scratch + word(p, S_FRESH), scratch + word(p, S_GAINS)
        weigh_afresh(p, state, scratch, n, vectors)
        source = fresh
        if word(p, DROPPED) != 0:
            drop_again(p, state, scratch, vectors, a, e)
            source = scratch + word(p, S_LINES)
        if word(p, D_READ) != 0:
            add_gains(p, state, scratch, batch, head, first_query, count, vectors, a, e)
        taken = scratch + word(p, S_TAKEN) + (a - begin) * wide_line + place
        changes = scratch + word(p, S_CHANGES) + (a - begin) * wide_line + place
        mark = splat(hidden) if careful else splat(zero)
        for w in range(vectors):
            total = load(scratch + word(p, S_TOTALS) + place + w * step)
            for j in range(n):
                at = j * line + w * step
                weight, given = load(fresh + at), load(source + at)
                unseen = equal(weight, splat(hidden))
                store(taken + j * wide_line + w * step, select(unseen, mark, given))
                store(gains + at, select(unseen, splat(zero), weight * (load(gains + at) - total)))
        if word(p, STEP_COUNT) != 0:
            change_back(p, scratch, batch, head, first_query, count, vectors, a, e)
        scale = splat(load_scalar(p + 8 * SCALE))
        for j in range(n):
            for w in range(vectors):
                store(changes + j * wide_line + w * step, load(gains + j * line + w * step) * scale)

    @compiled
    def add_totals(p, state, scratch, batch, head, first_query, count, place, vectors, a, e):
        """Add Σ w · (what readouts say of w), over the keys [a, e), to the panel's totals."""
        fresh, gains = scratch + word(p, S_FRESH), scratch + word(p, S_GAINS)
        weigh_afresh(p, state, scratch, e - a, vectors)
        add_gains(p, state, scratch, batch, head, first_query, count, vectors, a, e)
        for w in range(vectors):
            total = splat(zero)
            for j in range(e - a):
                weight = load(fresh + j * line + w * step)
                more = fma(weight, load(gains + j * line + w * step), total)
                total = select(equal(weight, splat(hidden)), total, more)
            at = scratch + word(p, S_TOTALS) + place + w * step
            store(at, load(at) + total)

    return differentiate, differentiate_all, add_totals
