"""The inner tile of the softmax, in LLVM IR: weights from scores, and their sums."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.elementary import exp2_value
from eyeline.kernels.compiled.programs import SUM_BLOCK
from eyeline.kernels.compiled.simd import ELEMENTS, I64, pointer


def weights_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int):
    """Weights from scores, 2^(score - shift), for n lines of vectors, as an intrinsic.

    Its arguments: the address of the scores, the address of the weights (which may be the same), n, the first line's
    distance from the last multiple of `SUM_BLOCK`, the address of the shifts, and the address where each lane's sum of
    weights is written. Weights are summed `SUM_BLOCK` at a time, at multiples of it, in order, and these sums then in
    order: a single long sum would be the largest rounding error in all of attention.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    stride = lanes * size

    @intrinsic
    def tile(typingctx, scores, weights, n, lead, shifts, sums):
        def codegen(context, builder, signature, args):
            scores, weights, n, lead, shifts, sums = args
            zero = ir.Constant(vector, [0.0] * lanes)
            shift = [builder.load(pointer(builder, shifts, vector, w * stride), align=size) for w in range(vectors)]
            entry = builder.block
            outer, inner, inner_done, done = (
                builder.append_basic_block(f"weights.{name}") for name in ("outer", "inner", "added", "done")
            )
            builder.branch(outer)
            builder.position_at_end(outer)
            begin = builder.phi(I64)
            totals = [builder.phi(vector) for _ in range(vectors)]
            first = builder.icmp_signed("==", begin, I64(0))
            end = builder.add(begin, builder.select(first, builder.sub(I64(SUM_BLOCK), lead), I64(SUM_BLOCK)))
            end = builder.select(builder.icmp_signed("<", end, n), end, n)
            builder.branch(inner)
            builder.position_at_end(inner)
            i = builder.phi(I64)
            parts = [builder.phi(vector) for _ in range(vectors)]
            passed = builder.mul(i, I64(line * stride))
            at, to = builder.add(scores, passed), builder.add(weights, passed)
            after = builder.add(i, I64(1))
            i.add_incoming(begin, outer)
            i.add_incoming(after, inner)
            added = []
            for w in range(vectors):
                place = pointer(builder, at, vector, w * stride)
                weight = exp2_value(builder, builder.fsub(builder.load(place, align=size), shift[w]))
                builder.store(weight, pointer(builder, to, vector, w * stride), align=size)
                added.append(builder.fadd(parts[w], weight))
                parts[w].add_incoming(zero, outer)
                parts[w].add_incoming(added[w], inner)
            builder.cbranch(builder.icmp_signed("<", after, end), inner, inner_done)
            builder.position_at_end(inner_done)
            summed = [builder.fadd(totals[w], added[w]) for w in range(vectors)]
            begin.add_incoming(I64(0), entry)
            begin.add_incoming(end, inner_done)
            for w in range(vectors):
                totals[w].add_incoming(zero, entry)
                totals[w].add_incoming(summed[w], inner_done)
            builder.cbranch(builder.icmp_signed("<", end, n), outer, done)
            builder.position_at_end(done)
            for w in range(vectors):
                builder.store(summed[w], pointer(builder, sums, vector, w * stride), align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6), codegen

    return tile
