"""The inner tiles of the matrix products, in LLVM IR.

Queries lie in the lanes. A *panel* is `vectors · lanes` queries, packed [D][panel] so that each of its lines is a few
vectors; keys and values are read in place, one number at a time, each broadcast to all lanes:

    scores[key][query] = Σ_d k[key][d] · q[d][query]          products: rows are keys, the sum runs over d
    out[e][query]      = Σ_key v[key][e] · w[key][query]      products: rows are value columns, the sum runs over keys

Both are C[rows][panel] = A[rows][n] · B[n][panel], kept in registers. Each lane sums the even and the odd terms
separately, in order, with one rounding per term, and adds the two sums: half the accumulated roundings of a single sum,
at no cost. A query's bits depend neither on the tile nor on the vector width.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled import webassembly_tiles
from eyeline.kernels.compiled.phi_nodes import come_from, phis
from eyeline.kernels.compiled.simd import ELEMENTS, I64, fma_value, for_webassembly, maximum_value, pointer, splat_value


def _row_addresses(builder, a, stride, rows, last_row=None):
    """The address of each row of A; rows beyond the last read it again."""
    if last_row is None:
        return [builder.add(a, builder.mul(I64(r), stride)) for r in range(rows)]
    clamped = [builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row) for r in range(rows)]
    return [builder.add(a, builder.mul(row, stride)) for row in clamped]


def _step(builder, llvm, lanes, vectors, row_addresses, offset, b_at, sums):
    """One column of A, `offset` bytes on, times one line of B: added to the sums, row by row."""
    vector = ir.VectorType(llvm, lanes)
    size = 4 if isinstance(llvm, ir.FloatType) else 8
    bs = [builder.load(pointer(builder, b_at, vector, w * lanes * size), align=size) for w in range(vectors)]
    spread = [
        splat_value(builder, builder.load(pointer(builder, builder.add(at, offset), llvm), align=size), lanes)
        for at in row_addresses
    ]
    places = [(factor, b) for factor in spread for b in bs]
    return [fma_value(builder, factor, b, total) for (factor, b), total in zip(places, sums, strict=True)]


def _products(builder, llvm, lanes, vectors, row_addresses, column_stride, b, b_stride, n):
    """A[rows][n] · B[n][vectors·lanes], row by row, as vectors: the sum of the even terms plus that of the odd ones."""
    vector = ir.VectorType(llvm, lanes)
    zero = ir.Constant(vector, [0.0] * lanes)
    count = len(row_addresses) * vectors

    def step_on(offset, b_at, sums):
        return _step(builder, llvm, lanes, vectors, row_addresses, offset, b_at, sums)

    start = builder.block
    names = ("product", "product.rest", "product.last", "product.done")
    loop, rest, last, done = (builder.append_basic_block(name) for name in names)
    pairs_end = builder.and_(n, I64(-2))
    builder.cbranch(builder.icmp_signed(">", pairs_end, I64(0)), loop, rest)
    builder.position_at_end(loop)
    i, offset, b_at, *sums = phis(builder, [I64(0), I64(0), b, *[zero] * (2 * count)], start)
    even = step_on(offset, b_at, sums[:count])
    offset_2, b_2 = builder.add(offset, column_stride), builder.add(b_at, b_stride)
    odd = step_on(offset_2, b_2, sums[count:])
    after = builder.add(i, I64(2))
    following = [after, builder.add(offset_2, column_stride), builder.add(b_2, b_stride), *even, *odd]
    come_from(loop, [i, offset, b_at, *sums], following)
    builder.cbranch(builder.icmp_signed("<", after, pairs_end), loop, rest)
    builder.position_at_end(rest)
    merged = phis(builder, [I64(0), b, *[zero] * (2 * count)], start)
    come_from(loop, merged, following[1:])
    offset, b_at, *sums = merged
    even, odd = sums[:count], sums[count:]
    builder.cbranch(builder.icmp_signed("==", pairs_end, n), done, last)
    builder.position_at_end(last)
    one_more = step_on(offset, b_at, even)
    builder.branch(done)
    builder.position_at_end(done)
    ends = phis(builder, even, rest)
    come_from(last, ends, one_more)
    return [builder.fadd(x, y) for x, y in zip(ends, odd, strict=True)]


def _products_in_turn(builder, llvm, lanes, vectors, row_addresses, column_stride, b, b_stride, n):
    """As `_products`, to the bit, but first all even terms and then all odd ones, which takes half the registers: so
    that tiles can have twice as many rows where registers are few."""
    vector = ir.VectorType(llvm, lanes)
    zeros = [ir.Constant(vector, [0.0] * lanes)] * (len(row_addresses) * vectors)
    column_step, b_step = builder.mul(column_stride, I64(2)), builder.mul(b_stride, I64(2))

    def every_second(offset, b_at, terms):
        start = builder.block
        loop, done = (builder.append_basic_block(name) for name in ("product", "product.done"))
        builder.cbranch(builder.icmp_signed(">", terms, I64(0)), loop, done)
        builder.position_at_end(loop)
        state = phis(builder, [terms, offset, b_at, *zeros], start)
        left, offset, b_at, *sums = state
        sums = _step(builder, llvm, lanes, vectors, row_addresses, offset, b_at, sums)
        left = builder.sub(left, I64(1))
        come_from(loop, state, [left, builder.add(offset, column_step), builder.add(b_at, b_step), *sums])
        builder.cbranch(builder.icmp_signed(">", left, I64(0)), loop, done)
        builder.position_at_end(done)
        ends = phis(builder, zeros, start)
        come_from(loop, ends, sums)
        return ends

    even = every_second(I64(0), b, builder.ashr(builder.add(n, I64(1)), I64(1)))
    odd = every_second(column_stride, builder.add(b, b_stride), builder.ashr(n, I64(1)))
    return [builder.fadd(x, y) for x, y in zip(even, odd, strict=True)]


def plain_tile(dtype: type[np.floating], lanes: int, vectors: int, rows: int, added: bool):
    """C[rows][vectors·lanes] = A[rows][n] · B[n][vectors·lanes], or += if `added`, as an intrinsic.

    Its arguments: the address of A, the bytes from one row of A to the next and from one column to the next, the
    address of B, the bytes between its lines, n, the address of C and the bytes between its lines. If not `added`, one
    more: the last row that may be read (rows beyond it read it again).
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)

    def multiply(builder, a, row_stride, column_stride, b, b_stride, n, c, c_stride, last_row=None):
        addresses = _row_addresses(builder, a, row_stride, rows, last_row)
        products = _products(builder, llvm, lanes, vectors, addresses, column_stride, b, b_stride, n)
        for r in range(rows):
            for w in range(vectors):
                line = builder.add(c, builder.mul(I64(r), c_stride))
                at = pointer(builder, line, vector, w * lanes * size)
                product = products[r * vectors + w]
                if added:
                    product = builder.fadd(builder.load(at, align=size), product)
                builder.store(product, at, align=size)

    @intrinsic
    def tile(typingctx, a, row_stride, column_stride, b, b_stride, n, c, c_stride, last_row):
        def codegen(context, builder, signature, args):
            multiply(builder, *args)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 9), codegen

    @intrinsic
    def adding_tile(typingctx, a, row_stride, column_stride, b, b_stride, n, c, c_stride):
        def codegen(context, builder, signature, args):
            multiply(builder, *args)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 8), codegen

    return adding_tile if added else tile


def scores_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int, rows: int):
    """C[rows][vectors·lanes] = A[rows][n] · B[n][vectors·lanes], as an intrinsic that also updates the maxima of its
    columns; lines of B and C lie `line` vectors apart.

    Its arguments: the address of A, the bytes from one row of A to the next and from one column to the next, the last
    row that may be read (rows beyond it read it again), and the addresses of B, n, C and the maxima.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    stride = lanes * size

    def products_of(builder, addresses, row_stride, column_stride, b, n):
        if for_webassembly(builder):
            strides = row_stride, column_stride
            return webassembly_tiles.products(
                builder, llvm, lanes, vectors, addresses, *strides, b, line * stride, n, along_rows=True
            )
        return _products(builder, llvm, lanes, vectors, addresses, column_stride, b, I64(line * stride), n)

    @intrinsic
    def tile(typingctx, a, row_stride, column_stride, last_row, b, n, c, maxima):
        def codegen(context, builder, signature, args):
            a, row_stride, column_stride, last_row, b, n, c, maxima = args
            addresses = _row_addresses(builder, a, row_stride, rows, last_row)
            products = products_of(builder, addresses, row_stride, column_stride, b, n)
            lines = [pointer(builder, maxima, vector, w * stride) for w in range(vectors)]
            highest = [builder.load(at, align=size) for at in lines]
            for number, product in enumerate(products):
                r, w = divmod(number, vectors)
                highest[w] = maximum_value(builder, highest[w], product)
                builder.store(product, pointer(builder, c, vector, (r * line + w) * stride), align=size)
            for at, value in zip(lines, highest, strict=True):
                builder.store(value, at, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 8), codegen

    return tile


def rescaled_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int, rows: int):
    """C[rows][vectors·lanes] = C · alpha + A[rows][n] · B[n][vectors·lanes], as an intrinsic; lines of B and C lie
    `line` vectors apart.

    Its arguments: the address of A, the bytes from one row of A to the next and from one column to the next, the
    address of B, n, the address of C, and the address of alpha, a line of factors.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    stride = lanes * size
    # AVX-512 has 32 registers, AVX2 16.
    native = _products if stride == 64 else _products_in_turn

    def products_of(builder, addresses, row_stride, column_stride, b, n):
        if for_webassembly(builder):
            strides = row_stride, column_stride
            return webassembly_tiles.products(
                builder, llvm, lanes, vectors, addresses, *strides, b, line * stride, n, along_rows=False
            )
        return native(builder, llvm, lanes, vectors, addresses, column_stride, b, I64(line * stride), n)

    @intrinsic
    def tile(typingctx, a, row_stride, column_stride, b, n, c, alpha):
        def codegen(context, builder, signature, args):
            a, row_stride, column_stride, b, n, c, alpha = args
            addresses = _row_addresses(builder, a, row_stride, rows)
            products = products_of(builder, addresses, row_stride, column_stride, b, n)
            factors = [builder.load(pointer(builder, alpha, vector, w * stride), align=size) for w in range(vectors)]
            for number, product in enumerate(products):
                r, w = divmod(number, vectors)
                at = pointer(builder, c, vector, (r * line + w) * stride)
                builder.store(fma_value(builder, builder.load(at, align=size), factors[w], product), at, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 7), codegen

    return tile
