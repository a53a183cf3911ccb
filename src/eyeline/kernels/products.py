"""The five products of the backward pass, of any size, made of tiles."""

from __future__ import annotations

from eyeline.kernels.layout import sizes
from eyeline.kernels.memory import width
from eyeline.kernels.simd import fma
from eyeline.kernels.tiles import plain_tile
from eyeline.kernels.words import compiled


def products(dtype, lanes, most_vectors, rows, added_rows):
    """`multiply`, `add_product` and `add_product_carefully`, on tiles of `rows` and of `added_rows` rows."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar = W.load, W.store, W.splat, W.load_scalar
    size, step, _, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    hidden = dtype(-1)
    tile = plain_tile(dtype, lanes, most_vectors, rows, added=False)
    tile_thin = plain_tile(dtype, lanes, 1, rows, added=False)
    most, some, one = (plain_tile(dtype, lanes, most_vectors, r, added=True) for r in added_rows)
    most_thin, some_thin, one_thin = (plain_tile(dtype, lanes, 1, r, added=True) for r in added_rows)
    r_most, r_some, _ = added_rows

    @compiled
    def multiply(a, row_stride, count, b, n, c, vectors):
        """C[count][panel] = A[count][n] · B[n][panel], numbers of a row of A side by side. Up to `rows` - 1 lines of C
        beyond the last are written as well."""
        for r in range(0, count, rows):
            at, to = a + r * row_stride, c + r * line
            if vectors == 1:
                tile_thin(at, row_stride, size, count - 1 - r, b, line, n, to, line)
            else:
                tile(at, row_stride, size, count - 1 - r, b, line, n, to, line)

    @compiled
    def add_product(a, row_stride, column_stride, count, b, b_stride, n, c, c_stride, columns):
        """C[count][columns] += A[count][n] · B[n][columns]; columns up to the next whole vector are written as well."""
        for begin in range(0, columns, most_vectors * lanes):
            thin = columns - begin <= lanes
            from_b = b + begin * size
            r = 0
            while r < count:
                left = count - r
                at, to = a + r * row_stride, c + r * c_stride + begin * size
                if left >= r_most and (left != 2 * r_some or r_most == 2 * r_some):
                    if thin:
                        most_thin(at, row_stride, column_stride, r_most, from_b, b_stride, n, to, c_stride)
                    else:
                        most(at, row_stride, column_stride, r_most, from_b, b_stride, n, to, c_stride)
                    r += r_most
                elif left >= r_some:
                    if thin:
                        some_thin(at, row_stride, column_stride, r_some, from_b, b_stride, n, to, c_stride)
                    else:
                        some(at, row_stride, column_stride, r_some, from_b, b_stride, n, to, c_stride)
                    r += r_some
                else:
                    if thin:
                        one_thin(at, row_stride, column_stride, 1, from_b, b_stride, n, to, c_stride)
                    else:
                        one(at, row_stride, column_stride, 1, from_b, b_stride, n, to, c_stride)
                    r += 1

    @compiled
    def add_product_carefully(a, marks, row_stride, column_stride, count, b, b_stride, n, c, c_stride, columns):
        """As `add_product`, but without the terms whose mark, a number that lies among `marks` as A's does in A, says
        that they are hidden."""
        for r in range(count):
            for begin in range(0, columns * size, step):
                even, odd = splat(zero), splat(zero)
                for i in range(n):
                    at = r * row_stride + i * column_stride
                    if load_scalar(marks + at) != hidden:
                        factor, beside = splat(load_scalar(a + at)), load(b + i * b_stride + begin)
                        if i % 2 == 0:
                            even = fma(factor, beside, even)
                        else:
                            odd = fma(factor, beside, odd)
                to = c + r * c_stride + begin
                store(to, load(to) + (even + odd))

    return multiply, add_product, add_product_carefully
