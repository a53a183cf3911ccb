"""What a mask hides of a panel: scores set to -inf."""

from __future__ import annotations

import numpy as np

from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import call, load_i8, load_i32, store_i8, store_word, width, word
from eyeline.kernels.simd import below, maximum, select
from eyeline.kernels.tiles import turn_flags
from eyeline.kernels.words import (
    ALLOWED,
    BOUNDS,
    FIRST_QUERY,
    INTERVALS,
    RULE_COUNT,
    RULES,
    S_BOUNDS,
    S_FLAGS,
    S_RANGE,
    S_TOPS,
    compiled,
    place,
)


def hiding(dtype, lanes, most_vectors):
    """`narrowed`, `flag`, `hide` and `highest`, for panels of `most_vectors` · `lanes` queries."""
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
    def flag(p, scratch, batch, head, first_query, count, a, e):
        """Note which of the keys [a, e) a query may look at by the booleans and the user's own rules. Returns whether
        there are none (0), some (1) or all (2)."""
        flags, n = scratch + word(p, S_FLAGS), e - a
        if word(p, ALLOWED) != 0:
            source, token, column = place(p, ALLOWED, batch, head)
            source += first_query * token + a * column
            whole = n - n % 16 if column == 1 and length % 16 == 0 else 0
            for i in range(0, length, 16):
                first = min(i, count - 1)
                last = max(min(15, count - 1 - i), 0)
                for j in range(0, whole, 16):
                    turn_flags(source + first * token + j, token, last, flags + j * length + i, length)
            for i in range(length):
                at = source + min(i, count - 1) * token
                for j in range(whole, n):
                    store_i8(flags + j * length + i, load_i8(at + j * column))
        else:
            for at in range(flags, flags + n * length, 8):
                store_word(at, 0x0101010101010101)
        number = word(p, FIRST_QUERY) + first_query
        for k in range(word(p, RULE_COUNT)):
            call(word(word(p, RULES), k), flags, length, batch, head, number, count, a, e)
        every, any_ = word(flags, 0), word(flags, 0)
        for at in range(flags, flags + n * length, 8):
            every, any_ = every & word(at, 0), any_ | word(at, 0)
        # What isn't filled beyond `count` doesn't matter: there every flag is as the last query's, or 1.
        return 2 if every == 0x0101010101010101 else 1 if any_ != 0 else 0

    @compiled
    def hide(p, state, scratch, scores, vectors, a, e, flagged):
        """Set the scores of keys that a query may not look at to -inf: by intervals, and by the flags if `flagged`."""
        minus = splat(-infinity)
        if word(p, BOUNDS) != 0:
            bounds = state + word(p, S_BOUNDS)
            if word(p, INTERVALS) == 1:
                # What all queries may see needs no look.
                ranges = state + word(p, S_RANGE)
                full_first, full_last = word(ranges, 2), word(ranges, 3)
                if full_first >= full_last:
                    full_first = full_last = e
                for w in range(vectors):
                    begin = load_ints(bounds + w * lanes * 4)
                    extent = load_ints(bounds + (length + w * lanes) * 4)
                    for first, last in ((a, min(e, full_first)), (max(a, full_last), e)):
                        for j in range(first, last):
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
        if flagged:
            flags = scratch + word(p, S_FLAGS)
            for j in range(e - a):
                for w in range(vectors):
                    at = scores + j * line + w * step
                    store(at, select(load_flags(flags + j * length + w * lanes), load(at), minus))

    @compiled
    def highest(p, scratch, scores, vectors, n):
        """The largest of n keys' scores."""
        tops = scratch + word(p, S_TOPS)
        for w in range(vectors):
            top = splat(-infinity)
            for j in range(n):
                top = maximum(top, load(scores + j * line + w * step))
            store(tops + w * step, top)

    return narrowed, flag, hide, highest
