"""Vectors of `lanes` numbers as values that Numba compiles: loads, arithmetic, comparisons.

Numba's own loops are vectorised where LLVM sees how; here each vector is written out, so that the machine code is
what the source says. Addresses are plain integers (intp), in bytes. Nothing here rounds differently on another vector
width: each lane does the same operations in the same order.
"""

from __future__ import annotations

import math
import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model

I1, I8, I32, I64 = (ir.IntType(n) for n in (1, 8, 32, 64))
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


def fma_value(builder, a, b, c):
    """a·b + c, rounded once."""
    lanes = a.type.count
    suffix = f"v{lanes}f{64 if isinstance(a.type.element, ir.DoubleType) else 32}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(a.type, [a.type] * 3), f"llvm.fma.{suffix}"
    )
    return builder.call(function, [a, b, c])


def _define(symbol, float_op, int_op):
    """Give vectors of one type Python's operator."""

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
    """a·b + c, rounded once."""
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
def select(typingctx, condition, a, b):
    """a where the condition holds, else b."""
    return a(condition, a, b), lambda context, builder, signature, args: builder.select(*args)


@intrinsic
def any_nonfinite(typingctx, a):
    """Whether a lane holds NaN or an infinity."""

    def codegen(context, builder, signature, args):
        difference = builder.fsub(args[0], args[0])
        bits = builder.fcmp_unordered("!=", difference, ir.Constant(difference.type, [0.0] * a.lanes))
        return builder.icmp_unsigned("!=", builder.bitcast(bits, ir.IntType(a.lanes)), ir.IntType(a.lanes)(0))

    return types.boolean(a), codegen


#: 2ˣ on [-½, ½] as 1 + c₁x + c₂x² + …: for float32 of least largest relative error (2.0e-9) with the first term held
#: at 1, for float64 the Taylor series (below 1e-17). 2⁰ is then exactly 1, so that a row whose maximum stays is not
#: touched.
EXP2 = {
    types.float32: (
        0.6931471824645996,
        0.24022647738456726,
        0.055503323674201965,
        0.00961843691766262,
        0.0013398873852565885,
        0.00015353361959569156,
    ),
    types.float64: tuple(math.log(2) ** k / math.factorial(k) for k in range(1, 14)),
}


def exp2_value(builder, x):
    """2ˣ in each lane, for x ≤ 0: 0 below the least exponent and at -inf, NaN for NaN."""
    lanes, element = x.type.count, types.float32 if isinstance(x.type.element, ir.FloatType) else types.float64
    mantissa, bias, integer = (23, 127, I32) if element == types.float32 else (52, 1023, I64)
    floats, ints = x.type, ir.VectorType(integer, lanes)

    def constant(kind, value):
        return ir.Constant(kind, [value] * lanes)

    least, magic = constant(floats, float(-bias)), constant(floats, 1.5 * 2.0**mantissa)
    x = builder.select(builder.fcmp_ordered("<", x, least), least, x)
    # Adding 1.5 · 2^mantissa rounds to a whole number n, which then stands in the low bits.
    shifted = builder.fadd(x, magic)
    fraction = builder.fsub(x, builder.fsub(shifted, magic))
    terms = [constant(floats, c) for c in (1.0, *EXP2[element])]
    total = terms.pop()
    while terms:
        total = fma_value(builder, total, fraction, terms.pop())
    exponent = builder.shl(builder.bitcast(shifted, ints), constant(ints, mantissa))
    # The exponent's bits of 2ⁿ; for n = -bias they are those of 0.
    power = builder.bitcast(builder.add(exponent, constant(ints, bias << mantissa)), floats)
    return builder.fmul(total, power)


@intrinsic
def exp2(typingctx, x):
    """2ˣ in each lane, as `exp2_value`."""
    return x(x), lambda context, builder, signature, args: exp2_value(builder, args[0])
