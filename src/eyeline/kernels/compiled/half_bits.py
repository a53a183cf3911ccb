"""float16 widened and narrowed by arithmetic on its bits, in LLVM IR, for WebAssembly, which has no such numbers: equal
to what other processors' instructions give, for every number, subnormal ones, infinities and NaN included.

A float16 is a sign, 5 bits of exponent (bias 15) and 10 of fraction; a float32 has 8 (bias 127) and 23.
"""

from __future__ import annotations

from llvmlite import ir

from eyeline.kernels.compiled.simd import I16, I32

_FLOAT = ir.FloatType()
#: How many more bits of fraction a float32 has, and where its exponent begins.
_SHIFT, _EXPONENT = 13, 23
#: The bits of a float32: infinity; 65536, beyond float16; and 2^-14, the least normal float16.
_INFINITY, _BEYOND, _LEAST_NORMAL = 0x7F800000, (127 + 16) << _EXPONENT, (127 - 14) << _EXPONENT
#: The difference of the biases, in place.
_REBIAS = (127 - 15) << _EXPONENT
#: The bits of 0.5: added to a number below 2^-14, it leaves that number's units of 2^-24, rounded, in the last bits.
_HALF_ONE = 126 << _EXPONENT


def widen(builder, bits):
    """The bits of float16 numbers, a vector of int16, as a vector of float32."""
    lanes = bits.type.count
    whole, floats = ir.VectorType(I32, lanes), ir.VectorType(_FLOAT, lanes)

    def constant(number):
        return ir.Constant(whole, [number] * lanes)

    bits = builder.zext(bits, whole)
    sign = builder.shl(builder.and_(bits, constant(0x8000)), constant(16))
    size = builder.shl(builder.and_(bits, constant(0x7FFF)), constant(_SHIFT))
    normal = builder.add(size, constant(_REBIAS))
    # A subnormal number as the fraction of one of exponent -14, whose leading 1 is then taken off.
    least = constant(_LEAST_NORMAL)
    subnormal = builder.fsub(builder.bitcast(builder.add(size, least), floats), builder.bitcast(least, floats))
    without_exponent = builder.icmp_unsigned("<", size, constant(1 << _EXPONENT))
    result = builder.select(without_exponent, builder.bitcast(subnormal, whole), normal)
    infinity = constant(0x1F << _EXPONENT)
    quiet = builder.or_(size, constant(_INFINITY | 1 << 22))
    result = builder.select(builder.icmp_unsigned(">", size, infinity), quiet, result)
    result = builder.select(builder.icmp_unsigned("==", size, infinity), constant(_INFINITY), result)
    return builder.bitcast(builder.or_(result, sign), floats)


def narrow(builder, x):
    """A vector of float32 as the bits of float16 numbers, a vector of int16: rounded to nearest, ties to even."""
    lanes = x.type.count
    whole, floats = ir.VectorType(I32, lanes), ir.VectorType(_FLOAT, lanes)

    def constant(number):
        return ir.Constant(whole, [number] * lanes)

    bits = builder.bitcast(x, whole)
    size = builder.and_(bits, constant(0x7FFFFFFF))
    sign = builder.lshr(builder.and_(bits, constant(0x80000000)), constant(16))
    odd = builder.and_(builder.lshr(size, constant(_SHIFT)), constant(1))
    rounded = builder.add(builder.add(size, odd), constant((1 << _SHIFT - 1) - 1 - _REBIAS))
    normal = builder.lshr(rounded, constant(_SHIFT))
    half = constant(_HALF_ONE)
    sum_ = builder.fadd(builder.bitcast(size, floats), builder.bitcast(half, floats))
    subnormal = builder.sub(builder.bitcast(sum_, whole), half)
    result = builder.select(builder.icmp_unsigned("<", size, constant(_LEAST_NORMAL)), subnormal, normal)
    result = builder.select(builder.icmp_unsigned(">=", size, constant(_BEYOND)), constant(0x7C00), result)
    fraction = builder.and_(builder.lshr(size, constant(_SHIFT)), constant(0x03FF))
    quiet = builder.or_(fraction, constant(0x7E00))
    result = builder.select(builder.icmp_unsigned(">", size, constant(_INFINITY)), quiet, result)
    return builder.trunc(builder.or_(result, sign), ir.VectorType(I16, lanes))
