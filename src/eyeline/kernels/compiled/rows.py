"""Copying rows of numbers between arrays and a workspace: as they are, or transposed so that rows lie in the lanes."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import any_nonfinite
from eyeline.kernels.compiled.transpose import transpose_tile


class RowFunctions(NamedTuple):
    """`take_rows`, `copy_row`, `clear` and `turn`; see their docstrings."""

    take_rows: object
    copy_row: object
    clear: object
    turn: object


@cache
def rows_of_numbers(dtype, lanes, most_vectors):
    """Rows, for panels of `most_vectors` · `lanes` of them."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, _, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    transpose = transpose_tile(dtype, lanes)

    @compiled
    def clear(target, length_in_bytes):
        """Set `length_in_bytes` bytes, a multiple of a vector's, to 0."""
        for at in range(target, target + length_in_bytes, vector):
            store(at, splat(zero))

    @compiled
    def copy_row(source, column, count, target):
        """Copy `count` numbers that lie `column` bytes apart to contiguous memory."""
        whole = 0
        if column == size:
            whole = count - count % lanes
            for d in range(0, whole * size, vector):
                store(target + d, load(source + d))
        for d in range(whole, count):
            store_scalar(target + d * size, load_scalar(source + d * column))

    @compiled
    def take_rows(matrix, count, factors, columns, target, target_line):
        """Copy `count` rows of `columns` numbers into lines, padding the last vector of each with zeros. Returns
        whether all are finite.

        If `factors` isn't 0, it is the address of one number per row; a row whose number is 0 becomes zeros.
        """
        # x - x is 0 where x is finite and NaN where it isn't, and a sum with a NaN in it is NaN.
        unsound = splat(zero)
        filled = (columns + lanes - 1) // lanes * vector
        for i in range(count):
            to = target + i * target_line
            if factors != 0 and load_scalar(factors + i * size) == zero:
                clear(to, filled)
                continue
            if columns % lanes != 0:
                store(to + filled - vector, splat(zero))
            copy_row(matrix.at + i * matrix.token, matrix.column, columns, to)
            for d in range(0, filled, vector):
                x = load(to + d)
                unsound = unsound + (x - x)
        return not any_nonfinite(unsound)

    @compiled
    def turn(matrix, count, vectors, columns, factor, target):
        """Transpose `count` rows of `columns` numbers, times a factor, into the lanes of a panel's `vectors` vectors:
        number d of row i goes to line d, lane i. Lanes beyond the last row repeat it."""
        at, token, column = matrix
        whole = 0
        if column == size:
            whole = columns - columns % lanes
            for g in range(0, vectors * lanes, lanes):
                last = max(min(lanes - 1, count - 1 - g), 0)
                source = at + min(g, count - 1) * token
                for d in range(0, whole, lanes):
                    to = target + d * line + g * size
                    transpose(source + d * size, token, last, to, line, lanes, splat(factor))
        for d in range(whole, columns):
            for i in range(vectors * lanes):
                x = load_scalar(at + min(i, count - 1) * token + d * column)
                store_scalar(target + d * line + i * size, x * factor)

    return RowFunctions(take_rows, copy_row, clear, turn)
