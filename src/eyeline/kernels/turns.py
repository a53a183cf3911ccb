"""Threads that add to the same numbers in a fixed order: each waits for its turn."""

from __future__ import annotations

from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.simd import I64, pointer


@intrinsic
def turn_at(typingctx, address):
    """Whose turn the int64 at `address` says it is; what those before have written can be read."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(pointer(builder, args[0], I64), "acquire", 8)

    return types.int64(types.intp), codegen


@intrinsic
def pass_on(typingctx, address):
    """Say that it is the next one's turn, who can then read all that was written."""

    def codegen(context, builder, signature, args):
        builder.atomic_rmw("add", pointer(builder, args[0], I64), I64(1), "release")
        return context.get_dummy_value()

    return types.void(types.intp), codegen
