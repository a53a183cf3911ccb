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
from eyeline.kernels.compiled.phi_nodes import come_from, phis, repeated
from eyeline.kernels.compiled.simd import I16, I64, fma_value, for_webassembly, pointer, splat_value

FLOAT = ir.FloatType()
#: How far ahead weights are fetched, in bytes: about a block of inputs of one panel.
AHEAD = 1 << 15
#: The number of columns in a round in WebAssembly, where the addresses' arithmetic costs as much as a column's.
TOGETHER = 4


def _load_weights(builder, address, offset, lanes, stored):
    """`lanes` weights of the stored type, `offset` bytes after an address, as float32."""
    if stored == Half.NOT:
        return builder.load(pointer(builder, address, ir.VectorType(FLOAT, lanes), offset), align=4)
    bits = builder.load(pointer(builder, address, ir.VectorType(I16, lanes), offset), align=2)
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

        def step(offset, weights, sums, number=0):
            """One column of x times one line of weights, added to the sums; `number` columns on."""
            ws = [
                _load_weights(builder, weights, (number * line + w * lanes) * size, lanes, stored)
                for w in range(vectors)
            ]
            if not for_webassembly(builder):
                for b in range(0, line * size, 64):
                    prefetch(builder, weights, b + AHEAD)
            xs = [builder.load(pointer(builder, builder.add(a, offset), FLOAT, 4 * number), align=4) for a in at]
            spread = [splat_value(builder, x, lanes) for x in xs]
            return [fma_value(builder, spread[r], ws[w], s) for (r, w), s in zip(places, sums, strict=True)]

        def columns(state, count, at_once):
            """`count` columns that lie side by side, `at_once` in a round; returns what the state is then."""

            def round_(state):
                offset, weights, *sums = state
                for number in range(at_once):
                    sums = step(offset, weights, sums, number)
                onward = I64(4 * at_once), I64(at_once * line * size)
                return [*map(builder.add, (offset, weights), onward), *sums]

            return repeated(builder, builder.sdiv(count, I64(at_once)), state, round_)

        start = builder.block
        names = ("segment", "product.done")
        segments, done = (builder.append_basic_block(name) for name in names)
        builder.cbranch(builder.icmp_signed(">", n, I64(0)), segments, done)

        builder.position_at_end(segments)
        state = phis(builder, [n, run, offset, weights, *[zero] * len(places)], start)
        left, run, *at_now = state
        steps = builder.select(builder.icmp_signed("<", run, left), run, left)
        if for_webassembly(builder) and stored == Half.NOT:
            at_now = columns(at_now, steps, TOGETHER)
            at_now = columns(at_now, builder.srem(steps, I64(TOGETHER)), 1)
        else:
            at_now = columns(at_now, steps, 1)
        offset, weights, *sums = at_now
        left = builder.sub(left, steps)
        ended = builder.block
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
