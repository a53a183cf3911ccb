"""Transposes of square tiles, in LLVM IR; and sums across lanes, by transposing."""

from __future__ import annotations

from functools import cache, reduce

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.simd import ELEMENTS, I8, I32, I64, pointer, splat_value


def turn_value(builder, rows):
    """Transpose a square of vectors: lane i of row j becomes lane j of row i."""
    # Interleaving rows r and r + lanes/2, log2(lanes) times, transposes the square.
    lanes = len(rows)
    low = [x for k in range(lanes // 2) for x in (k, lanes + k)]
    high = [x for k in range(lanes // 2, lanes) for x in (k, lanes + k)]
    low, high = (ir.Constant(ir.VectorType(I32, lanes), order) for order in (low, high))
    for _ in range(lanes.bit_length() - 1):
        turned = []
        for r in range(lanes // 2):
            turned.append(builder.shuffle_vector(rows[r], rows[r + lanes // 2], low))
            turned.append(builder.shuffle_vector(rows[r], rows[r + lanes // 2], high))
        rows = turned
    return rows


@intrinsic
def turn_flags(typingctx, source, source_stride, last_row, target, target_stride):
    """Transpose a square of 16 × 16 bytes: target[j][i] = source[i][j]; rows beyond `last_row` read it again."""

    def codegen(context, builder, signature, args):
        source, source_stride, last_row, target, target_stride = args
        kind = ir.VectorType(I8, 16)
        rows = []
        for r in range(16):
            clamped = builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row)
            at = builder.add(source, builder.mul(clamped, source_stride))
            rows.append(builder.load(pointer(builder, at, kind), align=1))
        for r, row in enumerate(turn_value(builder, rows)):
            at = builder.add(target, builder.mul(I64(r), target_stride))
            builder.store(row, pointer(builder, at, kind), align=1)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5), codegen


@cache
def transpose_tile(dtype: type[np.floating], lanes: int):
    """Transpose a square of lanes × lanes numbers, times a factor: target[j][i] = source[i][j] · factor[j], as an
    intrinsic.

    Its arguments: the address of the source, the bytes between its rows, the last row that may be read (rows beyond it
    read it again), the address of the target, the bytes between its rows, the number of target rows to write, and a
    vector by which every row of the source is multiplied, lane by lane, before transposing.
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
            rows = turn_value(builder, rows)
            for r in range(lanes):
                with builder.if_then(builder.icmp_signed("<", I64(r), count)):
                    at = builder.add(target, builder.mul(I64(r), target_stride))
                    builder.store(rows[r], pointer(builder, at, vector), align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6, factor), codegen

    return tile


def column_sums_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int):
    """Sum the weights of a panel's queries for `lanes` keys, and add to as many int64 in fixed point, as an intrinsic.

    Its arguments: the address of the keys' weights, in lines of `line` vectors, the first `vectors` of which count; the
    address of the int64; and the number of units that make 1. Returns whether all sums are finite; if not, it adds
    nothing. Sums are formed in a fixed tree, neighbours with neighbours.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector, doubles = ir.VectorType(llvm, lanes), ir.VectorType(ir.DoubleType(), lanes)
    whole = ir.VectorType(I64, lanes)
    stride = lanes * size

    @intrinsic
    def tile(typingctx, weights, units, per_one):
        def codegen(context, builder, signature, args):
            weights, units, per_one = args
            sums = []
            for key in range(lanes):
                parts = [
                    builder.load(pointer(builder, weights, vector, (key * line + w) * stride), align=size)
                    for w in range(vectors)
                ]
                sums.append(reduce(builder.fadd, parts))
            even, odd = (ir.Constant(ir.VectorType(I32, lanes), list(range(k, 2 * lanes, 2))) for k in (0, 1))
            while len(sums) > 1:
                sums = [
                    builder.fadd(builder.shuffle_vector(a, b, even), builder.shuffle_vector(a, b, odd))
                    for a, b in zip(sums[::2], sums[1::2], strict=True)
                ]
            total = sums[0]
            difference = builder.fsub(total, total)
            unsound = builder.fcmp_unordered("!=", difference, ir.Constant(vector, [0.0] * lanes))
            sound = builder.icmp_unsigned("==", builder.bitcast(unsound, ir.IntType(lanes)), ir.IntType(lanes)(0))
            with builder.if_then(sound):
                wide = total if size == 8 else builder.fpext(total, doubles)
                scaled = builder.fmul(wide, splat_value(builder, builder.sitofp(per_one, ir.DoubleType()), lanes))
                rounded = builder.fadd(scaled, ir.Constant(doubles, [0.5] * lanes))
                at = pointer(builder, units, whole)
                added = builder.add(builder.load(at, align=8), builder.fptosi(rounded, whole))
                builder.store(added, at, align=8)
            return sound

        return types.boolean(*[types.intp] * 3), codegen

    return tile
