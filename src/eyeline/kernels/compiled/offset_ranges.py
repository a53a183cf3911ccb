"""The weight of each query on ranges of offsets j - i, and its gradient.

To a vector of queries, a key's offset is one less from lane to lane. So a range of offsets begins and ends one key
later from lane to lane: all keys between are in the range for every lane, and only those around its two ends need
masks.
"""

from __future__ import annotations

from typing import NamedTuple

from eyeline.kernels.compiled.memory import width, word
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import above, select


class OffsetRanges(NamedTuple):
    """`add_sums(asked, panel, P, sums, a, e)`: adds the weights P on the keys [a, e) to each range's sums, one line per
    range; `add_gradients(given, panel, own, dP, a, e)`: adds the gradients in these sums to dP, with a line at `own` to
    work with. Both need the params' primitives."""

    add_sums: object
    add_gradients: object


class RangeKeys(NamedTuple):
    """The keys [a, e) of a block that are in a range of offsets for some lane; for all lanes, if they are in [whole,
    part). The range of lane i is [low + i, low + i + extent)."""

    a: int
    e: int
    whole: int
    part: int
    low: int
    extent: int


def offset_ranges(dtype, lanes, most_vectors):
    """Ranges of offsets, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    lane_numbers = W.lane_numbers
    size, vector, _, line = sizes(dtype, lanes, most_vectors)
    zero, one = dtype(0), dtype(1)

    @compiled
    def first_range(edges, ranges, query, a):
        """The first range that doesn't end before the key a for all lanes, of which the first is this query."""
        r = 0
        while r < ranges and word(edges, r + 1) + query + lanes - 1 <= a:
            r += 1
        return r

    @compiled
    def keys_of(edges, r, query, a, e):
        # Edges beyond the block as if they were just beyond it, so that a number of the vector's type holds them.
        low, high = max(word(edges, r) + query, a - lanes), min(word(edges, r + 1) + query, e)
        begin, end = max(low, a), min(high + lanes - 1, e)
        whole, part = max(low + lanes - 1, begin), min(high, end)
        if whole >= part:
            whole, part = end, end
        return RangeKeys(begin, end, whole, part, low, high - low)

    @compiled
    def before(keys, j):
        """How many keys before its range each lane is at the key j: above 0 before it, above -extent in it."""
        return lane_numbers() + splat(dtype(keys.low - j))

    @compiled
    def inside(x, before, keys):
        """x in the lanes that are in the range, else 0."""
        begun = select(above(before, splat(zero)), splat(zero), x)
        return select(above(before, splat(dtype(-keys.extent))), begun, splat(zero))

    @compiled
    def add_sums(asked, panel, P, sums, a, e):
        edges, ranges = asked.offset_edges, asked.offset_ranges
        for w in range(panel.vectors):
            query = panel.first_query + w * lanes
            at = P + w * vector - a * line
            r = first_range(edges, ranges, query, a)
            while r < ranges and word(edges, r) + query < e:
                keys = keys_of(edges, r, query, a, e)
                # Two sums, of every other key: half the rounding, and half the wait for the sum before.
                this, other = splat(zero), splat(zero)
                left = before(keys, keys.a)
                for j in range(keys.a, keys.whole):
                    this, other = other, this + inside(load(at + j * line), left, keys)
                    left = left - splat(one)
                for j in range(keys.whole, keys.part):
                    this, other = other, this + load(at + j * line)
                left = before(keys, keys.part)
                for j in range(keys.part, keys.e):
                    this, other = other, this + inside(load(at + j * line), left, keys)
                    left = left - splat(one)
                to = sums + r * line + w * vector
                store(to, load(to) + (this + other))
                r += 1

    @compiled
    def add_gradients(given, panel, own, dP, a, e):
        edges, ranges = given.offset_edges, given.offset_ranges
        for w in range(panel.vectors):
            query, mine = panel.first_query + w * lanes, own + w * vector
            at = dP + w * vector - a * line
            r = first_range(edges, ranges, query, a)
            while r < ranges and word(edges, r) + query < e:
                for i in range(lanes):
                    row = panel.row + min(w * lanes + i, panel.count - 1)
                    store_scalar(mine + i * size, load_scalar(given.d_row_offsets + (row * ranges + r) * size))
                gradient, keys = load(mine), keys_of(edges, r, query, a, e)
                left = before(keys, keys.a)
                for j in range(keys.a, keys.e):
                    store(at + j * line, load(at + j * line) + inside(gradient, left, keys))
                    left = left - splat(one)
                r += 1

    return OffsetRanges(add_sums, add_gradients)
