"""The activation functions of feed-forward layers in every lane, float32: the same bits at any vector width."""

from __future__ import annotations

import math

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.elementary import exp2_value
from eyeline.kernels.compiled.product_params import Activation
from eyeline.kernels.compiled.simd import Vec, fma_value, magnitude_value, maximum_value

#: log₂ Φ(-t), Φ the normal distribution, as a polynomial, from the constant up. Up to t = 7 (Φ = 1.3e-12) its relative
#: error is below 1e-4, and what it makes of Φ, in float32, is exact to 3e-8; beyond, it falls faster still.
LOG_TAIL = (
    -1.0,
    -1.1511046886444092,
    -0.4592175781726837,
    -0.05244923382997513,
    0.006956329569220543,
    -6.910884167155018e-06,
    -0.0002757900510914624,
    7.480059866793454e-05,
    -1.0521435797272716e-05,
    7.966293651406886e-07,
    -2.5460003882926685e-08,
)
#: Where Φ(-t) is 0 in float32, so that infinity times 0 doesn't arise.
FAR = 16.0


def _constant(x, value):
    return ir.Constant(x.type, [value] * x.type.count)


def relu_value(builder, x):
    """max(x, 0); NaN for NaN."""
    return maximum_value(builder, _constant(x, 0.0), x)


def _logistic_times(builder, x, z):
    """x · σ(z), where σ(z) = 1/(1 + e⁻ᶻ), from e^-|z|, which can't overflow."""
    power = exp2_value(builder, builder.fmul(magnitude_value(builder, z), _constant(z, -math.log2(math.e))))
    # σ(z) is 1/(1 + power) for z ≥ 0, and power/(1 + power) for z < 0.
    above = builder.select(builder.fcmp_ordered("<", z, _constant(z, 0.0)), builder.fmul(x, power), x)
    return builder.fdiv(above, builder.fadd(_constant(z, 1.0), power))


def silu_value(builder, x):
    """x · σ(x). Source: Elfwing, Uchibe & Doya (2017)."""
    return _logistic_times(builder, x, x)


def gelu_tanh_value(builder, x):
    """x · (1 + tanh u)/2, u = √(2/π) · (x + 0.044715 x³), which is x · σ(2u). Source: Hendrycks & Gimpel (2016)."""
    factor = 2 * math.sqrt(2 / math.pi)
    square = builder.fmul(x, x)
    slope = fma_value(builder, square, _constant(x, 0.044715 * factor), _constant(x, factor))
    return _logistic_times(builder, x, builder.fmul(x, slope))


def gelu_value(builder, x):
    """x · Φ(x), Φ the normal distribution: max(x, 0) - |x| · Φ(-|x|). Source: Hendrycks & Gimpel (2016)."""
    size = magnitude_value(builder, x)
    far = _constant(x, FAR)
    size = builder.select(builder.fcmp_ordered("<", size, far), size, far)
    power = _constant(x, LOG_TAIL[-1])
    for coefficient in reversed(LOG_TAIL[:-1]):
        power = fma_value(builder, power, size, _constant(x, coefficient))
    return fma_value(builder, builder.fneg(size), exp2_value(builder, power), relu_value(builder, x))


VALUES = {
    Activation.RELU: relu_value,
    Activation.GELU: gelu_value,
    Activation.GELU_TANH: gelu_tanh_value,
    Activation.SILU: silu_value,
}


def activation(kind: Activation, lanes: int):
    """An activation function on vectors of `lanes` float32, as an intrinsic."""
    vector = Vec(types.float32, lanes)

    @intrinsic
    def activate(typingctx, x):
        return vector(vector), lambda context, builder, signature, args: VALUES[kind](builder, args[0])

    return activate
