"""The scores of a block of keys, and their online softmax."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.masking import masking
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import SUM_BLOCK, sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.score_steps import score_steps
from eyeline.kernels.compiled.simd import equal, fma, maximum, select
from eyeline.kernels.compiled.softmax_tile import weights_tile
from eyeline.kernels.compiled.tiles import scores_tile


class Softmax(NamedTuple):
    """`score(p, work, panel, S, K, keys)`: writes the scores of these keys, whose first is the first row of K, to S,
    hidden ones -inf, and each row's largest to `work.block_m`; `weigh(work, panel, S, keys, careful)`: turns them into
    weights P relative to the row's new maximum, and updates m, l and alpha."""

    score: object
    weigh: object


def softmax(dtype, lanes, most_vectors, rows):
    """The online softmax, for panels of `most_vectors` · `lanes` queries, with tiles of `rows` keys."""
    W = width(dtype, lanes)
    load, store, splat = W.load, W.store, W.splat
    _, vector, _, line = sizes(dtype, lanes, most_vectors)
    zero, infinity = dtype(0), dtype(np.inf)
    hide = masking(dtype, lanes, most_vectors).hide
    apply_steps = score_steps(dtype, lanes, most_vectors).apply_steps
    scores = scores_tile(dtype, lanes, most_vectors, most_vectors, rows)
    scores_thin = scores_tile(dtype, lanes, most_vectors, 1, rows)
    weights = weights_tile(dtype, lanes, most_vectors, most_vectors)
    weights_thin = weights_tile(dtype, lanes, most_vectors, 1)

    @compiled
    def find_block_m(block_m, S, vectors, n):
        """Write each row's largest score among n keys."""
        for w in range(vectors):
            highest = splat(-infinity)
            for j in range(n):
                highest = maximum(highest, load(S + j * line + w * vector))
            store(block_m + w * vector, highest)

    @compiled
    def score(p, work, panel, S, K, keys):
        n, vectors, block_m, q, D = keys.e - keys.a, panel.vectors, work.block_m, panel.q, p.D
        for w in range(vectors):
            store(block_m + w * vector, splat(-infinity))
        for j in range(0, n, rows):
            at, to = K.at + j * K.token, S + j * line
            if vectors == 1:
                scores_thin(at, K.token, K.column, n - 1 - j, q, D, to, block_m)
            else:
                scores(at, K.token, K.column, n - 1 - j, q, D, to, block_m)
        changed = p.step_count != 0 and apply_steps(p, work, panel, S, keys.a, keys.e)
        if hide(p, work, panel, S, keys) or changed:
            find_block_m(block_m, S, vectors, n)

    @compiled
    def weigh_carefully(work, P, S, vectors, a, n):
        """As the tiles, but marking hidden keys."""
        for w in range(vectors):
            shift, total = load(work.shift + w * vector), splat(zero)
            begin = 0
            while begin < n:
                part, end = splat(zero), min(begin + SUM_BLOCK - (a + begin) % SUM_BLOCK, n)
                for j in range(begin, end):
                    score = load(S + j * line + w * vector)
                    weight = exp2(score - shift)
                    part = part + weight
                    store(P + j * line + w * vector, select(equal(score, splat(-infinity)), splat(-infinity), weight))
                total = total + part
                begin = end
            store(work.block_l + w * vector, total)

    @compiled
    def weigh(work, panel, S, keys, careful):
        n, vectors, m, l = keys.e - keys.a, panel.vectors, panel.m, panel.l
        P, shifts, alphas, block_m, block_l = work.P, work.shift, work.alpha, work.block_m, work.block_l
        for w in range(vectors):
            m_old = load(m + w * vector)
            m_new = maximum(load(block_m + w * vector), m_old)
            store(m + w * vector, m_new)
            # A row without a visible key yet has maximum -inf, and -inf - -inf would be NaN.
            shift = select(equal(m_new, splat(-infinity)), splat(zero), m_new)
            store(shifts + w * vector, shift)
            store(alphas + w * vector, exp2(m_old - shift))
        if careful:
            weigh_carefully(work, P, S, vectors, keys.a, n)
        elif vectors == 1:
            weights_thin(S, P, n, keys.a % SUM_BLOCK, shifts, block_l)
        else:
            weights(S, P, n, keys.a % SUM_BLOCK, shifts, block_l)
        for w in range(vectors):
            store(l + w * vector, fma(load(l + w * vector), load(alphas + w * vector), load(block_l + w * vector)))

    return Softmax(score, weigh)
