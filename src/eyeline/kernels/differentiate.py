"""A panel of queries against a block of keys: the weights again, and how the loss changes with each score."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.backward_layout import wide
from eyeline.kernels.elementary import exp2
from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import width, word
from eyeline.kernels.simd import equal, select
from eyeline.kernels.words import S_CHANGES, S_GAINS, S_MAXIMA, S_SUMS, S_TAKEN, S_TOTALS, S_WEIGHTS, SCALE, compiled


def differentiation(dtype, lanes, most_vectors):
    """`differentiate`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar = W.load, W.store, W.splat, W.load_scalar
    size, step, _, line = sizes(dtype, lanes, most_vectors)
    wide_line = wide(size)
    zero = dtype(0)
    infinity = dtype(np.inf)
    hidden = dtype(-1)

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

    return differentiate
