"""What a mask hides of a panel: scores set to -inf."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import load_i8, load_i32, store_i8, width, word
from eyeline.kernels.simd import below, maximum, select
from eyeline.kernels.words import ALLOWED, BOUNDS, INTERVALS, S_BOUNDS, S_FLAGS, S_TOPS, S_WEIGHTS, compiled, place


def hiding(dtype, lanes, most_vectors):
    """`narrowed`, `hide` and `highest`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_ints, splat_int, load_flags = (
        W.load,
        W.store,
        W.splat,
        W.load_ints,
        W.splat_int,
        W.load_flags,
    )
    _, step, length, line = sizes(dtype, lanes, most_vectors)
    infinity = dtype(np.inf)

    @compiled
    def narrowed(p, state, a, e):
        """The part of the keys [a, e) that some query's intervals touch."""
        first, last = e, a
        bounds = state + word(p, S_BOUNDS)
        for k in range(word(p, INTERVALS)):
            for i in range(length):
                begin = load_i32(bounds + (2 * k * length + i) * 4)
                end = begin + load_i32(bounds + ((2 * k + 1) * length + i) * 4)
                begin, end = max(begin, a), min(end, e)
                if begin < end:
                    first, last = min(first, begin), max(last, end)
        return first, last

    @compiled
    def hide(p, state, scratch, batch, head, first_query, count, vectors, a, e):
        """Set the scores of keys that a query may not look at to -inf."""
        scores = scratch + word(p, S_WEIGHTS)
        minus = splat(-infinity)
        if word(p, BOUNDS) != 0:
            bounds = state + word(p, S_BOUNDS)
            if word(p, INTERVALS) == 1:
                for w in range(vectors):
                    begin = load_ints(bounds + w * lanes * 4)
                    extent = load_ints(bounds + (length + w * lanes) * 4)
                    for j in range(a, e):
                        at = scores + (j - a) * line + w * step
                        seen = below(splat_int(np.int32(j)) - begin, extent)
                        store(at, select(seen, load(at), minus))
            else:
                for j in range(a, e):
                    for w in range(vectors):
                        at = scores + (j - a) * line + w * step
                        seen = below(splat_int(np.int32(0)), splat_int(np.int32(0)))
                        for k in range(word(p, INTERVALS)):
                            begin = load_ints(bounds + (2 * k * length + w * lanes) * 4)
                            extent = load_ints(bounds + ((2 * k + 1) * length + w * lanes) * 4)
                            seen = seen | below(splat_int(np.int32(j)) - begin, extent)
                        store(at, select(seen, load(at), minus))
        if word(p, ALLOWED) != 0:
            flags = scratch + word(p, S_FLAGS)
            source, token, column = place(p, ALLOWED, batch, head)
            for i in range(length):
                at = source + (first_query + min(i, count - 1)) * token
                for j in range(a, e):
                    store_i8(flags + (j - a) * length + i, load_i8(at + j * column))
            for j in range(e - a):
                for w in range(vectors):
                    at = scores + j * line + w * step
                    store(at, select(load_flags(flags + j * length + w * lanes), load(at), minus))

    @compiled
    def highest(p, scratch, vectors, n):
        """The largest of n keys' scores."""
        scores, tops = scratch + word(p, S_WEIGHTS), scratch + word(p, S_TOPS)
        for w in range(vectors):
            top = splat(-infinity)
            for j in range(n):
                top = maximum(top, load(scores + j * line + w * step))
            store(tops + w * step, top)

    return narrowed, hide, highest
