"""Masking of a panel: the scores of hidden pairs set to -inf."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.memory import call, load_i8, load_i32, store_i8, store_word, width, word
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import KeyRange, compiled, head_of
from eyeline.kernels.compiled.simd import below, select
from eyeline.kernels.compiled.transpose import turn_flags

#: Eight flags, all set.
ALL_SET = 0x0101010101010101


class Masking(NamedTuple):
    """`take_cuts(p, panel)`: finds the kinds of hidden pairs of the panel's rows; `visible_keys(p, work, panel, a, e)`:
    the range of the keys [a, e), all of one block, that the panel needs; `hide(p, work, panel, S, keys)`: sets the
    scores of hidden pairs at S to -inf, and returns whether there can be any."""

    take_cuts: object
    visible_keys: object
    hide: object


@cache
def masking(dtype, lanes, most_vectors):
    """Masks, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_ints, splat_int, load_flags = (
        W.load,
        W.store,
        W.splat,
        W.load_ints,
        W.splat_int,
        W.load_flags,
    )
    _, vector, length, line = sizes(dtype, lanes, most_vectors)
    infinity = dtype(np.inf)

    @compiled
    def take_cuts(p, panel):
        source, token, _ = head_of(p.cuts.kinds, panel.batch, panel.head)
        source += panel.first_query * token
        kinds, found = panel.cut_kinds, 0
        for i in range(panel.count):
            kind = load_i32(source + i * token)
            if kind == 0:
                continue
            number = 0
            while number < found and word(kinds, number) != kind:
                number += 1
            rows = panel.cut_rows + number * length
            if number == found:
                found += 1
                store_word(kinds + number * 8, kind)
                for at in range(rows, rows + length):
                    store_i8(at, 0)
            store_i8(rows + i, 1)
        panel.cut_count = found

    @compiled
    def hide_cuts(p, panel, S, a, e):
        """Hide the cut pairs on the keys [a, e); returns whether there are any."""
        any_cut, vectors = False, panel.vectors
        for number in range(panel.cut_count):
            columns, rows = p.cuts.columns + word(panel.cut_kinds, number) * p.M, panel.cut_rows + number * length
            for j in range(a, e):
                if load_i8(columns + j) != 0:
                    any_cut = True
                    for w in range(vectors):
                        at = S + (j - a) * line + w * vector
                        store(at, select(load_flags(rows + w * lanes), splat(-infinity), load(at)))
        return any_cut

    @compiled
    def narrowed(p, panel, a, e):
        """The range of the keys [a, e) that any query's intervals overlap."""
        first, last = e, a
        bounds = panel.bounds
        for k in range(p.mask.intervals):
            for i in range(length):
                begin = load_i32(bounds + (2 * k * length + i) * 4)
                end = begin + load_i32(bounds + ((2 * k + 1) * length + i) * 4)
                begin, end = max(begin, a), min(end, e)
                if begin < end:
                    first, last = min(first, begin), max(last, end)
        return first, last

    @compiled
    def set_flags(p, work, panel, a, e):
        """Set the flags of pairs that the booleans and the user's rules allow, for the keys [a, e). Returns 0 if none
        is allowed, 1 if some are, 2 if all are."""
        flags, n, count = work.flags, e - a, panel.count
        if p.mask.allowed.address != 0:
            source, token, column = head_of(p.mask.allowed, panel.batch, panel.head)
            source += panel.first_query * token + a * column
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
                store_word(at, ALL_SET)
        number = p.first_query + panel.first_query
        for k in range(p.mask.rule_count):
            call(word(p.mask.rules, k), flags, length, panel.batch, panel.head, number, count, a, e)
        every, any_ = word(flags, 0), word(flags, 0)
        for at in range(flags, flags + n * length, 8):
            every, any_ = every & word(at, 0), any_ | word(at, 0)
        # Flags beyond `count` don't matter: each equals the last query's, or is 1.
        return 2 if every == ALL_SET else 1 if any_ != 0 else 0

    @compiled
    def visible_keys(p, work, panel, a, e):
        """The range begins at an even key, since even and odd terms are summed apart; it is empty unless a < e."""
        a, e = max(a, panel.first_key), min(e, panel.end_key)
        if a < e and p.mask.bounds.address != 0 and p.mask.intervals > 1:
            a, e = narrowed(p, panel, a, e)
        if a >= e:
            return KeyRange(0, 0, False)
        a -= a % 2
        if p.mask.allowed.address == 0 and p.mask.rule_count == 0:
            return KeyRange(a, e, False)
        found = set_flags(p, work, panel, a, e)
        return KeyRange(a, 0 if found == 0 else e, found != 2)

    @compiled
    def hide_masked(p, work, panel, S, keys):
        """Hide pairs by the intervals, and by the flags if there are any."""
        minus, vectors = splat(-infinity), panel.vectors
        a, e = keys.a, keys.e
        if not keys.flagged and a >= panel.full_first and e <= panel.full_end:
            return False
        if p.mask.bounds.address != 0:
            bounds = panel.bounds
            if p.mask.intervals == 1:
                # Keys that all queries may look at need no masking.
                full_first, full_end = panel.full_first, panel.full_end
                if full_first >= full_end:
                    full_first = full_end = e
                for w in range(vectors):
                    begin = load_ints(bounds + w * lanes * 4)
                    extent = load_ints(bounds + (length + w * lanes) * 4)
                    for first, last in ((a, min(e, full_first)), (max(a, full_end), e)):
                        for j in range(first, last):
                            at = S + (j - a) * line + w * vector
                            seen = below(splat_int(np.int32(j)) - begin, extent)
                            store(at, select(seen, load(at), minus))
            else:
                for j in range(a, e):
                    for w in range(vectors):
                        at = S + (j - a) * line + w * vector
                        seen = below(splat_int(np.int32(0)), splat_int(np.int32(0)))
                        for k in range(p.mask.intervals):
                            begin = load_ints(bounds + (2 * k * length + w * lanes) * 4)
                            extent = load_ints(bounds + ((2 * k + 1) * length + w * lanes) * 4)
                            seen = seen | below(splat_int(np.int32(j)) - begin, extent)
                        store(at, select(seen, load(at), minus))
        if keys.flagged:
            flags = work.flags
            for j in range(e - a):
                for w in range(vectors):
                    at = S + j * line + w * vector
                    store(at, select(load_flags(flags + j * length + w * lanes), load(at), minus))
        return True

    @compiled
    def hide(p, work, panel, S, keys):
        hidden = panel.cut_count != 0 and hide_cuts(p, panel, S, keys.a, keys.e)
        return hide_masked(p, work, panel, S, keys) or hidden

    return Masking(take_cuts, visible_keys, hide)
