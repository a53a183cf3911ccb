"""16-bit numbers: widened to float32 on reading, narrowed on writing."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled import half_bits
from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.records import StridedRows, compiled, head_of, rows_from
from eyeline.kernels.compiled.simd import I16, I32, Vec, for_webassembly, pointer

_HALF, _FLOAT = ir.HalfType(), ir.FloatType()
NOT, FLOAT16, BFLOAT16 = (int(half) for half in Half)


class HalfPrecision(NamedTuple):
    """`widen`: copies 16-bit rows to float32 rows; `narrow`: writes float32 rows back as 16 bits; and `rows_at_hand(p,
    array, widened, batch, head, columns, a, e)`: an array's rows [a, e), in place, or widened to the address `widened`
    in the workspace."""

    widen: object
    narrow: object
    rows_at_hand: object


def _reading(lanes, widen):
    """An intrinsic that loads `lanes` 16-bit numbers from an address, widened by `widen(builder, bits)`."""

    @intrinsic
    def read(typingctx, address):
        def codegen(context, builder, signature, args):
            kind = ir.VectorType(I16, lanes)
            return widen(builder, builder.load(pointer(builder, args[0], kind), align=2))

        return Vec(types.float32, lanes)(types.intp), codegen

    return read


def _writing(lanes, narrow):
    """An intrinsic that stores `lanes` float32 numbers to an address, narrowed by `narrow(builder, x)`."""

    @intrinsic
    def write(typingctx, address, value):
        def codegen(context, builder, signature, args):
            bits = narrow(builder, args[1])
            builder.store(bits, pointer(builder, args[0], bits.type), align=2)
            return context.get_dummy_value()

        return types.void(types.intp, Vec(types.float32, lanes)), codegen

    return write


def widen_float16(builder, bits):
    if for_webassembly(builder):
        return half_bits.widen(builder, bits)
    lanes = bits.type.count
    return builder.fpext(builder.bitcast(bits, ir.VectorType(_HALF, lanes)), ir.VectorType(_FLOAT, lanes))


def _narrow_float16(builder, x):
    if for_webassembly(builder):
        return half_bits.narrow(builder, x)
    lanes = x.type.count
    return builder.bitcast(builder.fptrunc(x, ir.VectorType(_HALF, lanes)), ir.VectorType(I16, lanes))


def widen_bfloat16(builder, bits):
    """bfloat16 is the upper half of a float32's bits."""
    lanes = bits.type.count
    wide = builder.zext(bits, ir.VectorType(I32, lanes))
    return builder.bitcast(builder.shl(wide, ir.Constant(wide.type, [16] * lanes)), ir.VectorType(_FLOAT, lanes))


def _narrow_bfloat16(builder, x):
    """Round to nearest, ties to even; NaN stays NaN."""
    lanes = x.type.count

    def constant(value):
        return ir.Constant(ir.VectorType(I32, lanes), [value] * lanes)

    bits = builder.bitcast(x, ir.VectorType(I32, lanes))
    odd = builder.and_(builder.lshr(bits, constant(16)), constant(1))
    rounded = builder.add(bits, builder.add(odd, constant(0x7FFF)))
    quiet = builder.or_(bits, constant(0x00400000))
    rounded = builder.select(builder.fcmp_unordered("uno", x, x), quiet, rounded)
    return builder.trunc(builder.lshr(rounded, constant(16)), ir.VectorType(I16, lanes))


@cache
def half_precision(dtype, lanes):
    """Widening and narrowing of rows. For float64, which isn't used for 16-bit arrays, both do nothing."""
    if dtype == np.float64:

        @compiled
        def neither(half, source, source_token, column, count, columns, target, target_token):
            pass

        @compiled
        def nor(half, source, source_token, count, columns, target, target_token):
            pass

        @compiled
        def rows_in_place(p, array, widened, batch, head, columns, a, e):
            return rows_from(head_of(array, batch, head), a)

        return HalfPrecision(neither, nor, rows_in_place)

    W = width(dtype, lanes)
    load, store = W.load, W.store
    size = np.dtype(dtype).itemsize
    read_float16, read_bfloat16 = _reading(lanes, widen_float16), _reading(lanes, widen_bfloat16)
    read_one_float16, read_one_bfloat16 = _reading(1, widen_float16), _reading(1, widen_bfloat16)
    write_float16, write_bfloat16 = _writing(lanes, _narrow_float16), _writing(lanes, _narrow_bfloat16)
    write_one_float16, write_one_bfloat16 = _writing(1, _narrow_float16), _writing(1, _narrow_bfloat16)
    load_one, store_one = width(dtype, 1).load, width(dtype, 1).store

    @compiled
    def widen(half, source, token, column, count, columns, target, target_token):
        """Copy `count` rows of `columns` 16-bit numbers to float32 rows."""
        whole = columns - columns % lanes if column == 2 else 0
        for i in range(count):
            at, to = source + i * token, target + i * target_token
            if half == FLOAT16:
                for c in range(0, whole, lanes):
                    store(to + c * size, read_float16(at + c * 2))
                for c in range(whole, columns):
                    store_one(to + c * size, read_one_float16(at + c * column))
            elif half == BFLOAT16:
                for c in range(0, whole, lanes):
                    store(to + c * size, read_bfloat16(at + c * 2))
                for c in range(whole, columns):
                    store_one(to + c * size, read_one_bfloat16(at + c * column))

    @compiled
    def narrow(half, source, source_token, count, columns, target, target_token):
        """Copy `count` rows of `columns` float32 numbers to 16-bit rows."""
        whole = columns - columns % lanes
        for i in range(count):
            at, to = source + i * source_token, target + i * target_token
            if half == FLOAT16:
                for c in range(0, whole, lanes):
                    write_float16(to + c * 2, load(at + c * size))
                for c in range(whole, columns):
                    write_one_float16(to + c * 2, load_one(at + c * size))
            elif half == BFLOAT16:
                for c in range(0, whole, lanes):
                    write_bfloat16(to + c * 2, load(at + c * size))
                for c in range(whole, columns):
                    write_one_bfloat16(to + c * 2, load_one(at + c * size))

    @compiled
    def rows_at_hand(p, array, widened, batch, head, columns, a, e):
        found = rows_from(head_of(array, batch, head), a)
        if p.half == NOT:
            return found
        widen(p.half, found.at, found.token, found.column, e - a, columns, widened, columns * size)
        return StridedRows(widened, columns * size, size)

    return HalfPrecision(widen, narrow, rows_at_hand)
