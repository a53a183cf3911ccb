"""The inner tiles of decoding, in LLVM IR; they prefetch the next block while they multiply.

There are few rows of queries, and many of keys and values, each of which is read once:

    scores[key][row] = Σ_d k[key][d] · q[d][row]          lanes are rows of queries, as many as there are
    out[row][e]      = Σ_key w[row][key] · v[key][e]      lanes are value columns

Even and odd terms are summed separately, in order, and the two sums added, exactly as in `tiles`: so the bits are the
same.

A tile jumps from row to row, which hardware prefetchers don't predict. So it prefetches the cache lines of the next
block, in memory order, one or a few for every pair of terms: all at once, they would delay the tile's own loads.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.memory import prefetch
from eyeline.kernels.compiled.phi_nodes import come_from, phis
from eyeline.kernels.compiled.simd import ELEMENTS, I32, I64, fma_value, pointer, splat_value

#: Bytes of a cache line.
LINE = 64


#: The number of keys in a tile of scores: one sum each, enough to hide the latency of a multiply-add.
KEYS_AT_ONCE = 8


def scores_tile(dtype: type[np.floating], few: int):
    """The scores of `KEYS_AT_ONCE` keys for `few` rows of queries, as an intrinsic.

    Its arguments: the address of the keys, the bytes from one to the next, the last key that may be read (keys beyond
    it read it again), the address of the queries, their width D, the address of the scores, [key][few], and the
    arguments of `prefetching`. Queries are packed [pairs of d][few][2]: the sums of even and odd terms lie side by
    side, so that one multiply-add serves both.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    both, single = ir.VectorType(llvm, 2 * few), ir.VectorType(llvm, few)
    prefetched = -(-2 * KEYS_AT_ONCE * size // LINE)

    @intrinsic
    def tile(typingctx, keys, token, last_key, queries, width, scores, ahead, ahead_width, ahead_row):
        def codegen(context, builder, signature, args):
            keys, token, last_key, queries, width, scores, ahead, ahead_width, ahead_row = args
            rows = []
            for r in range(KEYS_AT_ONCE):
                clamped = builder.select(builder.icmp_signed("<", I64(r), last_key), I64(r), last_key)
                rows.append(builder.add(keys, builder.mul(clamped, token)))
            nothing = [ir.Constant(both, [0.0] * (2 * few))] * KEYS_AT_ONCE

            def pair(address):
                """Two numbers of a key, repeated in all lanes."""
                if size == 4:
                    # Load both as one number of 64 bits, which a single instruction can broadcast.
                    double = builder.load(pointer(builder, address, ELEMENTS[types.float64]), align=size)
                    return builder.bitcast(splat_value(builder, double, few), both)
                two = ir.VectorType(llvm, 2)
                order = ir.Constant(ir.VectorType(I32, 2 * few), [0, 1] * few)
                loaded = builder.load(pointer(builder, address, two), align=size)
                return builder.shuffle_vector(loaded, ir.Constant(two, ir.Undefined), order)

            def step_on(i, sums):
                q = builder.load(
                    pointer(builder, builder.add(queries, builder.mul(i, I64(few * size))), both), align=size
                )
                offset = builder.mul(i, I64(size))
                return [
                    fma_value(builder, pair(builder.add(row, offset)), q, total)
                    for row, total in zip(rows, sums, strict=True)
                ]

            start = builder.block
            loop, rest, last, done = (
                builder.append_basic_block(f"scores.{name}") for name in ("loop", "rest", "last", "done")
            )
            pairs_end = builder.and_(width, I64(-2))
            builder.cbranch(builder.icmp_signed(">", pairs_end, I64(0)), loop, rest)
            builder.position_at_end(loop)
            i, *cursor = phis(builder, [I64(0), ahead, ahead], start)
            sums = phis(builder, nothing, start)
            further = prefetching(builder, *cursor, ahead_width, ahead_row, prefetched)
            added = step_on(i, sums)
            after = builder.add(i, I64(2))
            come_from(loop, [i, *cursor, *sums], [after, *further, *added])
            builder.cbranch(builder.icmp_signed("<", after, pairs_end), loop, rest)
            builder.position_at_end(rest)
            sums = phis(builder, nothing, start)
            come_from(loop, sums, added)
            builder.cbranch(builder.icmp_signed("==", pairs_end, width), done, last)
            builder.position_at_end(last)
            q = builder.load(
                pointer(builder, builder.add(queries, builder.mul(pairs_end, I64(few * size))), both), align=size
            )
            offset = builder.mul(pairs_end, I64(size))
            even_lanes = ir.Constant(ir.VectorType(ir.IntType(1), 2 * few), [True, False] * few)
            one_more = []
            for row, total in zip(rows, sums, strict=True):
                number = builder.load(pointer(builder, builder.add(row, offset), llvm), align=size)
                product = fma_value(builder, splat_value(builder, number, 2 * few), q, total)
                one_more.append(builder.select(even_lanes, product, total))
            builder.branch(done)
            builder.position_at_end(done)
            sums = phis(builder, sums, rest)
            come_from(last, sums, one_more)
            evens, odds = (ir.Constant(ir.VectorType(I32, few), list(range(first, 2 * few, 2))) for first in (0, 1))
            for r, total in enumerate(sums):
                even, odd = (builder.shuffle_vector(total, ir.Constant(both, ir.Undefined), x) for x in (evens, odds))
                at = pointer(builder, scores, single, r * few * size)
                builder.store(builder.fadd(even, odd), at, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 9), codegen

    return tile


def values_tile(dtype: type[np.floating], lanes: int, rows: int, vectors: int):
    """out[rows][vectors·lanes] = out · factor + weights[rows][n] · values[n][vectors·lanes], as an intrinsic; a factor
    per row, n at least 1.

    Its arguments: the address of the weights and the bytes from one key's to the next's (rows lie side by side), the
    address of the values and the bytes from one key's to the next's, n, the address of the sums and the bytes from one
    row to the next, the address of the factors, and the arguments of `prefetching`.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    stride = lanes * size
    prefetched = -(-2 * vectors * stride // LINE)

    @intrinsic
    def tile(typingctx, weights, line, values, token, n, out, out_line, factors, ahead, ahead_width, ahead_row):
        def codegen(context, builder, signature, args):
            weights, line, values, token, n, out, out_line, factors, ahead, ahead_width, ahead_row = args
            places = [(r, w) for r in range(rows) for w in range(vectors)]
            nothing = [ir.Constant(vector, [0.0] * lanes)] * (2 * len(places))

            def spread(address, r):
                number = builder.load(pointer(builder, address, llvm, r * size), align=size)
                return splat_value(builder, number, lanes)

            def step_on(weight_at, value_at, sums):
                """One key's values times its weights, added to the sums."""
                by = [spread(weight_at, r) for r in range(rows)]
                vs = [builder.load(pointer(builder, value_at, vector, w * stride), align=size) for w in range(vectors)]
                return [fma_value(builder, by[r], vs[w], total) for (r, w), total in zip(places, sums, strict=True)]

            start = builder.block
            loop, rest, last, done = (
                builder.append_basic_block(f"values.{name}") for name in ("loop", "rest", "last", "done")
            )
            pairs_end = builder.and_(n, I64(-2))
            builder.cbranch(builder.icmp_signed(">", pairs_end, I64(0)), loop, rest)
            builder.position_at_end(loop)
            i, *cursor = phis(builder, [I64(0), ahead, ahead], start)
            at = phis(builder, [weights, values], start)
            sums = phis(builder, nothing, start)
            further = prefetching(builder, *cursor, ahead_width, ahead_row, prefetched)
            even = step_on(*at, sums[: len(places)])
            between = [builder.add(at[0], line), builder.add(at[1], token)]
            odd = step_on(*between, sums[len(places) :])
            beyond = [builder.add(between[0], line), builder.add(between[1], token)]
            after = builder.add(i, I64(2))
            come_from(loop, [i, *cursor, *at, *sums], [after, *further, *beyond, *even, *odd])
            builder.cbranch(builder.icmp_signed("<", after, pairs_end), loop, rest)
            builder.position_at_end(rest)
            merged = phis(builder, [weights, values, *nothing], start)
            come_from(loop, merged, [*beyond, *even, *odd])
            at, sums = merged[:2], merged[2:]
            even, odd = sums[: len(places)], sums[len(places) :]
            builder.cbranch(builder.icmp_signed("==", pairs_end, n), done, last)
            builder.position_at_end(last)
            one_more = step_on(*at, even)
            builder.branch(done)
            builder.position_at_end(done)
            even = phis(builder, even, rest)
            come_from(last, even, one_more)
            for (r, w), x, y in zip(places, even, odd, strict=True):
                to = pointer(builder, builder.add(out, builder.mul(I64(r), out_line)), vector, w * stride)
                total = fma_value(builder, builder.load(to, align=size), spread(factors, r), builder.fadd(x, y))
                builder.store(total, to, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 11), codegen

    return tile


def prefetching(builder, line, row, width, apart, count):
    """Prefetch `count` cache lines from the address `line` on, in a row of `width` bytes at `row`; rows are `apart`
    bytes apart. Returns the next `line` and `row`."""
    for number in range(count):
        prefetch(builder, line, number * LINE)
    line, following = builder.add(line, I64(count * LINE)), builder.add(row, apart)
    ended = builder.icmp_signed(">=", builder.sub(line, row), width)
    return builder.select(ended, following, line), builder.select(ended, following, row)
