"""A ticket lock: threads that add to the same numbers in a fixed order, each waiting until its number is up."""

from __future__ import annotations

from numba.core import types
from numba.extending import intrinsic

from eyeline.kernels.compiled.records import compiled
from eyeline.kernels.compiled.simd import I64, pointer


@intrinsic
def _serving(typingctx, lock):
    """The current ticket; an acquire load, so that the earlier holders' writes are visible."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(pointer(builder, args[0], I64), "acquire", 8)

    return types.int64(types.intp), codegen


@compiled
def wait_for(lock, ticket):
    """Return once this ticket is the current one at the lock, the address of an int64."""
    while _serving(lock) != ticket:
        pass


@intrinsic
def release(typingctx, lock):
    """Pass the lock to the next ticket; a release store, so that its holder sees all writes."""

    def codegen(context, builder, signature, args):
        builder.atomic_rmw("add", pointer(builder, args[0], I64), I64(1), "release")
        return context.get_dummy_value()

    return types.void(types.intp), codegen
