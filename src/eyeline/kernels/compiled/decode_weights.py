"""Decoding's scores of a block of keys, and their online softmax: the same bits as `softmax`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.compiled.decode_tiles import KEYS_AT_ONCE, scores_tile
from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.half_precision import half_precision
from eyeline.kernels.compiled.memory import load_i32, width
from eyeline.kernels.compiled.programs import SCORES_APART, SUM_BLOCK
from eyeline.kernels.compiled.records import compiled, head_of, rows_from
from eyeline.kernels.compiled.simd import equal, fma, maximum, select

NOT = int(Half.NOT)


class DecodeWeights(NamedTuple):
    """`pack(p, work, batch, key_head)`: packs the rows of queries, times the factor; `begin(p, work)`: sets m to -inf
    and l to 0; `score(p, work, batch, key_head, a, e, K, S, ahead)`: writes the scores of all rows on the keys [a, e)
    of one block, whose first is the first row of K, to S, hidden ones -inf, prefetching keys `ahead` bytes on;
    `weigh(p, work, S, n)`: turns n keys' scores into weights relative to the rows' new maxima, and updates m, l and
    alpha."""

    pack: object
    begin: object
    score: object
    weigh: object


def decode_weights(dtype, few, lanes):
    """Scores and weights, with `few` rows of queries in the lanes of a vector.

    The rows of a task are the queries of each head of a group, head after head, in panels of `few`: packed queries are
    [panel][pairs of d][few][2], scores and weights [panel][SCORES_APART][few]. Lanes beyond the last row repeat it.
    """
    W = width(dtype, few)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size = np.dtype(dtype).itemsize
    line = few * size
    panel_line = SCORES_APART * line
    zero, infinity = dtype(0), dtype(np.inf)
    products = scores_tile(dtype, few)
    widen = half_precision(dtype, lanes).widen
    # `together`: the number of keys whose scores fill a vector of `lanes` numbers.
    wide, vector, together = width(dtype, lanes), lanes * size, lanes // few
    load_wide, store_wide, splat_wide = wide.load, wide.store, wide.splat

    @compiled
    def pack(p, work, batch, key_head):
        D, rows, q = p.D, p.N * p.group, work.q
        factor = dtype(p.q_factor)
        for first in range(0, rows, few):
            for lane in range(few):
                r = min(first + lane, rows - 1)
                at, token, column = rows_from(head_of(p.q, batch, key_head * p.group + r // p.N), r % p.N)
                if p.half != NOT:
                    widen(p.half, at, token, column, 1, D, work.rows, D * size)
                    at, column = work.rows, size
                for d in range(D):
                    to = q + d // 2 * 2 * line + (2 * lane + d % 2) * size
                    store_scalar(to, load_scalar(at + d * column) * factor)
            q += (D + D % 2) * line

    @compiled
    def begin(p, work):
        for r in range(0, p.N * p.group, few):
            store(work.m + r * size, splat(-infinity))
            store(work.l + r * size, splat(zero))

    @compiled
    def hide(p, batch, key_head, a, e, S):
        """Set the scores of keys that a row may not look at to -inf."""
        rows, intervals = p.N * p.group, p.mask.intervals
        for lane in range(-(-rows // few) * few):
            r = min(lane, rows - 1)
            bounds = rows_from(head_of(p.mask.bounds, batch, key_head * p.group + r // p.N), r % p.N).at
            to = S + lane // few * panel_line + lane % few * size
            seen = a
            # The gaps before each interval, and after the last.
            for k in range(intervals + 1):
                first, last = e, e
                if k < intervals:
                    first, last = np.int64(load_i32(bounds + 8 * k)), np.int64(load_i32(bounds + 8 * k + 4))
                for j in range(seen, min(first, e)):
                    store_scalar(to + (j - a) * line, -infinity)
                seen = max(seen, last)

    @compiled
    def score(p, work, batch, key_head, a, e, K, S, ahead):
        D, panels, n = p.D, -(-(p.N * p.group) // few), e - a
        for j in range(a, e, KEYS_AT_ONCE):
            at, to = K.at + (j - a) * K.token, S + (j - a) * line
            wanted = at + ahead * K.token
            for panel in range(panels):
                q, target = work.q + panel * (D + D % 2) * line, to + panel * panel_line
                products(at, K.token, e - 1 - j, q, D, target, wanted, D * size, K.token)
                wanted = q  # the first tile has prefetched what there is
        if p.mask.bounds.address != 0:
            hide(p, batch, key_head, a, e, S)
        for panel in range(panels):
            for j in range(n, n + -n % together):
                store(S + panel * panel_line + j * line, splat(-infinity))

    @compiled
    def block_m(S, n, spread):
        """The rows' largest scores of n keys."""
        found = splat_wide(-infinity)
        for at in range(S, S + n * line, vector):
            found = maximum(load_wide(at), found)
        store_wide(spread, found)
        highest, level = load(spread), False
        for w in range(1, together):
            highest = maximum(load(spread + w * line), highest)
        store(spread, highest)
        for lane in range(few):
            level = level or load_scalar(spread + lane * size) == zero
        if level:
            # Zeros have signs: among equal scores, the last one counts.
            highest = splat(-infinity)
            for j in range(n):
                highest = maximum(highest, load(S + j * line))
        return highest

    @compiled
    def weigh(p, work, S, n):
        P, spread = work.P, work.spread
        for r in range(0, p.N * p.group, few):
            m, l = work.m + r * size, work.l + r * size
            m_old = load(m)
            m_new = maximum(block_m(S, n, spread), m_old)
            store(m, m_new)
            # A row without a visible key yet has maximum -inf, and -inf - -inf would be NaN.
            shift = select(equal(m_new, splat(-infinity)), splat(zero), m_new)
            alpha = exp2(m_old - shift)
            store(work.alpha + r * size, alpha)
            for w in range(together):
                store(spread + w * line, shift)
            shift_wide = load_wide(spread)
            for at in range(0, n * line, vector):
                store_wide(P + at, exp2(load_wide(S + at) - shift_wide))
            total = splat(zero)
            for first in range(0, n, SUM_BLOCK):
                part = splat(zero)
                for j in range(first, min(first + SUM_BLOCK, n)):
                    part = part + load(P + j * line)
                total = total + part
            store(l, fma(load(l), alpha, total))
            S += panel_line
            P += panel_line

    return DecodeWeights(pack, begin, score, weigh)
