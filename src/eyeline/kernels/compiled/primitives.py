"""The primitives of a panel: computed from its stored scores once its rows' m and l are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.column_primitives import column_primitives
from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.memory import load_i8, load_i32, width
from eyeline.kernels.compiled.offset_ranges import offset_ranges
from eyeline.kernels.compiled.params import VISIT
from eyeline.kernels.compiled.programs import KEY_BLOCK, sizes
from eyeline.kernels.compiled.records import compiled, scores_at, visit_at
from eyeline.kernels.compiled.row_totals import row_totals
from eyeline.kernels.compiled.simd import any_nonfinite, equal, fma, magnitude, maximum, select
from eyeline.kernels.compiled.topk import topk
from eyeline.kernels.compiled.weight_factors import weight_factors

VISIT_BYTES = VISIT.itemsize


class PrimitiveFunctions(NamedTuple):
    """`begin_task(p, work, a, e)` and `end_task(p, work, batch, head, a, e)`: before and after a task, whose queries
    need only the keys [a, e); `read_panel(p, work, panel)`: all primitives of one panel, from its visited blocks of
    keys and their stored scores."""

    begin_task: object
    read_panel: object
    end_task: object


def primitives(dtype, lanes, most_vectors):
    """The primitives, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero, one, infinity = dtype(0), dtype(1), dtype(np.inf)
    least = dtype(-126 if dtype == np.float32 else -1022)
    take_totals = row_totals(dtype, lanes, most_vectors)
    begin_topk, take_best, write_topk = topk(dtype, lanes, most_vectors)
    _, multiply, _, add_weighed, rank, _ = weight_factors(dtype, lanes, most_vectors)
    add_offsets = offset_ranges(dtype, lanes, most_vectors).add_sums
    begin_columns, add_columns, end_columns, write_grid = column_primitives(dtype, lanes, most_vectors)

    @compiled
    def blank(at, lines):
        for at_line in range(at, at + lines * line, vector):
            store(at_line, splat(zero))

    @compiled
    def begin_panel(p, work, panel):
        """Load the m and l that normalise the weights, and clear the sums."""
        asked = p.primitives
        if asked.m != 0:
            offset = panel.row * size
            take_totals(asked.m + offset, asked.l + offset, panel.count, work.shift, work.inverse_l)
        else:
            take_totals(panel.m, panel.l, panel.count, work.shift, work.inverse_l)
        blank(work.row_log_weights, 1)
        blank(work.row_weights, 1)
        blank(work.row_distances, 1)
        if asked.row_bins != 0:
            blank(work.row_bins, asked.bins)
        if asked.row_offsets != 0:
            blank(work.row_offsets, asked.offset_ranges)
        if asked.grid_sums != 0:
            blank(work.grid_sums, asked.grid_columns)
        if asked.grid_maxima != 0:
            blank(work.grid_maxima, asked.grid_columns)

    @compiled
    def leave_out(p, work, panel):
        """Hide all keys from the rows that don't count: their weights are then 0, whatever their scores are."""
        counted, flags, left = p.primitives.counted + panel.batch * p.N + panel.first_query, work.threshold, 0
        for i in range(length):
            hidden = i < panel.count and load_i8(counted + min(i, panel.count - 1)) == 0
            store_scalar(flags + i * size, one if hidden else zero)
            if hidden:
                left += 1
                store_scalar(work.shift + i * size, zero)
                store_scalar(work.inverse_l + i * size, zero)
        if left == 0:
            return
        if left == panel.count:
            panel.visit_count = 0
        for number in range(panel.visit_count):
            visit = visit_at(panel.visits + number * VISIT_BYTES)
            for S in range(scores_at(panel, visit.a, line), scores_at(panel, visit.e, line), line):
                for w in range(panel.vectors):
                    counts = equal(load(flags + w * vector), splat(zero))
                    store(S + w * vector, select(counts, load(S + w * vector), splat(-infinity)))

    @compiled
    def weigh_again(p, work, panel, S, a, e):
        """Recompute the weights on the keys [a, e), and add them to the rows' log-weights and distances; if the panel
        has factors, `add_weighed` does that once they are multiplied."""
        P = work.P
        offset = panel.first_query + p.primitives.distance_offset - a
        for w in range(panel.vectors):
            shift, inverse = load(work.shift + w * vector), load(work.inverse_l + w * vector)
            log_weights, distances = splat(zero), splat(zero)
            spoiled = any_nonfinite(shift + inverse)
            for i in range(lanes):
                store_scalar(P + w * vector + i * size, dtype(offset + w * lanes + i))
            ahead = load(P + w * vector)
            for j in range(e - a):
                score = load(S + j * line + w * vector)
                below = score - shift
                weight = exp2(below) * inverse
                if spoiled:  # a hidden weight is 0 even in a row that is NaN
                    weight = select(equal(score, splat(-infinity)), splat(zero), weight)
                store(P + j * line + w * vector, weight)
                log_weights = fma(weight, maximum(splat(least), below), log_weights)
                distances = fma(weight, magnitude(ahead), distances)
                ahead = ahead - splat(one)
            if panel.factor_count != 0:
                continue
            at = work.row_log_weights + w * vector
            store(at, load(at) + log_weights)
            at = work.row_distances + w * vector
            store(at, load(at) + distances)
        if panel.factor_count != 0:
            multiply(p, panel, P, a, e)
            add_weighed(p, work, panel, S, a, e)

    @compiled
    def add_to_places(P, sums, places, vectors, a, e):
        """Add the weights on the keys [a, e) to the sums at these keys' places, columns of the grid."""
        for j in range(a, e):
            place = load_i32(places + j * 4)
            if place >= 0:
                for w in range(vectors):
                    at = sums + place * line + w * vector
                    store(at, load(at) + load(P + (j - a) * line + w * vector))

    @compiled
    def add_to_bins(P, sums, binned_keys, vectors, block, end, a, e):
        """Add the weights on the keys [a, e) of a block, which ends at `end`, to the sums of these keys' bins, bin by
        bin: in each, key by key."""
        for w in range(0, vectors, 2):  # two at once, of which each waits for its own sum
            near = w * vector
            far = min(w + 1, vectors - 1) * vector
            at, last = binned_keys + block * 8, binned_keys + end * 8
            while at < last:
                place = load_i32(at + 4)
                to = sums + place * line
                near_sum, far_sum = splat(zero), splat(zero)
                if place >= 0:
                    near_sum, far_sum = load(to + near), load(to + far)
                while at < last and load_i32(at + 4) == place:
                    key = load_i32(at)
                    if place >= 0 and a <= key < e:
                        source = P + (key - a) * line
                        near_sum, far_sum = near_sum + load(source + near), far_sum + load(source + far)
                    at += 8
                if place >= 0:
                    store(to + near, near_sum)
                    store(to + far, far_sum)

    @compiled
    def raise_places(P, maxima, places, vectors, a, e):
        """As `add_to_places`, for maxima."""
        for j in range(a, e):
            place = load_i32(places + j * 4)
            for w in range(vectors):
                at = maxima + place * line + w * vector
                store(at, maximum(load(P + (j - a) * line + w * vector), load(at)))

    @compiled
    def write_lines(p, panel, sums, lines, target):
        """Write so many lines of sums for the panel's queries to (B, H, lines, N), as they lie in the lanes."""
        count, query = panel.count, panel.first_query
        whole = count - count % lanes
        for c in range(lines):
            source, to = sums + c * line, target + ((panel.row - query) * lines + c * p.N + query) * size
            for i in range(0, whole, lanes):
                store(to + i * size, load(source + i * size))
            for i in range(whole, count):
                store_scalar(to + i * size, load_scalar(source + i * size))

    @compiled
    def write_rows(p, work, panel):
        """Write the primitives of single rows."""
        asked = p.primitives
        if asked.row_log_weights != 0:
            write_lines(p, panel, work.row_log_weights, 1, asked.row_log_weights)
        if asked.row_weights != 0:
            write_lines(p, panel, work.row_weights, 1, asked.row_weights)
        if asked.row_distances != 0:
            write_lines(p, panel, work.row_distances, 1, asked.row_distances)
        if asked.row_bins != 0:
            write_lines(p, panel, work.row_bins, asked.bins, asked.row_bins)
        if asked.row_offsets != 0:
            write_lines(p, panel, work.row_offsets, asked.offset_ranges, asked.row_offsets)

    @compiled
    def read_panel(p, work, panel):
        asked, P, vectors = p.primitives, work.P, panel.vectors
        begin_panel(p, work, panel)
        if asked.counted != 0:
            leave_out(p, work, panel)
        if asked.select != 0:
            begin_topk(p, work, panel)
        for number in range(panel.visit_count):
            visit = visit_at(panel.visits + number * VISIT_BYTES)
            a, e = visit.a, visit.e
            S = scores_at(panel, a, line)
            weigh_again(p, work, panel, S, a, e)
            if asked.select != 0 and panel.factor_count == 0:
                take_best(p, work, panel, S, a, e)
            add_columns(p, work, panel, a, e)
            if asked.row_bins != 0:
                block = a - a % KEY_BLOCK
                keys = asked.binned_keys + panel.batch * asked.binned_keys_batch
                add_to_bins(P, work.row_bins, keys, vectors, block, min(block + KEY_BLOCK, p.M), a, e)
            if asked.row_offsets != 0:
                add_offsets(asked, panel, P, work.row_offsets, a, e)
            if asked.grid_sums != 0:
                add_to_places(P, work.grid_sums, asked.grid_column_places, vectors, a, e)
            if asked.grid_maxima != 0:
                raise_places(P, work.grid_maxima, asked.grid_column_places, vectors, a, e)
            if asked.select != 0 and panel.factor_count != 0:
                rank(work, panel, S, e - a)
                take_best(p, work, panel, P, a, e)
        write_rows(p, work, panel)
        if asked.select != 0:
            write_topk(p, work, panel)
        if asked.grid_sums != 0 or asked.grid_maxima != 0:
            write_grid(p, work, panel)

    return PrimitiveFunctions(begin_columns, read_panel, end_columns)
