"""What a Transformer computes row by row: layer norm and root-mean-square norm, of a sum if asked, and the rotation of
queries and keys by their positions.

A task is a block of rows. A row's columns lie in vectors of 16 lanes, whatever the processor's width (LLVM splits wider
ones), and every lane sums its own columns, so a row's bits depend on that row alone, and not on the processor.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.partial_vectors import partial_vectors
from eyeline.kernels.compiled.records import add_to_field, compiled, record_at
from eyeline.kernels.compiled.rowwise_params import ROWWISE, RowPass
from eyeline.kernels.compiled.simd import fma, total

LANES = 16
VECTOR = 4 * LANES
LAYER_NORM, ROTATE = int(RowPass.LAYER_NORM), int(RowPass.ROTATE)


@intrinsic
def _inverse_root(typingctx, x):
    """1/√x of a float32, each step rounded."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(args[0].type, [args[0].type])
        root = builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.sqrt.f32"), args)
        return builder.fdiv(ir.Constant(root.type, 1.0), root)

    return types.float32(types.float32), codegen


def rowwise(dtype, *_sizes_of_attention):
    """The kernel: `kernel(params, workspace, most)` does up to `most` tasks, and returns the number of tasks not yet
    taken when it stopped. It needs no workspace but a row's sums, where no memory for them was given."""
    W = width(dtype, LANES)
    load, store, splat, load_scalar = W.load, W.store, W.splat, W.load_scalar
    load_first, store_first = partial_vectors(LANES)
    params_at = record_at(ROWWISE)
    zero = dtype(0)

    @compiled
    def summed(p, x, residual, kept, columns):
        """Write x + residual to `kept`; returns each lane's sum."""
        whole = columns - columns % LANES
        sums, more = splat(zero), splat(zero)
        for c in range(0, whole * 4, VECTOR):
            value = load(x + c)
            if residual != 0:
                value = value + load(residual + c)
            if kept != x:
                store(kept + c, value)
            if c & VECTOR:
                more = more + value
            else:
                sums = sums + value
        if whole < columns:
            c, left = whole * 4, columns - whole
            value = load_first(x + c, left)
            if residual != 0:
                value = value + load_first(residual + c, left)
            if kept != x:
                store_first(kept + c, value, left)
            sums = sums + value
        return total(sums + more)

    @compiled
    def squared(x, mean, columns):
        """Σ (x - mean)²."""
        whole = columns - columns % LANES
        sums, more = splat(zero), splat(zero)
        for c in range(0, whole * 4, VECTOR):
            value = load(x + c) - splat(mean)
            if c & VECTOR:
                more = fma(value, value, more)
            else:
                sums = fma(value, value, sums)
        result = total(sums + more)
        if whole < columns:
            # The lanes beyond the row must not count: for them, 0 - mean.
            for c in range(whole * 4, columns * 4, 4):
                value = load_scalar(x + c) - mean
                result += value * value
        return result

    @compiled
    def scaled(p, x, mean, factor, y, columns):
        """y = (x - mean) · factor · weight + bias."""
        weight, bias = p.weight, p.bias
        whole = columns - columns % LANES
        for c in range(0, whole * 4, VECTOR):
            value = (load(x + c) - splat(mean)) * splat(factor) * load(weight + c)
            if bias != 0:
                value = value + load(bias + c)
            store(y + c, value)
        if whole < columns:
            c, left = whole * 4, columns - whole
            value = (load_first(x + c, left) - splat(mean)) * splat(factor) * load_first(weight + c, left)
            if bias != 0:
                value = value + load_first(bias + c, left)
            store_first(y + c, value, left)

    @compiled
    def norm(p, x, residual, kept, y):
        columns = p.columns
        count = dtype(columns)
        sums = summed(p, x, residual, kept, columns)
        mean = sums / count if p.kind == LAYER_NORM else zero
        variance = squared(kept, mean, columns) / count
        scaled(p, kept, mean, _inverse_root(variance + dtype(p.epsilon)), y, columns)

    @compiled
    def rotated(left, right, cos, sin, y, y_right, count):
        """One vector of each half, `count` lanes of it."""
        if count >= LANES:
            a, b, c, s = load(left), load(right), load(cos), load(sin)
            store(y, a * c - b * s)
            store(y_right, b * c + a * s)
        else:
            a, b = load_first(left, count), load_first(right, count)
            c, s = load_first(cos, count), load_first(sin, count)
            store_first(y, a * c - b * s, count)
            store_first(y_right, b * c + a * s, count)

    @compiled
    def rotate(p, x, y, position):
        """All heads of one token."""
        half = p.columns // 2
        cos, sin = p.weight + position * half * 4, p.bias + position * half * 4
        for head in range(p.heads):
            at, to = x + head * p.x_head, y + head * p.y_head
            for d in range(0, half, LANES):
                rotated(
                    at + d * 4, at + (half + d) * 4, cos + d * 4, sin + d * 4, to + d * 4, to + (half + d) * 4, half - d
                )

    def kernel(params, workspace, most):
        p = params_at(params)
        while most > 0:
            task = add_to_field(p, "next_task", 1)
            if task >= p.tasks:
                return 0
            most -= 1
            first = task * p.row_block
            outer, inner = first // p.together, first % p.together
            for _ in range(min(p.row_block, p.rows - first)):
                x = p.x.address + outer * p.x.outer + inner * p.x.inner
                y = p.y.address + outer * p.y.outer + inner * p.y.inner
                if p.kind == ROTATE:
                    rotate(p, x, y, inner)
                else:
                    residual, kept = 0, x
                    if p.residual.address != 0:
                        residual = p.residual.address + outer * p.residual.outer + inner * p.residual.inner
                        kept = workspace
                    if p.total.address != 0:
                        kept = p.total.address + outer * p.total.outer + inner * p.total.inner
                    norm(p, x, residual, kept, y)
                inner += 1
                if inner == p.together:
                    outer, inner = outer + 1, 0
        return max(p.tasks - p.next_task, 0)

    return kernel
