"""The matrix products of the backward pass, of any size, made of tiles."""

from __future__ import annotations

import math
from typing import NamedTuple

from eyeline.kernels.compiled.ladder import ladder
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import fma
from eyeline.kernels.compiled.tiles import plain_tile


class Matmul(NamedTuple):
    """`multiply`, `add_product` and `add_product_carefully`; see their docstrings."""

    multiply: object
    add_product: object
    add_product_carefully: object


class Lines(NamedTuple):
    """A matrix in a workspace whose rows fill whole vectors: its address, and the bytes from one row to the next."""

    at: int
    stride: int


def matmul(dtype, lanes, most_vectors, rows, added_rows):
    """Products, with tiles of `rows` rows, and with tiles of `added_rows` rows for products that are added."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar = W.load, W.store, W.splat, W.load_scalar
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero = dtype(0)
    hidden = dtype(-math.inf)
    tile = plain_tile(dtype, lanes, most_vectors, rows, added=False)
    tile_thin = plain_tile(dtype, lanes, 1, rows, added=False)
    rows_at_once, adding_tile = ladder(
        lambda vectors, count: plain_tile(dtype, lanes, vectors, count, added=True), added_rows, most_vectors
    )

    @compiled
    def multiply(A, count, B, n, C, vectors):
        """C[count][panel] = A[count][n] · B[n][panel]; A is `Lines`, B and C lie in lines of a panel. Up to `rows` - 1
        lines of C beyond the last are written as well."""
        for r in range(0, count, rows):
            at, to = A.at + r * A.stride, C + r * line
            if vectors == 1:
                tile_thin(at, A.stride, size, B, line, n, to, line, count - 1 - r)
            else:
                tile(at, A.stride, size, B, line, n, to, line, count - 1 - r)

    @compiled
    def add_product(A, count, B, n, C, columns):
        """C[count][columns] += A[count][n] · B[n][columns]; A is `StridedRows`, B and C are `Lines`. Columns up to the
        next whole vector are written as well."""
        for first in range(0, columns, length):
            thin = columns - first <= lanes
            r = 0
            while r < count:
                take = rows_at_once(count - r)
                to = C.at + r * C.stride + first * size
                adding_tile(
                    take, thin, A.at + r * A.token, A.token, A.column, B.at + first * size, B.stride, n, to, C.stride
                )
                r += take

    @compiled
    def add_product_carefully(A, marks, count, B, n, C, columns):
        """As `add_product`, but without hidden terms: those whose entry in `marks`, laid out as A, is the mark."""
        for r in range(count):
            for first in range(0, columns * size, vector):
                even, odd = splat(zero), splat(zero)
                for i in range(n):
                    at = r * A.token + i * A.column
                    if load_scalar(marks + at) != hidden:
                        factor, beside = splat(load_scalar(A.at + at)), load(B.at + i * B.stride + first)
                        if i % 2 == 0:
                            even = fma(factor, beside, even)
                        else:
                            odd = fma(factor, beside, odd)
                to = C.at + r * C.stride + first
                store(to, load(to) + (even + odd))

    return Matmul(multiply, add_product, add_product_carefully)
