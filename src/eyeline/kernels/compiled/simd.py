"""Vectors of `lanes` numbers as values that Numba compiles: loads, arithmetic, comparisons.

Ordinary Numba loops are vectorised only where LLVM manages to; here every vector is explicit. Addresses are plain
integers (intp), in bytes. Rounding doesn't depend on the vector width: each lane does the same operations in the same
order.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
ELEMENTS = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.int32: I32, types.boolean: I1}


class Vec(types.Type):
    """The Numba type of a vector."""

    def __init__(self, element: types.Type, lanes: int) -> None:
        self.element, self.lanes = element, lanes
        super().__init__(name=f"Vec({element}, {lanes})")


@register_model(Vec)
class VecModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(ELEMENTS[fe_type.element], fe_type.lanes))


def pointer(builder, address, target, offset=0):
    """An address (intp) as a pointer to `target`, `offset` bytes on."""
    if for_webassembly(builder):
        # Addresses have 32 bits here, and what is added to a pointer, unlike to a number, becomes a part of the load.
        if address.type == I64:
            address = builder.trunc(address, I32)
        at = builder.inttoptr(address, I8.as_pointer())
        return builder.bitcast(builder.gep(at, [I32(offset)], inbounds=True), target.as_pointer())
    if offset:
        address = builder.add(address, I64(offset))
    return builder.inttoptr(address, target.as_pointer())


def splat_value(builder, value, lanes):
    """One scalar in every lane."""
    kind = ir.VectorType(value.type, lanes)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, I32(0))
    return builder.shuffle_vector(
        one, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    )


def for_webassembly(builder):
    """Whether the code is for WebAssembly, which has neither multiply-add nor 16-bit numbers."""
    return builder.module.triple.startswith("wasm")


def fma_value(builder, a, b, c):
    """a·b + c, rounded once; in WebAssembly, twice."""
    if for_webassembly(builder):
        return builder.fadd(builder.fmul(a, b), c)
    lanes = a.type.count
    suffix = f"v{lanes}f{64 if isinstance(a.type.element, ir.DoubleType) else 32}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(a.type, [a.type] * 3), f"llvm.fma.{suffix}"
    )
    return builder.call(function, [a, b, c])


def _define(symbol, float_op, int_op):
    """Define one of Python's operators on vectors."""

    @infer_global(symbol)
    class Infer(AbstractTemplate):
        def generic(self, args, kws):
            a, b = args
            return signature(a, a, b) if isinstance(a, Vec) and a == b else None

    @lower_builtin(symbol, Vec, Vec)
    def lower(context, builder, sig, args):
        floating = isinstance(sig.return_type.element, types.Float)
        return getattr(builder, float_op if floating else int_op)(*args)


for _symbol, _float_op, _int_op in (
    (operator.add, "fadd", "add"),
    (operator.sub, "fsub", "sub"),
    (operator.mul, "fmul", "mul"),
    (operator.truediv, "fdiv", None),
    (operator.or_, None, "or_"),
):
    _define(_symbol, _float_op, _int_op)


@intrinsic
def fma(typingctx, a, b, c):
    """a·b + c, rounded once; in WebAssembly, twice."""
    return a(a, b, c), lambda context, builder, signature, args: fma_value(builder, *args)


def maximum_value(builder, a, b):
    """The larger in each lane; b where either is NaN."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@intrinsic
def maximum(typingctx, a, b):
    """The larger in each lane; b where either is NaN."""

    return a(a, b), lambda context, builder, signature, args: maximum_value(builder, *args)


@intrinsic
def equal(typingctx, a, b):
    """Lanes in which a == b (false for NaN)."""

    def codegen(context, builder, signature, args):
        return builder.fcmp_ordered("==", *args)

    return Vec(types.boolean, a.lanes)(a, b), codegen


@intrinsic
def below(typingctx, a, b):
    """Lanes in which a < b, as unsigned integers."""

    def codegen(context, builder, signature, args):
        return builder.icmp_unsigned("<", *args)

    return Vec(types.boolean, a.lanes)(a, b), codegen


@intrinsic
def above(typingctx, a, b):
    """Lanes in which a > b (false for NaN)."""

    def codegen(context, builder, signature, args):
        return builder.fcmp_ordered(">", *args)

    return Vec(types.boolean, a.lanes)(a, b), codegen


@intrinsic
def bits_above(typingctx, a, b):
    """The lanes in which a > b, as a bit mask."""

    def codegen(context, builder, signature, args):
        bits = builder.bitcast(builder.fcmp_ordered(">", *args), ir.IntType(a.lanes))
        return builder.zext(bits, I64) if a.lanes < 64 else bits

    return types.int64(a, b), codegen


def _across(builder, x, join):
    """Reduce all lanes to one by `join`, in a fixed tree: one half with the other."""
    lanes = x.type.count
    while lanes > 1:
        lanes //= 2
        low, high = (ir.Constant(ir.VectorType(I32, lanes), list(range(k, k + lanes))) for k in (0, lanes))
        x = join(builder.shuffle_vector(x, x, low), builder.shuffle_vector(x, x, high))
    return builder.extract_element(x, I32(0))


@intrinsic
def total(typingctx, a):
    """The sum of all lanes."""
    return a.element(a), lambda context, builder, signature, args: _across(builder, args[0], builder.fadd)


@intrinsic
def largest(typingctx, a):
    """The maximum of all lanes."""

    def codegen(context, builder, signature, args):
        return _across(builder, args[0], lambda x, y: maximum_value(builder, x, y))

    return a.element(a), codegen


def magnitude_value(builder, a):
    """|a| in each lane."""
    suffix = f"v{a.type.count}f{64 if isinstance(a.type.element, ir.DoubleType) else 32}"
    kind = ir.FunctionType(a.type, [a.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.{suffix}"), [a])


@intrinsic
def magnitude(typingctx, a):
    """|a| in each lane."""
    return a(a), lambda context, builder, signature, args: magnitude_value(builder, *args)


@intrinsic
def select(typingctx, condition, a, b):
    """a where the condition holds, else b."""
    return a(condition, a, b), lambda context, builder, signature, args: builder.select(*args)


@intrinsic
def any_nonfinite(typingctx, a):
    """Whether any lane holds NaN or an infinity."""

    def codegen(context, builder, signature, args):
        difference = builder.fsub(args[0], args[0])
        bits = builder.fcmp_unordered("!=", difference, ir.Constant(difference.type, [0.0] * a.lanes))
        return builder.icmp_unsigned("!=", builder.bitcast(bits, ir.IntType(a.lanes)), ir.IntType(a.lanes)(0))

    return types.boolean(a), codegen
