"""Loads and stores of words, scalars and vectors. Addresses are plain integers (intp), in bytes."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from eyeline.kernels.compiled.simd import ELEMENTS, I8, I32, I64, Vec, pointer, splat_value


@intrinsic
def word(typingctx, address, index):
    """Loads the int64 that lies `index` words after `address`."""

    def codegen(context, builder, signature, args):
        at = builder.add(args[0], builder.mul(args[1], I64(8)))
        return builder.load(pointer(builder, at, I64))

    return types.int64(types.intp, types.intp), codegen


@intrinsic
def add_to(typingctx, address, amount):
    """Adds `amount` to the int64 at `address`, atomically, and returns the previous value."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", pointer(builder, args[0], I64), args[1], "monotonic")

    return types.int64(types.intp, types.int64), codegen


@intrinsic
def raise_to(typingctx, address, value):
    """Sets the number at `address` to the maximum of it and `value`, atomically; both are 0 or more, or NaN, which
    counts as the largest."""

    def codegen(context, builder, signature, args):
        bits = I32 if signature.args[1] == types.float32 else I64
        at = pointer(builder, args[0], bits)
        builder.atomic_rmw("max", at, builder.bitcast(args[1], bits), "monotonic")
        return context.get_dummy_value()

    return types.void(types.intp, value), codegen


@intrinsic
def load_i32(typingctx, address):
    def codegen(context, builder, signature, args):
        return builder.load(pointer(builder, args[0], I32))

    return types.int32(types.intp), codegen


@intrinsic
def load_i8(typingctx, address):
    def codegen(context, builder, signature, args):
        return builder.load(pointer(builder, args[0], I8))

    return types.int8(types.intp), codegen


@intrinsic
def store_i8(typingctx, address, value):
    def codegen(context, builder, signature, args):
        builder.store(args[1], pointer(builder, args[0], I8))
        return context.get_dummy_value()

    return types.void(types.intp, types.int8), codegen


@intrinsic
def store_word(typingctx, address, value):
    def codegen(context, builder, signature, args):
        builder.store(args[1], pointer(builder, args[0], I64))
        return context.get_dummy_value()

    return types.void(types.intp, types.int64), codegen


@intrinsic
def call(typingctx, address, block, line, batch, head, first_query, count, a, e):
    """Calls a user's function, compiled by `user_functions`, on a block; returns its result."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(I64, [I64] * 8)
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    return types.int64(*[types.intp] * 9), codegen


class Width(NamedTuple):
    """The loads, stores and splats for one element type and number of lanes."""

    load: object
    store: object
    splat: object
    load_scalar: object
    store_scalar: object
    load_ints: object
    store_ints: object
    store_int: object
    splat_int: object
    lane_numbers: object
    load_flags: object


@cache
def width(dtype: type[np.floating], lanes: int) -> Width:
    """The loads and stores of vectors of `lanes` numbers of `dtype`, and of as many int32 and bytes beside them."""
    element = types.float32 if dtype == np.float32 else types.float64
    floats, ints = Vec(element, lanes), Vec(types.int32, lanes)
    size, llvm = np.dtype(dtype).itemsize, ELEMENTS[element]

    def loading(result, target, align):
        @intrinsic
        def load(typingctx, address):
            def codegen(context, builder, signature, args):
                return builder.load(pointer(builder, args[0], target), align=align)

            return result(types.intp), codegen

        return load

    def storing(value_type, target, align):
        @intrinsic
        def store(typingctx, address, value):
            def codegen(context, builder, signature, args):
                builder.store(args[1], pointer(builder, args[0], target), align=align)
                return context.get_dummy_value()

            return types.void(types.intp, value_type), codegen

        return store

    def filling(result):
        @intrinsic
        def splat(typingctx, value):
            def codegen(context, builder, signature, args):
                return splat_value(builder, args[0], lanes)

            return result(result.element), codegen

        return splat

    @intrinsic
    def lane_numbers(typingctx):
        """0, 1, 2, ... in the lanes."""

        def codegen(context, builder, signature, args):
            return ir.Constant(ir.VectorType(llvm, lanes), [float(lane) for lane in range(lanes)])

        return floats(), codegen

    @intrinsic
    def load_flags(typingctx, address):
        def codegen(context, builder, signature, args):
            kind = ir.VectorType(I8, lanes)
            flags = builder.load(pointer(builder, args[0], kind), align=1)
            return builder.icmp_unsigned("!=", flags, ir.Constant(kind, [0] * lanes))

        return Vec(types.boolean, lanes)(types.intp), codegen

    return Width(
        load=loading(floats, ir.VectorType(llvm, lanes), size),
        store=storing(floats, ir.VectorType(llvm, lanes), size),
        splat=filling(floats),
        load_scalar=loading(element, llvm, size),
        store_scalar=storing(element, llvm, size),
        load_ints=loading(ints, ir.VectorType(I32, lanes), 4),
        store_ints=storing(ints, ir.VectorType(I32, lanes), 4),
        store_int=storing(types.int32, I32, 4),
        splat_int=filling(ints),
        lane_numbers=lane_numbers,
        load_flags=load_flags,
    )


def prefetch(builder, address, offset=0):
    """Prefetch a cache line into the L2 cache; an invalid address does no harm."""
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32]), "llvm.prefetch.p0i8"
    )
    for_reading, second_cache, data = I32(0), I32(2), I32(1)
    builder.call(function, [pointer(builder, address, I8, offset), for_reading, second_cache, data])
