"""Loads and stores of the first few lanes of a vector: what is left of a row that isn't a whole number of vectors."""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from eyeline.kernels.compiled.simd import I1, I32, Vec, pointer, splat_value


class PartialVectors(NamedTuple):
    """`load_first(address, count)`: the first `count` float32 lanes, and zeros; `store_first(address, value, count)`:
    stores the first `count` lanes. Nothing beyond them is touched."""

    load_first: object
    store_first: object


def _first(builder, count, lanes):
    """The mask of the first `count` lanes."""
    numbers = ir.Constant(ir.VectorType(I32, lanes), list(range(lanes)))
    return builder.icmp_signed("<", numbers, splat_value(builder, builder.trunc(count, I32), lanes))


def partial_vectors(lanes):
    """The loads and stores for vectors of `lanes` float32."""
    vector, mask = ir.VectorType(ir.FloatType(), lanes), ir.VectorType(I1, lanes)
    kind, suffix = Vec(types.float32, lanes), f"v{lanes}f32.p0v{lanes}f32"

    def function(builder, name, result, arguments):
        kind = ir.FunctionType(result, arguments)
        return cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.{name}.{suffix}")

    @intrinsic
    def load_first(typingctx, address, count):
        def codegen(context, builder, signature, args):
            at, nothing = pointer(builder, args[0], vector), ir.Constant(vector, [0.0] * lanes)
            load = function(builder, "load", vector, [at.type, I32, mask, vector])
            return builder.call(load, [at, I32(4), _first(builder, args[1], lanes), nothing])

        return kind(types.intp, types.int64), codegen

    @intrinsic
    def store_first(typingctx, address, value, count):
        def codegen(context, builder, signature, args):
            at = pointer(builder, args[0], vector)
            store = function(builder, "store", ir.VoidType(), [vector, at.type, I32, mask])
            builder.call(store, [args[1], at, I32(4), _first(builder, args[2], lanes)])
            return context.get_dummy_value()

        return types.void(types.intp, kind, types.int64), codegen

    return PartialVectors(load_first, store_first)
