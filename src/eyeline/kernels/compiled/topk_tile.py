"""The inner tile of top-k, in LLVM IR: the few best scores of each lane, kept in registers."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.simd import ELEMENTS, I32, I64, maximum_value, pointer, splat_value

#: The number of keys that are looked at together: lanes seldom find one of them better than what they have.
_TOGETHER = 4


def topk_tile(dtype: type[np.floating], lanes: int, line: int, keys_line: int, length: int):
    """Insert n keys' scores into the lanes' lists of the `length` best, as an intrinsic.

    Its arguments: the address of the scores, in lines of `line` bytes; n; the first key's number; the address of a
    vector of lower bounds on the last of the best scores that are needed; and the addresses of the lists of scores, in
    descending order, in lines of `line` bytes, and of their keys, int32, in lines of `keys_line` bytes. Among equal
    scores the earlier key stays first; a score of -inf or NaN never enters.
    """
    element = types.float32 if dtype == np.float32 else types.float64
    llvm, size = ELEMENTS[element], np.dtype(dtype).itemsize
    vector, ints = ir.VectorType(llvm, lanes), ir.VectorType(I32, lanes)
    bits = ir.IntType(lanes)

    def entered(builder, best, keys, score, number):
        """The lists after one key."""
        better = [builder.fcmp_ordered(">", score, kept) for kept in best]
        new, new_keys = [], []
        for r in range(length):
            first = builder.select(better[r], score, best[r])
            first_key = builder.select(better[r], number, keys[r])
            new.append(builder.select(better[r - 1], best[r - 1], first) if r else first)
            new_keys.append(builder.select(better[r - 1], keys[r - 1], first_key) if r else first_key)
        return new, new_keys

    @intrinsic
    def tile(typingctx, scores, n, first_key, bounds, best, best_keys):
        def codegen(context, builder, signature, args):
            scores, n, first_key, bounds, best, best_keys = args
            minus = ir.Constant(vector, [float("-inf")] * lanes)

            def place(address, kind, number, stride):
                return pointer(builder, builder.add(address, I64(number * stride)), kind)

            bound = builder.load(pointer(builder, bounds, vector), align=size)
            lists = [builder.load(place(best, vector, r, line), align=size) for r in range(length)]
            numbers = [builder.load(place(best_keys, ints, r, keys_line), align=4) for r in range(length)]
            entry = builder.block
            head, some, enter, after, done = (
                builder.append_basic_block(f"topk.{name}") for name in ("head", "some", "enter", "after", "done")
            )
            builder.branch(head)
            builder.position_at_end(head)
            j = builder.phi(I64)
            kept = [builder.phi(vector) for _ in range(length)]
            kept_keys = [builder.phi(ints) for _ in range(length)]
            builder.cbranch(builder.icmp_signed("<", j, n), some, done)

            builder.position_at_end(some)
            found = []
            for r in range(_TOGETHER):
                at = builder.add(j, I64(r))
                there = builder.icmp_signed("<", at, n)
                # Beyond the last key, the last one is read again, and left out.
                at = builder.select(there, at, builder.sub(n, I64(1)))
                score = builder.load(
                    pointer(builder, builder.add(scores, builder.mul(at, I64(line))), vector), align=size
                )
                found.append(builder.select(there, score, minus))
            most = minus
            for score in found:
                most = maximum_value(builder, score, most)  # without NaN
            wanted = builder.and_(
                builder.fcmp_ordered(">", most, kept[-1]), builder.not_(builder.fcmp_ordered(">", bound, most))
            )
            any_wanted = builder.icmp_unsigned("!=", builder.bitcast(wanted, bits), bits(0))
            builder.cbranch(any_wanted, enter, after)

            builder.position_at_end(enter)
            new, new_keys = kept, kept_keys
            for r, score in enumerate(found):
                number = builder.trunc(builder.add(builder.add(first_key, j), I64(r)), I32)
                new, new_keys = entered(builder, new, new_keys, score, splat_value(builder, number, lanes))
            builder.branch(after)

            builder.position_at_end(after)
            for phi, before, changed in zip(kept + kept_keys, lists + numbers, new + new_keys, strict=True):
                joined = builder.phi(phi.type)
                joined.add_incoming(phi, some)
                joined.add_incoming(changed, enter)
                phi.add_incoming(before, entry)
                phi.add_incoming(joined, after)
            j.add_incoming(I64(0), entry)
            j.add_incoming(builder.add(j, I64(_TOGETHER)), after)
            builder.branch(head)

            builder.position_at_end(done)
            for r in range(length):
                builder.store(kept[r], place(best, vector, r, line), align=size)
                builder.store(kept_keys[r], place(best_keys, ints, r, keys_line), align=4)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6), codegen

    return tile
