"""The inner tile of a product with a packed matrix, in LLVM IR.

Outputs lie in the lanes. A *panel* is `vectors · lanes` outputs, its weights packed [inputs][panel] in the stored type;
numbers of x are read in place, one at a time, each spread over all lanes:

    y[row][output] = Σ_i x[row][i] · w[i][output]

The sums of `rows` rows stay in registers. Each lane sums in order, with one rounding per term, so a row's bits depend
neither on the tile nor on the vector width.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.compiled.half_precision import widen_bfloat16, widen_float16
from eyeline.kernels.compiled.memory import prefetch
from eyeline.kernels.compiled.phi_nodes import come_from, phis
from eyeline.kernels.compiled.simd import I16, I64, fma_value, pointer, splat_value

FLOAT = ir.FloatType()
#: How far ahead weights are fetched, in bytes: about a block of inputs of one panel.
AHEAD = 1 << 15


def _load_weights(builder, address, lanes, stored):
    """`lanes` weights of the stored type at an address, as float32."""
    if stored == Half.NOT:
        return builder.load(pointer(builder, address, ir.VectorType(FLOAT, lanes)), align=4)
    bits = builder.load(pointer(builder, address, ir.VectorType(I16, lanes)), align=2)
    return widen_float16(builder, bits) if stored == Half.FLOAT16 else widen_bfloat16(builder, bits)


def product_tile(lanes: int, vectors: int, rows: int, stored: Half):
    """sums[row][vectors·lanes] = Σ_i x[row][i] · w[i][vectors·lanes], or += if `added`, as an intrinsic.

    Its arguments: the address of the rows' addresses, int64; the bytes from there to the first column to read; the
    number of columns that follow it side by side, the number in all further segments, and the bytes between segments;
    the address of the weights; n; the address of the sums; and `added`.
    """
    size = 4 if stored == Half.NOT else 2
    vector, line = ir.VectorType(FLOAT, lanes), vectors * lanes
    zero = ir.Constant(vector, [0.0] * lanes)
    places = [(r, w) for r in range(rows) for w in range(vectors)]

    def products(builder, table, offset, run, segment, jump, weights, n):
        at = [builder.load(pointer(builder, table, I64, 8 * r)) for r in range(rows)]

        def step(offset, weights, sums):
            """One column of x times one line of weights, added to the sums."""
            ws = [
                _load_weights(builder, builder.add(weights, I64(w * lanes * size)), lanes, stored)
                for w in range(vectors)
            ]
            for b in range(0, line * size, 64):
                prefetch(builder, weights, b + AHEAD)
            xs = [builder.load(pointer(builder, builder.add(a, offset), FLOAT), align=4) for a in at]
            spread = [splat_value(builder, x, lanes) for x in xs]
            return [fma_value(builder, spread[r], ws[w], s) for (r, w), s in zip(places, sums, strict=True)]

        start = builder.block
        names = ("segment", "product", "segment.end", "product.done")
        segments, loop, ended, done = (builder.append_basic_block(name) for name in names)
        builder.cbranch(builder.icmp_signed(">", n, I64(0)), segments, done)

        builder.position_at_end(segments)
        state = phis(builder, [n, run, offset, weights, *[zero] * len(places)], start)
        left, run, offset, weights, *sums = state
        steps = builder.select(builder.icmp_signed("<", run, left), run, left)
        builder.branch(loop)

        builder.position_at_end(loop)
        inner = phis(builder, [steps, offset, weights, *sums], segments)
        to_go, offset, weights, *sums = inner
        sums = step(offset, weights, sums)
        to_go = builder.sub(to_go, I64(1))
        offset, weights = builder.add(offset, I64(4)), builder.add(weights, I64(line * size))
        come_from(loop, inner, [to_go, offset, weights, *sums])
        builder.cbranch(builder.icmp_signed(">", to_go, I64(0)), loop, ended)

        builder.position_at_end(ended)
        left = builder.sub(left, steps)
        come_from(ended, state, [left, segment, builder.add(offset, jump), weights, *sums])
        builder.cbranch(builder.icmp_signed(">", left, I64(0)), segments, done)

        builder.position_at_end(done)
        ends = phis(builder, [zero] * len(places), start)
        come_from(ended, ends, sums)
        return ends

    @intrinsic
    def tile(typingctx, table, offset, run, segment, jump, weights, n, sums, added):
        def codegen(context, builder, signature, args):
            *reading, sums, added = args
            found = products(builder, *reading)
            more = builder.icmp_signed("!=", added, I64(0))
            for (r, w), total in zip(places, found, strict=True):
                at = pointer(builder, sums, vector, (r * line + w * lanes) * 4)
                both = builder.fadd(builder.load(at, align=4), total)
                builder.store(builder.select(more, both, total), at, align=4)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 9), codegen

    return tile
