"""A block of queries against a block of keys: each one's contribution to the other's gradients."""

from __future__ import annotations

import math
from typing import NamedTuple

from eyeline.kernels.compiled.masking import masking
from eyeline.kernels.compiled.matmul import Lines, matmul
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import CELL, sizes, wide
from eyeline.kernels.compiled.records import StridedRows, compiled, panel_at
from eyeline.kernels.compiled.score_gradients import score_gradients
from eyeline.kernels.compiled.softmax_gradients import softmax_gradients


class BlockPair(NamedTuple):
    """`weigh(p, work, count, begin, a, e, careful)`: P and dS of a block of `count` queries and the keys [a, e), in a
    stripe that begins at key `begin`; returns the number of pairs computed, and whether all panels used all keys.
    `add_up(p, work, count, begin, a, e, whole, careful)`: adds the contributions of these P and dS to the gradients."""

    weigh: object
    add_up: object


def block_pair(dtype, lanes, vectors, rows, added_rows):
    """Pairs of blocks, with queries in panels of `vectors` · `lanes`, on tiles of `rows` and `added_rows` rows."""
    W = width(dtype, lanes)
    store, splat = W.store, W.splat
    size, vector, length, _ = sizes(dtype, lanes, vectors)
    wide_line = wide(size)
    zero, hidden = dtype(0), dtype(-math.inf)
    _, visible_keys, hide = masking(dtype, lanes, vectors)
    multiply, add_product, add_product_carefully = matmul(dtype, lanes, vectors, rows, added_rows)
    differentiate, differentiate_all, add_delta = softmax_gradients(dtype, lanes, vectors)
    apply_and_keep = score_gradients(dtype, lanes, vectors).apply_and_keep

    @compiled
    def leave_out(work, g, first, last, careful):
        """Write P and dS of 0 (P of -inf, hidden, if `careful`) for the panel that begins at query g and the keys
        [first, last) of a block."""
        at = first * wide_line + g * size
        for j in range(last - first):
            for w in range(vectors):
                to = at + j * wide_line + w * vector
                store(work.block_dS + to, splat(zero))
                store(work.block_P + to, splat(hidden if careful else zero))

    @compiled
    def weigh_panel(p, work, panel, g, begin, a, keys, careful):
        """P and dS of the panel that begins at query g of the block, on `keys` of the block that begins at key a."""
        n, S, used = keys.e - keys.a, work.P, panel.vectors
        K = Lines(work.keys + (keys.a - begin) * p.line_d, p.line_d)
        V = Lines(work.values + (keys.a - begin) * p.line_e, p.line_e)
        multiply(K, n, panel.q, p.D, S, used)
        if p.step_count != 0:
            apply_and_keep(p, work, panel, keys.a, keys.e)
        hide(p, work, panel, S, keys)
        multiply(V, n, panel.acc, p.E, work.dP, used)
        to, delta = (keys.a - a) * wide_line + g * size, work.delta + g * size
        if p.elaborate == 0:
            differentiate(p, work, panel, to, delta, n, careful)
        elif p.preliminary == 0:
            differentiate_all(p, work, panel, to, delta, keys.a, keys.e, careful)
        else:
            add_delta(p, work, panel, delta, keys.a, keys.e)

    @compiled
    def weigh(p, work, count, begin, a, e, careful):
        looked, whole = 0, True
        for g in range(0, count, length):
            panel = panel_at(work.panels + (g // length) * p.panel.size)
            keys = visible_keys(p, work, panel, a, e)
            first, end = keys.a, keys.e
            if first >= end:
                first, end = a, a
            panel.block_first, panel.block_end = first, end
            leave_out(work, g, 0, first - a, careful)
            leave_out(work, g, end - a, e - a, careful)
            whole = whole and first == a and end == e
            if first < end:
                looked += panel.count * (end - first)
                weigh_panel(p, work, panel, g, begin, a, keys, careful)
        return looked, whole

    @compiled
    def add_to_keys(p, work, first, count, place, begin, n):
        """Add the contribution of the block's queries [begin, begin + n) to dk and dv of its keys [first, first +
        count); the block begins at key `place` of the stripe."""
        at = first * wide_line + begin * size
        P, dS = StridedRows(work.block_P + at, wide_line, size), StridedRows(work.block_dS + at, wide_line, size)
        lines = p.line_e
        dv, d_output = work.dv + (place + first) * lines, work.d_output + begin * lines
        add_product(P, count, Lines(d_output, lines), n, Lines(dv, lines), p.E)
        lines = p.line_d
        dk, q = work.dk + (place + first) * lines, work.q + begin * lines
        add_product(dS, count, Lines(q, lines), n, Lines(dk, lines), p.D)

    @compiled
    def add_to_queries(p, work, begin, count, place, first, n):
        """Add the contribution of the block's keys [first, first + n) to dq of its queries [begin, begin + count)."""
        dS, lines = StridedRows(work.block_dS + first * wide_line + begin * size, size, wide_line), p.line_d
        keys, dq = work.keys + (place + first) * lines, work.dq + begin * lines
        add_product(dS, count, Lines(keys, lines), n, Lines(dq, lines), p.D)

    @compiled
    def add_carefully(p, work, count, n, place):
        """As `add_to_keys` and `add_to_queries` for a whole pair of blocks, but leaving out hidden pairs."""
        P, dS = work.block_P, work.block_dS
        dv, dk = Lines(work.dv + place * p.line_e, p.line_e), Lines(work.dk + place * p.line_d, p.line_d)
        K = Lines(work.keys + place * p.line_d, p.line_d)
        q, dq, d_output = Lines(work.q, p.line_d), Lines(work.dq, p.line_d), Lines(work.d_output, p.line_e)
        add_product_carefully(StridedRows(P, wide_line, size), P, n, d_output, count, dv, p.E)
        add_product_carefully(StridedRows(dS, wide_line, size), P, n, q, count, dk, p.D)
        add_product_carefully(StridedRows(dS, size, wide_line), P, count, K, n, dq, p.D)

    @compiled
    def add_cells(p, work, count, n, a, place):
        """As `add_to_keys` and `add_to_queries`, where panels need different keys: only for the keys they need."""
        for first in range(0, n, CELL):
            last = min(first + CELL, n)
            begin, end = count, 0
            for g in range(0, count, length):
                panel = panel_at(work.panels + (g // length) * p.panel.size)
                if panel.block_first - a < last and panel.block_end - a > first:
                    begin, end = min(begin, g), min(g + length, count)
            if begin < end:
                add_to_keys(p, work, first, last - first, place, begin, end - begin)
        for g in range(0, count, length):
            panel = panel_at(work.panels + (g // length) * p.panel.size)
            first, last = panel.block_first - a, panel.block_end - a
            if first < last:
                add_to_queries(p, work, g, panel.count, place, first, last - first)

    @compiled
    def add_up(p, work, count, begin, a, e, whole, careful):
        n, place = e - a, a - begin
        if careful:
            add_carefully(p, work, count, n, place)
        elif whole:
            add_to_keys(p, work, 0, n, place, 0, count)
            add_to_queries(p, work, 0, count, place, 0, n)
        else:
            add_cells(p, work, count, n, a, place)

    return BlockPair(weigh, add_up)
