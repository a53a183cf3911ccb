"""Decoding's weighted sums of values, with value columns in the lanes: the same bits as `panel` and `packing`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.compiled.decode_tiles import values_tile
from eyeline.kernels.compiled.elementary import exp2
from eyeline.kernels.compiled.half_precision import half_precision
from eyeline.kernels.compiled.ladder import ladder
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import SCORES_APART
from eyeline.kernels.compiled.records import compiled, head_of, rows_from
from eyeline.kernels.compiled.simd import any_nonfinite, equal, fma, maximum, select

NOT = int(Half.NOT)


class DecodeValues(NamedTuple):
    """`clear(p, work)`: sets the sums to 0; `add_values(p, work, V, n, few, first, last, ahead)`: adds the columns
    [first, last) of n keys' values, times the weights, to the rows' sums, prefetching values `ahead` bytes on; `first`
    is a multiple of `lanes`, and so is `last` unless it is the end; `finish(p, work, batch, key_head, first, last)`:
    divides by l, writes the rows' columns, and returns whether all of them are finite."""

    clear: object
    add_values: object
    finish: object


class Prefetch(NamedTuple):
    """A tile's prefetching: the address, the bytes of each row, and the bytes from one row to the next."""

    at: int
    width: int
    row: int


def decode_values(dtype, lanes, row_counts):
    """Sums of values, with `lanes` value columns in a vector and tiles of `row_counts` rows."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size = np.dtype(dtype).itemsize
    vector, wide = lanes * size, 2 * lanes
    zero, one, infinity = dtype(0), dtype(1), dtype(np.inf)
    rows_at_once, tile = ladder(lambda vectors, rows: values_tile(dtype, lanes, rows, vectors), row_counts, 2)
    narrow = half_precision(dtype, lanes).narrow

    @compiled
    def clear(p, work):
        vectors = p.N * p.group * -(-p.E // lanes)
        for w in range(vectors):
            store(work.acc + w * vector, splat(zero))

    @compiled
    def add_columns(work, rows, few, values, token, n, acc, acc_line, thin, prefetch):
        """Add the rows' weighted values to two vectors of columns, or one if `thin`."""
        r, line, wanted = 0, few * size, prefetch.at
        while r < rows:
            at = work.P + (r // few * SCORES_APART * few + r % few) * size
            to, alpha = acc + r * acc_line, work.alpha + r * size
            take = rows_at_once(min(rows - r, few - r % few))
            tile(take, thin, at, line, values, token, n, to, acc_line, alpha, wanted, prefetch.width, prefetch.row)
            r += take
            wanted = work.P  # the first tile has prefetched everything

    @compiled
    def add_values(p, work, V, n, few, first, last, ahead):
        rows, tail, token = p.N * p.group, work.tail, V.token
        whole, acc_line = last - last % lanes, -(-p.E // lanes) * vector
        c = first
        while c < whole:
            thin = whole - c < wide
            # Of the rows to prefetch, the share that these columns are of all.
            wanted = V.at + first * size + (ahead + (c - first) * n // (last - first)) * token
            prefetch = Prefetch(wanted, (last - first) * size, token)
            add_columns(work, rows, few, V.at + c * size, token, n, work.acc + c * size, acc_line, thin, prefetch)
            c += lanes if thin else wide
        if whole < last:
            # Reading whole vectors here would read beyond the row.
            for j in range(n):
                store(tail + j * vector, splat(zero))
                for c in range(whole, last):
                    store_scalar(tail + j * vector + (c - whole) * size, load_scalar(V.at + j * token + c * size))
            to = work.acc + whole * size
            add_columns(work, rows, few, tail, vector, n, to, acc_line, True, Prefetch(tail, vector, vector))

    @compiled
    def add_sinks(p, work, key_head):
        """Add each head's sink to l."""
        across, passing = -(-p.E // lanes), work.spread
        for r in range(p.N * p.group):
            sink = splat(load_scalar(p.sinks + (key_head * p.group + r // p.N) * size))
            m_old, total = splat(load_scalar(work.m + r * size)), splat(load_scalar(work.l + r * size))
            m = maximum(sink, m_old)
            shift = select(equal(m, splat(-infinity)), splat(zero), m)
            alpha = exp2(m_old - shift)
            store(passing, m)
            store_scalar(work.m + r * size, load_scalar(passing))
            store(passing, fma(total, alpha, exp2(sink - shift)))
            store_scalar(work.l + r * size, load_scalar(passing))
            for w in range(across):
                at = work.acc + (r * across + w) * vector
                store(at, load(at) * alpha)

    @compiled
    def write_row(p, work, r, output, first, last, inverse):
        """Write a row's columns [first, last), times the inverse of l."""
        E, half, whole = p.E, p.half, last - last % lanes
        source = work.acc + r * -(-E // lanes) * vector
        target = output if half == NOT else work.rows
        for e in range(first, whole, lanes):
            store(target + e * size, load(source + e * size) * splat(inverse))
        for e in range(whole, last):
            store_scalar(target + e * size, load_scalar(source + e * size) * inverse)
        if half != NOT:
            narrow(half, target + first * size, E * size, 1, last - first, output + first * 2, E * 2)

    @compiled
    def finish(p, work, batch, key_head, first, last):
        if p.sinks != 0:
            add_sinks(p, work, key_head)
        first_row, acc_line = (batch * p.H + key_head * p.group) * p.N, -(-p.E // lanes) * vector
        # x - x is 0 where x is finite and NaN where it isn't, and a sum with a NaN in it is NaN.
        unsound = splat(zero)
        for r in range(p.N * p.group):
            row, total = first_row + r, load_scalar(work.l + r * size)
            for e in range(first, last, lanes):
                x = load(work.acc + r * acc_line + e * size)
                unsound = unsound + (x - x)
            output = rows_from(head_of(p.output, batch, key_head * p.group + r // p.N), r % p.N).at
            write_row(p, work, r, output, first, last, one / (one if total == zero else total))
            if first == 0:
                store_scalar(p.m + row * size, load_scalar(work.m + r * size))
                store_scalar(p.l + row * size, total)
        return not any_nonfinite(unsound)

    return DecodeValues(clear, add_values, finish)
