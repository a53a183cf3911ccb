"""The inner tiles, in LLVM's own language: both matrix products, the exponentials between them, the transposition.

Queries lie in the lanes. A *panel* is `vectors · lanes` queries, packed [D][panel] so that one row of it is a few
vectors; keys and values are read where they are, one number at a time, each spread over the lanes:

    scores[key][query] = Σ_d k[key][d] · q[d][query]          products: rows are keys, the sum runs over d
    out[e][query]      = Σ_key v[key][e] · w[key][query]      products: rows are value columns, the sum runs over keys

Both are C[rows][panel] = A[rows][n] · B[n][panel], kept in registers. Each lane sums the even and the odd terms, in
order, with one rounding a step, and adds the two: half as many roundings on top of one another as in a single sum, at
no cost, and a query's bits depend neither on the tile nor on the vector width.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.elementary import exp2_value
from eyeline.kernels.layout import SUM_BLOCK
from eyeline.kernels.simd import ELEMENTS, I8, I32, I64, fma_value, maximum_value, pointer, splat_value


def _row_addresses(builder, a, stride, last_row, rows):
    """Where each row of A begins; rows beyond the last are the last."""
    clamped = [builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row) for r in range(rows)]
    return [builder.add(a, builder.mul(row, stride)) for row in clamped]


def _products(builder, llvm, lanes, vectors, row_addresses, column_stride, b, b_stride, n):
    """A[rows][n] · B[n][vectors·lanes], row by row, as vectors: the sum of the even terms plus that of the odd ones."""
    vector = ir.VectorType(llvm, lanes)
    size = 4 if isinstance(llvm, ir.FloatType) else 8
    zero = ir.Constant(vector, [0.0] * lanes)
    places = [(r, w) for r in range(len(row_addresses)) for w in range(vectors)]

    def step_on(offset, b_at, sums):
        """One column of A times one line of B, added to the sums."""
        bs = [builder.load(pointer(builder, b_at, vector, w * lanes * size), align=size) for w in range(vectors)]
        spread = [
            splat_value(builder, builder.load(pointer(builder, builder.add(at, offset), llvm), align=size), lanes)
            for at in row_addresses
        ]
        return [fma_value(builder, spread[r], bs[w], total) for (r, w), total in zip(places, sums, strict=True)]

    def phis(values, block):
        """Values that differ by where the loop comes from; `values` are those from `block`."""
        found = []
        for value in values:
            phi = builder.phi(value.type)
            phi.add_incoming(value, block)
            found.append(phi)
        return found

    start = builder.block
    names = ("product", "product.rest", "product.last", "product.done")
    loop, rest, last, done = (builder.append_basic_block(name) for name in names)
    pairs_end = builder.and_(n, I64(-2))
    builder.cbranch(builder.icmp_signed(">", pairs_end, I64(0)), loop, rest)
    builder.position_at_end(loop)
    i, offset, b_at, *sums = phis([I64(0), I64(0), b, *[zero] * (2 * len(places))], start)
    even = step_on(offset, b_at, sums[: len(places)])
    offset_2, b_2 = builder.add(offset, column_stride), builder.add(b_at, b_stride)
    odd = step_on(offset_2, b_2, sums[len(places) :])
    after = builder.add(i, I64(2))
    following = [after, builder.add(offset_2, column_stride), builder.add(b_2, b_stride), *even, *odd]
    for phi, value in zip((i, offset, b_at, *sums), following, strict=True):
        phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_signed("<", after, pairs_end), loop, rest)
    builder.position_at_end(rest)
    merged = phis([I64(0), b, *[zero] * (2 * len(places))], start)
    for phi, value in zip(merged, following[1:], strict=True):
        phi.add_incoming(value, loop)
    offset, b_at, *sums = merged
    even, odd = sums[: len(places)], sums[len(places) :]
    builder.cbranch(builder.icmp_signed("==", pairs_end, n), done, last)
    builder.position_at_end(last)
    one_more = step_on(offset, b_at, even)
    builder.branch(done)
    builder.position_at_end(done)
    ends = phis(even, rest)
    for phi, value in zip(ends, one_more, strict=True):
        phi.add_incoming(value, last)
    return [builder.fadd(x, y) for x, y in zip(ends, odd, strict=True)]


def plain_tile(dtype: type[np.floating], lanes: int, vectors: int, rows: int, added: bool):
    """C[rows][vectors·lanes] = A[rows][n] · B[n][vectors·lanes], or if `added` that more than it was, as an intrinsic.

    Its arguments: the address of A, the bytes from one row of A to the next and from one column to the next, the last
    row that may be read (rows beyond it read it again), the address of B, the bytes between its lines, n, the address
    of C and the bytes between its lines.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)

    @intrinsic
    def tile(typingctx, a, row_stride, column_stride, last_row, b, b_stride, n, c, c_stride):
        def codegen(context, builder, signature, args):
            a, row_stride, column_stride, last_row, b, b_stride, n, c, c_stride = args
            addresses = _row_addresses(builder, a, row_stride, last_row, rows)
            products = _products(builder, llvm, lanes, vectors, addresses, column_stride, b, b_stride, n)
            for r in range(rows):
                for w in range(vectors):
                    line = builder.add(c, builder.mul(I64(r), c_stride))
                    at = pointer(builder, line, vector, w * lanes * size)
                    product = products[r * vectors + w]
                    if added:
                        product = builder.fadd(builder.load(at, align=size), product)
                    builder.store(product, at, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 9), codegen

    return tile


def product_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int, rows: int, scaled: bool):
    """C[rows][vectors·lanes] = A[rows][n] · B[n][vectors·lanes], as an intrinsic; lines of B and C lie `line` vectors
    apart.

    Its arguments: the address of A, the bytes from one row of A to the next and from one column to the next, the last
    row that may be read (rows beyond it read it again), the address of B, n, the address of C, and that of one line
    more. If `scaled`, this holds factors, and C = C · factor + A · B; else it holds maxima, which are raised to those
    of the columns of C.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    step = lanes * size

    @intrinsic
    def tile(typingctx, a, row_stride, column_stride, last_row, b, n, c, extra):
        def codegen(context, builder, signature, args):
            a, row_stride, column_stride, last_row, b, n, c, extra = args
            addresses = _row_addresses(builder, a, row_stride, last_row, rows)
            products = _products(builder, llvm, lanes, vectors, addresses, column_stride, b, I64(line * step), n)
            places = [(r, w) for r in range(rows) for w in range(vectors)]
            lines = [pointer(builder, extra, vector, w * step) for w in range(vectors)]
            beside = [builder.load(at, align=size) for at in lines]
            for (r, w), product in zip(places, products, strict=True):
                at = pointer(builder, c, vector, (r * line + w) * step)
                if scaled:
                    product = fma_value(builder, builder.load(at, align=size), beside[w], product)
                else:
                    beside[w] = maximum_value(builder, beside[w], product)
                builder.store(product, at, align=size)
            if not scaled:
                for at, highest in zip(lines, beside, strict=True):
                    builder.store(highest, at, align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 8), codegen

    return tile


def weights_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int):
    """Scores to weights, 2^(score - top), for n lines of vectors, as an intrinsic.

    Its arguments: the address of the scores, that of the weights (which may be the same), n, how far the first line is
    from a multiple of `SUM_BLOCK`, the address of the tops, and the address where each lane's sum of weights is
    written. Weights are added up `SUM_BLOCK` at a time, at multiples of it, in order, and these sums then in order: a
    long sum in one go is what costs most accuracy in all of attention.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)
    step = lanes * size

    @intrinsic
    def tile(typingctx, scores, weights, n, lead, tops, sums):
        def codegen(context, builder, signature, args):
            scores, weights, n, lead, tops, sums = args
            zero = ir.Constant(vector, [0.0] * lanes)
            highest = [builder.load(pointer(builder, tops, vector, w * step), align=size) for w in range(vectors)]
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
            passed = builder.mul(i, I64(line * step))
            at, to = builder.add(scores, passed), builder.add(weights, passed)
            after = builder.add(i, I64(1))
            i.add_incoming(begin, outer)
            i.add_incoming(after, inner)
            added = []
            for w in range(vectors):
                place = pointer(builder, at, vector, w * step)
                weight = exp2_value(builder, builder.fsub(builder.load(place, align=size), highest[w]))
                builder.store(weight, pointer(builder, to, vector, w * step), align=size)
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
                builder.store(summed[w], pointer(builder, sums, vector, w * step), align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6), codegen

    return tile


def totals_tile(dtype: type[np.floating], lanes: int, line: int, vectors: int):
    """The sums over all queries of a panel for `lanes` keys, added to as many int64 in fixed point, as an intrinsic.

    Its arguments: the address of the keys' weights, in lines of `line` vectors of which `vectors` count; that of the
    int64; and how many units make 1. Returns whether all sums are finite; if not, it adds nothing. The sums are in a
    fixed tree: neighbours with neighbours.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector, doubles = ir.VectorType(llvm, lanes), ir.VectorType(ir.DoubleType(), lanes)
    whole = ir.VectorType(I64, lanes)
    step = lanes * size

    @intrinsic
    def tile(typingctx, weights, units, per_one):
        def codegen(context, builder, signature, args):
            weights, units, per_one = args
            sums = []
            for key in range(lanes):
                parts = [
                    builder.load(pointer(builder, weights, vector, (key * line + w) * step), align=size)
                    for w in range(vectors)
                ]
                sums.append(reduce(builder.fadd, parts))
            even, odd = (ir.Constant(ir.VectorType(I32, lanes), list(range(k, 2 * lanes, 2))) for k in (0, 1))
            while len(sums) > 1:
                sums = [
                    builder.fadd(builder.shuffle_vector(a, b, even), builder.shuffle_vector(a, b, odd))
                    for a, b in zip(sums[::2], sums[1::2], strict=True)
                ]
            total = sums[0]
            difference = builder.fsub(total, total)
            unsound = builder.fcmp_unordered("!=", difference, ir.Constant(vector, [0.0] * lanes))
            sound = builder.icmp_unsigned("==", builder.bitcast(unsound, ir.IntType(lanes)), ir.IntType(lanes)(0))
            with builder.if_then(sound):
                wide = total if size == 8 else builder.fpext(total, doubles)
                scaled = builder.fmul(wide, splat_value(builder, builder.sitofp(per_one, ir.DoubleType()), lanes))
                rounded = builder.fadd(scaled, ir.Constant(doubles, [0.5] * lanes))
                at = pointer(builder, units, whole)
                added = builder.add(builder.load(at, align=8), builder.fptosi(rounded, whole))
                builder.store(added, at, align=8)
            return sound

        return types.boolean(*[types.intp] * 3), codegen

    return tile


def turn_value(builder, rows):
    """A square of vectors turned over: lane i of row j becomes lane j of row i."""
    # Interleaving rows r and r + lanes/2, log2(lanes) times over, turns the square.
    lanes = len(rows)
    low = [x for k in range(lanes // 2) for x in (k, lanes + k)]
    high = [x for k in range(lanes // 2, lanes) for x in (k, lanes + k)]
    low, high = (ir.Constant(ir.VectorType(I32, lanes), order) for order in (low, high))
    for _ in range(lanes.bit_length() - 1):
        turned = []
        for r in range(lanes // 2):
            turned.append(builder.shuffle_vector(rows[r], rows[r + lanes // 2], low))
            turned.append(builder.shuffle_vector(rows[r], rows[r + lanes // 2], high))
        rows = turned
    return rows


@intrinsic
def turn_flags(typingctx, source, source_stride, last_row, target, target_stride):
    """A square of 16 × 16 bytes, turned over: target[j][i] = source[i][j]; rows beyond `last_row` read it again."""

    def codegen(context, builder, signature, args):
        source, source_stride, last_row, target, target_stride = args
        kind = ir.VectorType(I8, 16)
        rows = []
        for r in range(16):
            clamped = builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row)
            at = builder.add(source, builder.mul(clamped, source_stride))
            rows.append(builder.load(pointer(builder, at, kind), align=1))
        for r, row in enumerate(turn_value(builder, rows)):
            at = builder.add(target, builder.mul(I64(r), target_stride))
            builder.store(row, pointer(builder, at, kind), align=1)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5), codegen


def transpose_tile(dtype: type[np.floating], lanes: int):
    """A square of lanes × lanes numbers, turned over: target[j][i] = source[i][j] · factor[j or i], as an intrinsic.

    Its arguments: the address of the source, the bytes between its rows, the last row that may be read (rows beyond it
    read it again), the address of the target, the bytes between its rows, how many of these are written, and a vector
    that every row of the source is multiplied by, lane by lane, before it is turned.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector = ir.VectorType(llvm, lanes)

    @intrinsic
    def tile(typingctx, source, source_stride, last_row, target, target_stride, count, factor):
        def codegen(context, builder, signature, args):
            source, source_stride, last_row, target, target_stride, count, factor = args
            rows = []
            for r in range(lanes):
                clamped = builder.select(builder.icmp_signed("<", I64(r), last_row), I64(r), last_row)
                at = builder.add(source, builder.mul(clamped, source_stride))
                rows.append(builder.fmul(builder.load(pointer(builder, at, vector), align=size), factor))
            rows = turn_value(builder, rows)
            for r in range(lanes):
                with builder.if_then(builder.icmp_signed("<", I64(r), count)):
                    at = builder.add(target, builder.mul(I64(r), target_stride))
                    builder.store(rows[r], pointer(builder, at, vector), align=size)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6, factor), codegen

    return tile
