"""A panel of queries against a block of keys: the recomputed weights P, and the gradients dS in the scores.

dS = P · (dP - delta), where delta is a row's Σ P dP (Dao et al. 2022, B.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.dropout import dropout
from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.primitive_gradients import primitive_gradients
from eyeline.kernels.compiled.programs import sizes, wide
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.score_gradients import score_gradients
from eyeline.kernels.compiled.simd import equal, fma, select
from eyeline.kernels.compiled.weight_factors import weight_factors


class SoftmaxGradients(NamedTuple):
    """`differentiate(p, work, panel, to, delta, n, careful)`: from n keys' scores and dP to their P and dS, times the
    scale; `differentiate_all(p, work, panel, to, delta, a, e, careful)`: the same for the keys [a, e) with dropout,
    primitives and steps. They are written into the block's P and dS, at the offset `to` in bytes. Hidden pairs get 0,
    or P of -inf if `careful`. `add_delta(p, work, panel, delta, a, e)`: adds Σ P · (the primitives' gradient in P),
    over the keys [a, e), to the panel's delta."""

    differentiate: object
    differentiate_all: object
    add_delta: object


def softmax_gradients(dtype, lanes, most_vectors):
    """The softmax's gradients, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat = W.load, W.store, W.splat
    size, vector, _, line = sizes(dtype, lanes, most_vectors)
    wide_line = wide(size)
    zero, infinity = dtype(0), dtype(np.inf)
    hidden = -infinity
    drop = dropout(dtype, lanes, most_vectors).drop
    add_to_gradients = primitive_gradients(dtype, lanes, most_vectors)
    factors = weight_factors(dtype, lanes, most_vectors)
    multiply, add_to_factors = factors.multiply, factors.add_to_gradients
    pull_back = score_gradients(dtype, lanes, most_vectors).pull_back

    @compiled
    def differentiate(p, work, panel, to, delta, n, careful):
        S, dP, P_to, dS_to = work.P, work.dP, work.block_P + to, work.block_dS + to
        scale, nothing = splat(dtype(p.scale)), splat(zero)
        mark = splat(hidden) if careful else nothing
        for w in range(panel.vectors):
            m, inverse = load(panel.m + w * vector), load(panel.l + w * vector)
            own_delta = load(delta + w * vector)
            scaled_inverse = inverse * scale
            for j in range(n):
                score = load(S + j * line + w * vector)
                unseen = equal(score, splat(-infinity))
                raised = exp2(score - m)
                dS = (raised * scaled_inverse) * (load(dP + j * line + w * vector) - own_delta)
                store(P_to + j * wide_line + w * vector, select(unseen, mark, raised * inverse))
                store(dS_to + j * wide_line + w * vector, select(unseen, nothing, dS))

    @compiled
    def weigh_again(work, panel, n):
        """Recompute n keys' weights from their scores, -inf where hidden."""
        S, P = work.P, work.P_undropped
        for w in range(panel.vectors):
            m, inverse = load(panel.m + w * vector), load(panel.l + w * vector)
            for j in range(n):
                score = load(S + j * line + w * vector)
                weight = exp2(score - m) * inverse
                store(P + j * line + w * vector, select(equal(score, splat(-infinity)), splat(hidden), weight))

    @compiled
    def drop_again(p, work, panel, a, e):
        """Apply dropout to the weights, as the forward pass did, and pull dP back to the weights before dropout."""
        P, dropped, dP = work.P_undropped, work.P_dropped, work.dP
        for at in range(0, (e - a) * line, vector):
            store(dropped + at, load(P + at))
        drop(p, panel, dropped, a, e)
        factor = splat(dtype(p.dropout.keep_factor))
        for at in range(0, (e - a) * line, vector):
            weight = load(dropped + at)
            store(dP + at, select(equal(weight, splat(zero)), splat(zero), load(dP + at) * factor))
            store(dropped + at, select(equal(weight, splat(hidden)), weight, weight * factor))

    @compiled
    def multiply_all(p, work, panel, P, a, e):
        """Multiply the weights, which lie at P, by their factors, as the forward pass did; add to the factors'
        gradients, and pull dP back to the weights before. Returns where the multiplied weights lie."""
        to = work.P_dropped
        if to != P:
            for at in range(0, (e - a) * line, vector):
                store(to + at, load(P + at))
        if p.factor_gradients != 0:
            add_to_factors(p, work, panel, a, e)
        multiply(p, panel, to, a, e)
        multiply(p, panel, work.dP, a, e)
        return to

    @compiled
    def differentiate_all(p, work, panel, to, delta, a, e, careful):
        n, P, dP = e - a, work.P_undropped, work.dP
        weigh_again(work, panel, n)
        P_given = P
        if p.dropout.threshold != 0:
            drop_again(p, work, panel, a, e)
            P_given = work.P_dropped
        if p.primitives.given != 0:
            add_to_gradients(p, work, panel, a, e)
        if panel.factor_count != 0:
            P_given = multiply_all(p, work, panel, P_given, a, e)
        P_to, dS_to, vectors = work.block_P + to, work.block_dS + to, panel.vectors
        mark = splat(hidden) if careful else splat(zero)
        for w in range(vectors):
            own_delta = load(delta + w * vector)
            for j in range(n):
                at = j * line + w * vector
                weight, given = load(P + at), load(P_given + at)
                unseen = equal(weight, splat(hidden))
                store(P_to + j * wide_line + w * vector, select(unseen, mark, given))
                store(dP + at, select(unseen, splat(zero), weight * (load(dP + at) - own_delta)))
        if p.step_count != 0:
            pull_back(p, work, panel, a, e)
        scale = splat(dtype(p.scale))
        for j in range(n):
            for w in range(vectors):
                store(dS_to + j * wide_line + w * vector, load(dP + j * line + w * vector) * scale)

    @compiled
    def add_delta(p, work, panel, delta, a, e):
        P, dP = work.P_undropped, work.dP
        weigh_again(work, panel, e - a)
        add_to_gradients(p, work, panel, a, e)
        if panel.factor_count != 0:
            multiply(p, panel, dP, a, e)
        for w in range(panel.vectors):
            total = splat(zero)
            for j in range(e - a):
                weight = load(P + j * line + w * vector)
                more = fma(weight, load(dP + j * line + w * vector), total)
                total = select(equal(weight, splat(hidden)), total, more)
            at = delta + w * vector
            store(at, load(at) + total)

    return SoftmaxGradients(differentiate, differentiate_all, add_delta)
