"""Packing a panel of queries, and writing its rows of the output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.compiled.dropout import dropout
from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.half_precision import half_precision
from eyeline.kernels.compiled.masking import masking
from eyeline.kernels.compiled.memory import load_i32, width
from eyeline.kernels.compiled.params import PANEL, PANEL_PARTS
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import StridedRows, compiled, head_of, opener, rows_from
from eyeline.kernels.compiled.rows import rows_of_numbers
from eyeline.kernels.compiled.simd import any_nonfinite, equal, fma, maximum, select
from eyeline.kernels.compiled.transpose import transpose_tile
from eyeline.kernels.compiled.weight_factors import weight_factors

NOT = int(Half.NOT)
#: How values are summed: by tiles; leaving out hidden keys one by one; or that with weights scaled down, so that no sum
#: overflows.
FAST, CAREFUL, SCALED_DOWN = range(3)
#: The factor by which SCALED_DOWN divides the weights: more than the number of keys.
SCALE_UP = 2.0**32


class Packing(NamedTuple):
    """`prepare(p, work, slot, batch, head, first_query, count)`: packs queries and their intervals of keys into panel
    number `slot`, and returns it; `finish(p, work, panel, care)`: divides by l and writes the rows, or with SCALED_DOWN
    only those numbers that weren't finite before, and returns whether everything written is finite."""

    prepare: object
    finish: object


def packing(dtype, lanes, most_vectors):
    """Panels of `most_vectors` · `lanes` queries.

    A panel with fewer queries uses only the `vectors` that these fill; its lines keep their length.
    """
    W = width(dtype, lanes)
    load, store, splat = W.load, W.store, W.splat
    load_scalar, store_scalar, store_int = W.load_scalar, W.store_scalar, W.store_int
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero, one, infinity = dtype(0), dtype(1), dtype(np.inf)
    transpose = transpose_tile(dtype, lanes)
    take_cuts = masking(dtype, lanes, most_vectors).take_cuts
    take_factors = weight_factors(dtype, lanes, most_vectors).take_factors
    draw_lots = dropout(dtype, lanes, most_vectors).draw_lots
    widen, narrow, _ = half_precision(dtype, lanes)
    turn = rows_of_numbers(dtype, lanes, most_vectors).turn
    open_panel = opener(PANEL, PANEL_PARTS)

    @compiled
    def take_intervals(p, panel):
        """Store the queries' intervals: firsts in one line, lengths in the next. Also store the range of keys that any
        query needs, and the range that all queries may look at."""
        count, intervals = panel.count, p.mask.intervals
        first, end, full_first, full_end = p.M, 0, 0, p.M
        at, token, _ = rows_from(head_of(p.mask.bounds, panel.batch, panel.head), panel.first_query)
        for i in range(length):
            source = at + min(i, count - 1) * token
            for k in range(intervals):
                begin, stop = load_i32(source + 8 * k), load_i32(source + 8 * k + 4)
                target = panel.bounds + (2 * k * length + i) * 4
                store_int(target, begin)
                store_int(target + length * 4, stop - begin)
                if begin < stop:
                    first, end = min(first, begin), max(end, stop)
                full_first, full_end = max(full_first, begin), min(full_end, stop)
        panel.first_key, panel.end_key = first, end
        panel.full_first, panel.full_end = full_first, full_first if intervals > 1 else full_end

    @compiled
    def prepare(p, work, slot, batch, head, first_query, count):
        panel = open_panel(p.panel, work.panels + slot * p.panel.size)
        vectors = 1 if count <= lanes else most_vectors
        panel.batch, panel.head, panel.first_query, panel.count, panel.vectors = (
            batch,
            head,
            first_query,
            count,
            vectors,
        )
        panel.row = (batch * p.H + head) * p.N + first_query
        panel.visit_count = 0

        queries = rows_from(head_of(p.q, batch, head), first_query)
        if p.half != NOT:
            widen(p.half, queries.at, queries.token, queries.column, count, p.D, work.rows, p.D * size)
            queries = StridedRows(work.rows, p.D * size, size)
        turn(queries, count, vectors, p.D, dtype(p.q_factor), panel.q)
        for w in range(vectors):
            store(panel.m + w * vector, splat(-infinity))
            store(panel.l + w * vector, splat(zero))
        for w in range(p.E * most_vectors):
            store(panel.acc + w * vector, splat(zero))
        if p.mask.bounds.address != 0:
            take_intervals(p, panel)
        else:
            panel.first_key, panel.end_key, panel.full_first, panel.full_end = 0, p.M, 0, p.M
        if p.dropout.threshold != 0:
            draw_lots(p, panel)
        panel.cut_count = panel.factor_count = 0
        if p.cuts.kinds.address != 0:
            take_cuts(p, panel)
        if p.factor_count != 0:
            take_factors(p, panel)
        return panel

    @compiled
    def add_sink(p, panel):
        """Add the head's sink to l."""
        sink = splat(load_scalar(p.sinks + panel.head * size))
        for w in range(panel.vectors):
            m_old = load(panel.m + w * vector)
            m = maximum(sink, m_old)
            shift = select(equal(m, splat(-infinity)), splat(zero), m)
            alpha = exp2(m_old - shift)
            store(panel.m + w * vector, m)
            store(panel.l + w * vector, fma(load(panel.l + w * vector), alpha, exp2(sink - shift)))
            for e in range(p.E):
                at = panel.acc + e * line + w * vector
                store(at, load(at) * alpha)

    @compiled
    def keep_finite(p, rows, output, count, widened):
        """Keep the finite numbers of the rows that were written before: merge them into the new rows."""
        E, half = p.E, p.half
        before = output
        if half != NOT:
            before = StridedRows(widened, E * size, size)
            widen(half, output.at, output.token, 2, count, E, widened, E * size)
        for i in range(count):
            for e in range(E):
                at, new = before.at + i * before.token + e * size, rows + (i * E + e) * size
                x = load_scalar(at)
                if x - x == zero:
                    store_scalar(new, x)
                elif half == NOT:
                    store_scalar(at, load_scalar(new))

    @compiled
    def finish(p, work, panel, care):
        if p.sinks != 0:
            add_sink(p, panel)
        E, half, row, count = p.E, p.half, panel.row, panel.count
        in_place = half == NOT and care != SCALED_DOWN
        output = rows_from(head_of(p.output, panel.batch, panel.head), panel.first_query)
        target, apart = (output.at, output.token) if in_place else (work.rows, E * size)
        m, l, acc = panel.m, panel.l, panel.acc
        whole = E - E % lanes
        # x - x is 0 where x is finite and NaN where it isn't, and a sum with a NaN in it is NaN.
        unsound = splat(zero)
        for w in range(panel.vectors):
            total = load(l + w * vector)
            inverse = splat(one) / select(equal(total, splat(zero)), splat(one), total)
            if p.dropout.threshold != 0:
                inverse = inverse * splat(dtype(p.dropout.keep_factor))
            if care == SCALED_DOWN:
                inverse = inverse * splat(dtype(SCALE_UP))
            for e in range(E):
                x = load(acc + e * line + w * vector)
                unsound = unsound + (x - x)
            for e in range(whole, E):
                at = acc + e * line + w * vector
                store(at, load(at) * inverse)
            if w * lanes < count:
                to, rows_left = target + w * lanes * apart, min(lanes, count - w * lanes)
                for e in range(0, whole, lanes):
                    transpose(acc + e * line + w * vector, line, lanes, to + e * size, apart, rows_left, inverse)
        for i in range(count):
            for e in range(whole, E):
                store_scalar(target + i * apart + e * size, load_scalar(acc + e * line + i * size))
            store_scalar(p.m + (row + i) * size, load_scalar(m + i * size))
            store_scalar(p.l + (row + i) * size, load_scalar(l + i * size))
        if care == SCALED_DOWN:
            keep_finite(p, target, output, count, target + length * E * size)
        if half != NOT:
            narrow(half, target, apart, count, E, output.at, output.token)
        return not any_nonfinite(unsound)

    return Packing(prepare, finish)
