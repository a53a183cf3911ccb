"""2ˣ and tanh in every lane, as polynomials: the same bits at any vector width."""

from __future__ import annotations

import math

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from eyeline.kernels.compiled.simd import I32, I64, fma_value, magnitude_value

#: 2ˣ on [-½, ½] as 1 + c₁x + c₂x² + …: for float32 the minimax polynomial (relative error 2.0e-9) with the first term
#: fixed at 1, for float64 the Taylor series (error below 1e-17). So 2⁰ is exactly 1, and a row whose maximum stays the
#: same isn't changed.
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

    def polynomial(fraction):
        terms = [constant(floats, c) for c in (1.0, *EXP2[element])]
        total = terms.pop()
        while terms:
            total = fma_value(builder, total, fraction, terms.pop())
        return total

    if lanes * integer.width == 512:
        # AVX-512 has an instruction for rounding, and one for scaling by 2ⁿ.
        whole = _call(builder, "llvm.roundeven", floats, [x], [floats])
        return _scaled(builder, polynomial(builder.fsub(x, whole)), whole, x, 0.5 - bias)
    least, magic = constant(floats, float(-bias)), constant(floats, 1.5 * 2.0**mantissa)
    x = builder.select(builder.fcmp_ordered("<", x, least), least, x)
    # Adding 1.5 · 2^mantissa rounds to a whole number n, which is then in the low bits.
    shifted = builder.fadd(x, magic)
    total = polynomial(builder.fsub(x, builder.fsub(shifted, magic)))
    exponent = builder.shl(builder.bitcast(shifted, ints), constant(ints, mantissa))
    # The exponent bits of 2ⁿ; for n = -bias that is 0.
    power = builder.bitcast(builder.add(exponent, constant(ints, bias << mantissa)), floats)
    return builder.fmul(total, power)


def _call(builder, name, result, arguments, kinds):
    lanes = result.count
    suffix = f"v{lanes}f{64 if isinstance(result.element, ir.DoubleType) else 32}"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), f"{name}.{suffix}")
    return builder.call(function, arguments)


def _scaled(builder, total, whole, x, least):
    """total · 2^whole, or 0 where x is below the least: one instruction of AVX-512."""
    floats, lanes = total.type, total.type.count
    bits = ir.IntType(lanes)
    kept = builder.fcmp_unordered(">=", x, ir.Constant(floats, [least] * lanes))
    suffix = "pd" if isinstance(floats.element, ir.DoubleType) else "ps"
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(floats, [floats, floats, floats, bits, I32]),
        f"llvm.x86.avx512.mask.scalef.{suffix}.512",
    )
    nothing = ir.Constant(floats, [0.0] * lanes)
    as_the_processor_rounds = I32(4)
    return builder.call(function, [total, whole, nothing, builder.bitcast(kept, bits), as_the_processor_rounds])


@intrinsic
def exp2(typingctx, x):
    """2ˣ in each lane, as `exp2_value`."""
    return x(x), lambda context, builder, signature, args: exp2_value(builder, args[0])


#: tanh x = x + x³·P(x²)/Q(x²) below 0.625, coefficients from the highest power down: Moshier, Cephes (1989).
TANH = {
    types.float32: (
        (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1),
        (1.0,),
    ),
    types.float64: (
        (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3),
        (1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3),
    ),
}


def tanh_value(builder, x):
    """tanh x in each lane."""
    element = types.float32 if isinstance(x.type.element, ir.FloatType) else types.float64

    def constant(value):
        return ir.Constant(x.type, [value] * x.type.count)

    def polynomial(coefficients, at):
        value = constant(coefficients[0])
        for c in coefficients[1:]:
            value = fma_value(builder, value, at, constant(c))
        return value

    square, size = builder.fmul(x, x), magnitude_value(builder, x)
    above, below = (polynomial(part, square) for part in TANH[element])
    near = fma_value(builder, builder.fmul(x, square), builder.fdiv(above, below), x)
    # From e^-2|x|, which can't overflow.
    power = exp2_value(builder, builder.fmul(size, constant(-2 * math.log2(math.e))))
    far = builder.fdiv(builder.fsub(constant(1.0), power), builder.fadd(constant(1.0), power))
    far = builder.select(builder.fcmp_ordered("<", x, constant(0.0)), builder.fneg(far), far)
    return builder.select(builder.fcmp_ordered("<", size, constant(0.625)), near, far)


@intrinsic
def tanh(typingctx, x):
    """tanh x in each lane."""
    return x(x), lambda context, builder, signature, args: tanh_value(builder, *args)
