"""Primitives over several queries: sums and maxima of columns, and of the cells of a grid.

All threads add to them in any order, so they are sums in fixed point, where order doesn't matter: the bits are the same
however the work was shared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyeline.kernels.compiled.memory import add_to, load_i32, raise_to, store_i8, store_word, width, word
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import largest, maximum, total
from eyeline.kernels.compiled.transpose import column_sums_tile


class ColumnPrimitives(NamedTuple):
    """`begin_columns(p, work, a, e)` and `end_columns(p, work, batch, head, a, e)`: before and after a task, whose
    queries need only the keys [a, e); `add_columns(p, work, panel, a, e)`: adds the weights P on the keys [a, e),
    summed over the panel's queries; `write_grid(p, work, panel)`: adds the panel's sums for each column of the grid to
    the grid's cells."""

    begin_columns: object
    add_columns: object
    end_columns: object
    write_grid: object


def column_primitives(dtype, lanes, most_vectors):
    """Columns and grids, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, load_scalar, store_scalar = W.load, W.load_scalar, W.store_scalar
    size, vector, _, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    totals = column_sums_tile(dtype, lanes, most_vectors, most_vectors)
    totals_thin = column_sums_tile(dtype, lanes, most_vectors, 1)

    @compiled
    def in_units(x, units):
        """x in fixed point."""
        return np.int64(np.float64(x) * np.float64(units) + 0.5)

    @compiled
    def begin_columns(p, work, a, e):
        """Clear the sums and maxima of an earlier task."""
        if p.primitives.column_sums != 0:
            for j in range(a, e):
                store_word(work.column_sums + j * 8, 0)
        if p.primitives.column_maxima != 0:
            for j in range(a, e):
                store_scalar(work.column_maxima + j * size, zero)

    @compiled
    def add_sums(p, work, panel, a, e):
        P, sums, vectors = work.P, work.column_sums, panel.vectors
        units = word(p.primitives.units, panel.batch * p.H + panel.head)
        whole = 0
        while whole + lanes <= e - a:
            at, to = P + whole * line, sums + (a + whole) * 8
            finite = totals_thin(at, to, units) if vectors == 1 else totals(at, to, units)
            if not finite:
                break
            whole += lanes
        spoiled = p.primitives.column_spoiled + (panel.batch * p.H + panel.head) * p.M
        for j in range(whole, e - a):
            added = load(P + j * line)
            for w in range(1, vectors):
                added = added + load(P + j * line + w * vector)
            x, at = total(added), sums + (a + j) * 8
            if x == x:
                store_word(at, word(at, 0) + in_units(x, units))
            else:
                store_i8(spoiled + a + j, 1)

    @compiled
    def raise_maxima(work, panel, a, e):
        P, maxima, vectors = work.P, work.column_maxima, panel.vectors
        for j in range(e - a):
            highest = load(P + j * line)
            for w in range(1, vectors):
                highest = maximum(load(P + j * line + w * vector), highest)
            at = maxima + (a + j) * size
            x, y = load_scalar(at), largest(highest)
            store_scalar(at, x if y < x else y)

    @compiled
    def add_columns(p, work, panel, a, e):
        if p.primitives.column_sums != 0:
            add_sums(p, work, panel, a, e)
        if p.primitives.column_maxima != 0:
            raise_maxima(work, panel, a, e)

    @compiled
    def end_columns(p, work, batch, head, a, e):
        """Add the task's sums per key to the shared results."""
        first = (batch * p.H + head) * p.M
        if p.primitives.column_sums != 0:
            for j in range(a, e):
                units = word(work.column_sums, j)
                if units != 0:
                    add_to(p.primitives.column_sums + (first + j) * 8, units)
        if p.primitives.column_maxima != 0:
            for j in range(a, e):
                x = load_scalar(work.column_maxima + j * size)
                raise_to(p.primitives.column_maxima + (first + j) * size, x)

    @compiled
    def write_cell(p, work, cell, units, column, i, end):
        """Add the weights of the panel's queries [i, end), all in one row of the grid, to the cell in a column."""
        if p.primitives.grid_sums != 0:
            x = zero
            for lane in range(i, end):
                x += load_scalar(work.grid_sums + column * line + lane * size)
            if x == x:
                add_to(p.primitives.grid_sums + cell * 8, in_units(x, units))
            else:
                store_i8(p.primitives.grid_spoiled + cell, 1)
        if p.primitives.grid_maxima != 0:
            x = zero
            for lane in range(i, end):
                y = load_scalar(work.grid_maxima + column * line + lane * size)
                x = x if y < x else y
            raise_to(p.primitives.grid_maxima + cell * size, x)

    @compiled
    def write_grid(p, work, panel):
        """Add the panel to the grid, row by row of the grid."""
        rows, columns, count = p.primitives.grid_rows, p.primitives.grid_columns, panel.count
        group = panel.batch * p.H + panel.head
        first_row, units = group * rows, word(p.primitives.units, group)
        places = p.primitives.grid_row_places + panel.first_query * 4
        i = 0
        while i < count:
            row = load_i32(places + i * 4)
            end = i + 1
            while end < count and load_i32(places + end * 4) == row:
                end += 1
            for column in range(columns):
                write_cell(p, work, (first_row + row) * columns + column, units, column, i, end)
            i = end

    return ColumnPrimitives(begin_columns, add_columns, end_columns, write_grid)
