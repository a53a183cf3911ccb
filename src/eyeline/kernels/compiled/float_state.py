"""The floating-point state: the rounding mode, and whether denormal numbers are flushed to 0.

Each thread has its own. The caller may have changed its thread's state (`torch.set_flush_denormal`), but the pool's
threads haven't, and a row's bits must not depend on the thread that computes it. So kernels compute in the default
state, and restore the thread's own afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir
from llvmlite.binding import llvm_version_info
from numba.core import cgutils, types
from numba.extending import intrinsic

from eyeline.kernels.compiled.simd import I8, I32, I64

#: x86's default MXCSR: round to nearest, denormals kept, no traps. ARM's default FPCR is 0.
X86_DEFAULT = 0x1F80


class FloatState(NamedTuple):
    """`begin()`: sets the default state, and returns the previous one; `end(state)`: restores that."""

    begin: object
    end: object


def _call(builder, name, result, arguments):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _x86(builder, place, name):
    _call(builder, f"llvm.x86.sse.{name}", ir.VoidType(), [builder.bitcast(place, I8.as_pointer())])


def float_state(triple):
    """The state's intrinsics for a processor, by LLVM's target triple. They do nothing on processors other than x86 and
    ARM, nor on ARM before LLVM 17, which has no way to express it."""
    x86 = triple.startswith(("x86_64", "amd64"))
    arm = triple.startswith(("aarch64", "arm64")) and llvm_version_info >= (17,)

    def exchange(builder, state):
        """Set the state, the default one if None; return the previous one."""
        if x86:
            place = cgutils.alloca_once(builder, I32)
            _x86(builder, place, "stmxcsr")
            before = builder.zext(builder.load(place), I64)
            builder.store(I32(X86_DEFAULT) if state is None else builder.trunc(state, I32), place)
            _x86(builder, place, "ldmxcsr")
            return before
        if arm:
            # Not ARM's own intrinsics: Numba also compiles for this machine's processor, which may be another one.
            before = builder.zext(_call(builder, "llvm.get.fpmode.i32", I32, []), I64)
            after = I32(0) if state is None else builder.trunc(state, I32)
            _call(builder, "llvm.set.fpmode.i32", ir.VoidType(), [after])
            return before
        return I64(0)

    @intrinsic
    def begin(typingctx):
        return types.int64(), lambda context, builder, signature, args: exchange(builder, None)

    @intrinsic
    def end(typingctx, state):
        def codegen(context, builder, signature, args):
            exchange(builder, args[0])
            return context.get_dummy_value()

        return types.void(types.int64), codegen

    return FloatState(begin, end)
