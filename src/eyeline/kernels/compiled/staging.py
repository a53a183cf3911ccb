"""Staging of the backward pass: copies a stripe of keys and a block of queries to the workspace, and gradients back."""

from __future__ import annotations

from typing import NamedTuple

from eyeline.kernels.compiled.memory import load_i32, store_word, width
from eyeline.kernels.compiled.packing import packing
from eyeline.kernels.compiled.programs import KEY_BLOCK, sizes
from eyeline.kernels.compiled.records import compiled, head_of, rows_from
from eyeline.kernels.compiled.row_totals import row_totals
from eyeline.kernels.compiled.rows import rows_of_numbers
from eyeline.kernels.compiled.simd import equal, fma, select


class Staging(NamedTuple):
    """`take_queries(p, work, batch, head, first_query, count, first_of_all)`: copies in a block of queries, and returns
    whether all rows with a visible key are finite; with `first_of_all`, it also writes their delta. `take_keys(p, work,
    batch, key_head, begin, end)`: copies in a stripe of keys and values; `write_keys`, likewise: writes its gradients.
    """

    take_queries: object
    take_keys: object
    write_keys: object


def staging(dtype, lanes, vectors):
    """Staging, with queries in panels of `vectors` · `lanes`."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, length, line = sizes(dtype, lanes, vectors)
    zero, one = dtype(0), dtype(1)
    prepare = packing(dtype, lanes, vectors).prepare
    take_rows, copy_row, clear, turn = rows_of_numbers(dtype, lanes, vectors)
    take_totals = row_totals(dtype, lanes, vectors)

    @compiled
    def forget_blind_rows(p, panel):
        """Set 1 / l to 0 for rows that may look at nothing, although a sink gives them an l."""
        at, token, _ = rows_from(head_of(p.mask.bounds, panel.batch, panel.head), panel.first_query)
        for i in range(panel.count):
            sees = False
            for k in range(p.mask.intervals):
                sees = sees or load_i32(at + i * token + 8 * k) < load_i32(at + i * token + 8 * k + 4)
            if not sees:
                store_scalar(panel.l + i * size, zero)

    @compiled
    def find_delta(p, work, panel, delta):
        """delta = Σ_e output · d_output, which is Σ_j P dP, plus the terms of primitives and lse; 0 for a row that may
        look at nothing."""
        extra = work.row_gradients
        if p.extra_delta != 0:
            for i in range(length):
                x = load_scalar(p.extra_delta + (panel.row + min(i, panel.count - 1)) * size)
                store_scalar(extra + i * size, x)
        for w in range(panel.vectors):
            even, odd = splat(zero), splat(zero)
            for e in range(p.E):
                x = load(work.output + e * line + w * vector)
                gradient = load(panel.acc + e * line + w * vector)
                # An output of 0, as in a row that may look at nothing, gives 0 even if the gradient is NaN.
                if e % 2 == 0:
                    even = select(equal(x, splat(zero)), even, fma(x, gradient, even))
                else:
                    odd = select(equal(x, splat(zero)), odd, fma(x, gradient, odd))
            total = even + odd
            if p.extra_delta != 0:
                total = total + load(extra + w * vector)
            nothing = equal(load(panel.l + w * vector), splat(zero))
            store(delta + w * vector, select(nothing, splat(zero), total))

    @compiled
    def take_panel(p, work, slot, batch, head, first_query, count, first_of_all):
        """Copy in one panel of a block's queries: what `prepare` packs, the gradient in the output (transposed), m, 1 /
        l, and delta."""
        panel = prepare(p, work, slot, batch, head, first_query, count)
        row = panel.row
        take_totals(p.m + row * size, p.l + row * size, count, panel.m, panel.l)
        if p.mask.bounds.address != 0:
            forget_blind_rows(p, panel)
        d_output = rows_from(head_of(p.d_output, batch, head), first_query)
        turn(d_output, count, panel.vectors, p.E, one, panel.acc)
        output = rows_from(head_of(p.output, batch, head), first_query)
        turn(output, count, panel.vectors, p.E, one, work.output)
        delta = work.delta + slot * line
        find_delta(p, work, panel, delta)
        if p.preliminary == 0 and first_of_all:
            for i in range(count):
                store_scalar(p.delta + (row + i) * size, load_scalar(delta + i * size))
        return panel

    @compiled
    def take_queries(p, work, batch, head, first_query, count, first_of_all):
        finite = True
        for g in range(0, count, length):
            n, first = min(length, count - g), first_query + g
            panel = take_panel(p, work, g // length, batch, head, first, n, first_of_all)
            queries, d_output = (
                rows_from(head_of(p.q, batch, head), first),
                rows_from(head_of(p.d_output, batch, head), first),
            )
            # A row whose 1 / l is 0 contributes to no key.
            finite &= take_rows(queries, n, panel.l, p.D, work.q + g * p.line_d, p.line_d)
            finite &= take_rows(d_output, n, panel.l, p.E, work.d_output + g * p.line_e, p.line_e)
        return finite

    @compiled
    def here(p, a, e):
        """The keys [a, e) without those outside the arrays."""
        first = max(a, p.first_key)
        return first, max(first, min(e, p.first_key + p.keys_here))

    @compiled
    def take_keys(p, work, batch, key_head, begin, end):
        """Keys outside the arrays become zeros; all gradients begin with 0."""
        K, V = head_of(p.k, batch, key_head), head_of(p.v, batch, key_head)
        first, last = here(p, begin, end)
        if last - first < end - begin:
            clear(work.keys, (end - begin) * p.line_d)
            clear(work.values, (end - begin) * p.line_e)
        for a in range(begin, end, KEY_BLOCK):
            first, last = here(p, a, min(a + KEY_BLOCK, end))
            n, place = last - first, first - begin
            finite = take_rows(rows_from(K, first), n, 0, p.D, work.keys + place * p.line_d, p.line_d)
            finite &= take_rows(rows_from(V, first), n, 0, p.E, work.values + place * p.line_e, p.line_e)
            store_word(work.finite + (a - begin) // KEY_BLOCK * 8, 1 if finite else 0)
        clear(work.dk, (end - begin) * p.line_d)
        clear(work.dv, (end - begin) * p.line_e)

    @compiled
    def write_keys(p, work, batch, key_head, begin, end):
        first, last = here(p, begin, end)
        row = (batch * p.G + key_head) * p.keys_here + first - p.first_key
        from_dk, from_dv = work.dk + (first - begin) * p.line_d, work.dv + (first - begin) * p.line_e
        for j in range(last - first):
            copy_row(from_dk + j * p.line_d, size, p.D, p.dk + (row + j) * p.D * size)
            copy_row(from_dv + j * p.line_e, size, p.E, p.dv + (row + j) * p.E * size)

    return Staging(take_queries, take_keys, write_keys)
