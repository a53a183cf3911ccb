"""The products of `tiles` for WebAssembly, in LLVM IR, to the bit what they are there.

A load there adds a constant to one address of 32 bits, and nothing else. So where A's numbers lie side by side, along
its rows or its columns, several terms are added up in a round, whose places differ by constants; what is left, and any
other A, goes term by term. There are 16 registers: all even terms are added up first, and then all odd ones.
"""

from __future__ import annotations

from llvmlite import ir

from eyeline.kernels.compiled.phi_nodes import repeated
from eyeline.kernels.compiled.simd import I32, fma_value, pointer, splat_value

#: The number of terms in a round.
TOGETHER = 4


def products(builder, llvm, lanes, vectors, row_addresses, row_stride, column_stride, b, b_stride, n, along_rows):
    """A[rows][n] · B[n][vectors·lanes], row by row, as vectors: the sum of the even terms plus that of the odd ones.
    Lines of B lie `b_stride` bytes apart, a constant. `along_rows` says which numbers of A are expected side by side:
    those of a row, or else those of a column."""
    vector = ir.VectorType(llvm, lanes)
    size = 4 if isinstance(llvm, ir.FloatType) else 8
    zeros = [ir.Constant(vector, [0.0] * lanes)] * (len(row_addresses) * vectors)
    b, row_stride, column_stride, *rows = (
        builder.trunc(x, I32) for x in (b, row_stride, column_stride, *row_addresses)
    )
    step = builder.mul(column_stride, I32(2))

    def term(numbers, b_at, number, sums):
        """One column of A times one line of B, `number` terms on: added to the sums, row by row."""
        lines = [2 * number * b_stride + w * lanes * size for w in range(vectors)]
        bs = [builder.load(pointer(builder, b_at, vector, line), align=size) for line in lines]
        spread = [
            splat_value(builder, builder.load(pointer(builder, at, llvm, further), align=size), lanes)
            for at, further in numbers
        ]
        places = [(factor, b) for factor in spread for b in bs]
        return [fma_value(builder, factor, b, total) for (factor, b), total in zip(places, sums, strict=True)]

    def numbers_along_rows(offset):
        ats = [builder.add(row, offset) for row in rows]
        return [[(at, 2 * number * size) for at in ats] for number in range(TOGETHER)]

    def numbers_along_columns(offset):
        found, at = [], builder.add(rows[0], offset)
        for _ in range(TOGETHER):
            found.append([(at, r * size) for r in range(len(rows))])
            at = builder.add(at, step)
        return found

    def several(state):
        offset, b_at, *sums = state
        numbers = numbers_along_rows(offset) if along_rows else numbers_along_columns(offset)
        for number, some in enumerate(numbers):
            sums = term(some, b_at, number, sums)
        onward = builder.mul(step, I32(TOGETHER)), I32(2 * TOGETHER * b_stride)
        return [*map(builder.add, (offset, b_at), onward), *sums]

    def single(state):
        offset, b_at, *sums = state
        sums = term([(builder.add(row, offset), 0) for row in rows], b_at, 0, sums)
        return [builder.add(offset, step), builder.add(b_at, I32(2 * b_stride)), *sums]

    def every_second(offset, b_at, terms):
        stride = column_stride if along_rows else row_stride
        rounds = builder.select(
            builder.icmp_unsigned("==", stride, I32(size)), builder.sdiv(terms, I32(TOGETHER)), I32(0)
        )
        state = repeated(builder, rounds, [offset, b_at, *zeros], several)
        rest = builder.sub(terms, builder.mul(rounds, I32(TOGETHER)))
        return repeated(builder, rest, state, single)[2:]

    n = builder.trunc(n, I32)
    even = every_second(I32(0), b, builder.ashr(builder.add(n, I32(1)), I32(1)))
    odd = every_second(column_stride, builder.add(b, I32(b_stride)), builder.ashr(n, I32(1)))
    return [builder.fadd(x, y) for x, y in zip(even, odd, strict=True)]
