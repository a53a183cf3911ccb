"""The inner tiles, in LLVM's own language: both matrix products, the exponentials between them, the transposition.

Queries lie in the lanes. A *panel* is `vectors · lanes` queries, packed [D][panel] so that one row of it is a few vectors;
keys and values are read where they are, one number at a time, each spread over the lanes:

    scores[key][query] = Σ_d k[key][d] · q[d][query]          products: rows are keys, the sum runs over d
    out[e][query]      = Σ_key v[key][e] · w[key][query]      products: rows are value columns, the sum runs over keys

Both are C[rows][panel] = A[rows][n] · B[n][panel], kept in registers. Each lane sums in order, with one rounding a step, so
a query's bits depend neither on the tile nor on the vector width.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.simd import ELEMENTS, I32, I64, exp2_value, fma_value, maximum_value, pointer, splat_value


def product_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int, rows: int, scaled: bool):
    """C[rows][vectors·lanes] = A[rows][n] · B[n][vectors·lanes], as an intrinsic; lines of B and C lie `line` vectors apart.

    Its arguments: the address of A, the bytes from one row of A to the next and from one column to the next, the last row that
    may be read (rows beyond it read it again), the address of B, n, the address of C, and that of one line more. If `scaled`,
    this holds factors, and C = C · factor + A · B; else it holds maxima, which are raised to those of the columns of C.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    step = lanes * size

    @intrinsic
    def tile(typingctx, a, row_stride, column_stride, last_row, b, n, c, extra):
        def codegen(context, builder, signature, args):
            a, row_stride, column_stride, last_row, b, n, c, extra = args
            row_addresses = []
            for r in range(rows):
                clamped = builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row)
                row_addresses.append(builder.add(a, builder.mul(clamped, row_stride)))
            zero = ir.Constant(vector, [0.0] * lanes)
            start = builder.block
            loop, done = builder.append_basic_block("product"), builder.append_basic_block("product.done")
            builder.cbranch(builder.icmp_signed(">", n, I64(0)), loop, done)
            builder.position_at_end(loop)
            i = builder.phi(I64)
            offset = builder.phi(I64)
            b_at = builder.phi(I64)
            sums = [[builder.phi(vector) for _ in range(vectors)] for _ in range(rows)]
            i.add_incoming(I64(0), start)
            offset.add_incoming(I64(0), start)
            b_at.add_incoming(b, start)
            bs = [builder.load(pointer(builder, b_at, vector, w * step), align=size) for w in range(vectors)]
            following = []
            for r in range(rows):
                number = builder.load(pointer(builder, builder.add(row_addresses[r], offset), llvm), align=size)
                spread = splat_value(builder, number, lanes)
                following.append([fma_value(builder, spread, bs[w], sums[r][w]) for w in range(vectors)])
            after = builder.add(i, I64(1))
            i.add_incoming(after, loop)
            offset.add_incoming(builder.add(offset, column_stride), loop)
            b_at.add_incoming(builder.add(b_at, I64(line * step)), loop)
            for r in range(rows):
                for w in range(vectors):
                    sums[r][w].add_incoming(zero, start)
                    sums[r][w].add_incoming(following[r][w], loop)
            builder.cbranch(builder.icmp_signed("<", after, n), loop, done)
            builder.position_at_end(done)
            for r in range(rows):
                for w in range(vectors):
                    total = builder.phi(vector)
                    total.add_incoming(zero, start)
                    total.add_incoming(following[r][w], loop)
                    following[r][w] = total
            lines = [pointer(builder, extra, vector, w * step) for w in range(vectors)]
            beside = [builder.load(at, align=size) for at in lines]
            for r in range(rows):
                for w in range(vectors):
                    at = pointer(builder, c, vector, (r * line + w) * step)
                    total = following[r][w]
                    if scaled:
                        total = fma_value(builder, builder.load(at, align=size), beside[w], total)
                    else:
                        beside[w] = maximum_value(builder, beside[w], total)
                    builder.store(total, at, align=size)
            if not scaled:
                for at, highest in zip(lines, beside, strict=True):
                    builder.store(highest, at, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 8), codegen

    return tile


def weights_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int):
    """Scores to weights in place, 2^(score - top), for n lines of vectors, as an intrinsic.

    Its arguments: the address of the scores, n, the address of the tops, and the address where each lane's sum of weights, added
    in order, is written.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    step = lanes * size

    @intrinsic
    def tile(typingctx, scores, n, tops, sums):
        def codegen(context, builder, signature, args):
            scores, n, tops, sums = args
            zero = ir.Constant(vector, [0.0] * lanes)
            highest = [builder.load(pointer(builder, tops, vector, w * step), align=size) for w in range(vectors)]
            start = builder.block
            loop, done = builder.append_basic_block("weights"), builder.append_basic_block("weights.done")
            builder.branch(loop)
            builder.position_at_end(loop)
            i, at = builder.phi(I64), builder.phi(I64)
            totals = [builder.phi(vector) for _ in range(vectors)]
            i.add_incoming(I64(0), start)
            at.add_incoming(scores, start)
            after = builder.add(i, I64(1))
            i.add_incoming(after, loop)
            at.add_incoming(builder.add(at, I64(line * step)), loop)
            added = []
            for w in range(vectors):
                place = pointer(builder, at, vector, w * step)
                weight = exp2_value(builder, builder.fsub(builder.load(place, align=size), highest[w]))
                builder.store(weight, place, align=size)
                added.append(builder.fadd(totals[w], weight))
                totals[w].add_incoming(zero, start)
                totals[w].add_incoming(added[w], loop)
            builder.cbranch(builder.icmp_signed("<", after, n), loop, done)
            builder.position_at_end(done)
            for w in range(vectors):
                builder.store(added[w], pointer(builder, sums, vector, w * step), align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 4), codegen

    return tile


def transpose_tile(dtype: type[np.floating], lanes: int):
    """A square of lanes × lanes numbers, turned over: target[j][i] = source[i][j] · factor[j or i], as an intrinsic.

    Its arguments: the address of the source, the bytes between its rows, the last row that may be read (rows beyond it read it
    again), the address of the target, the bytes between its rows, how many of these are written, and a vector that every row of
    the source is multiplied by, lane by lane, before it is turned.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)

    @intrinsic
    def tile(typingctx, source, source_stride, last_row, target, target_stride, count, factor):
        def codegen(context, builder, signature, args):
            source, source_stride, last_row, target, target_stride, count, factor = args
            rows = []
            for r in range(lanes):
                clamped = builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row)
                at = builder.add(source, builder.mul(clamped, source_stride))
                rows.append(builder.fmul(builder.load(pointer(builder, at, vector), align=size), factor))
            # Interleaving rows r and r + lanes/2, log2(lanes) times over, turns the square.
            low = [x for k in range(lanes // 2) for x in (k, lanes + k)]
            high = [x for k in range(lanes // 2, lanes) for x in (k, lanes + k)]
            low, high = (ir.Constant(ir.VectorType(I32, lanes), order) for order in (low, high))
            for _ in range(lanes.bit_length() - 1):
                turned = []
                for r in range(lanes // 2):
                    turned.append(builder.shuffle_vector(rows[r], rows[r + lanes // 2], low))
                    turned.append(builder.shuffle_vector(rows[r], rows[r + lanes // 2], high))
                rows = turned
            for r in range(lanes):
                with builder.if_then(builder.icmp_signed("<", I64(r), count)):
                    at = builder.add(target, builder.mul(I64(r), target_stride))
                    builder.store(rows[r], pointer(builder, at, vector), align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6, factor), codegen

    return tile
