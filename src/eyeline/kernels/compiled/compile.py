"""Compiles the kernels' Python to machine code that stands alone: Numba makes LLVM IR, LLVM an object file.

Functions compiled by Numba usually need the Python runtime; ours neither allocate nor raise (`numba_target`). Loading
the result takes llvmlite, not Numba, and a tenth of a second instead of a whole one.

This runs in a process of its own (`python -m eyeline.kernels.compiled.compile forward float32 FILE`), which keeps Numba
out of the user's process.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

from eyeline.kernels.compiled.programs import ENTRY, Program
from eyeline.kernels.machine import WEBASSEMBLY, DType, Target, target

#: The functions that the machine code may call: LLVM's memory functions, and multiply-add where the processor has no
#: instruction for it.
MAY_CALL = {"memset", "memcpy", "memmove", "fma", "fmaf"}
#: Functions that aren't inlined, by their names: the kernel, so that none of its code moves out of its floating-point
#: state, and the sweep, which is long and called in several places.
APART = ("kernel.", "sweep.")
#: The programs whose loops LLVM may unroll. The tiles of the others are long enough: unrolling makes their code half as
#: long again, and slower.
UNROLLED: tuple[Program, ...] = ("decode", "product", "rowwise")


def to_llvm(program: Program, dtype: DType, on: Target) -> str:
    """A kernel as LLVM IR, not yet optimised, with a function named `ENTRY`."""
    from numba import types

    from eyeline.kernels.compiled.float_state import float_state
    from eyeline.kernels.compiled.records import compiled

    make = getattr(import_module(f"eyeline.kernels.compiled.{program}"), program)
    kernel = compiled(make(getattr(np, dtype), on.lanes(dtype), on.vectors, on.rows, on.added_rows))
    # What the tiles' code is made for.
    kernel.targetctx.library.module.triple = on.triple
    begin, end = float_state(on.triple)

    @compiled
    def steady(params, workspace, most):
        state = begin()
        left = kernel(params, workspace, most)
        end(state)
        return left

    name = steady.compile(types.int64(types.intp, types.intp, types.int64))
    return str(steady.targetctx.library.module).replace(name, ENTRY)


def to_object(program: Program, dtype: DType, on: Target, entry: str = ENTRY) -> bytes:
    """A kernel as an object file, optimised for a processor, with a function `entry` alone visible."""
    module = _optimised(program, dtype, on)
    module.get_function(ENTRY).name = entry
    return _machine(on).emit_object(module)


def to_assembly(program: Program, dtype: DType, on: Target) -> str:
    """As `to_object`, but as assembly text."""
    return _machine(on).emit_assembly(_optimised(program, dtype, on))


def _machine(on: Target):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(on.triple).create_target_machine(
        cpu=on.cpu, features=on.features, opt=3, reloc="pic", codemodel="jitdefault", jit=True
    )


def _optimised(program: Program, dtype: DType, on: Target):
    module = llvm.parse_assembly(to_llvm(program, dtype, on))
    machine = _machine(on)
    module.triple, module.data_layout = on.triple, str(machine.target_data)
    module.get_function(ENTRY).linkage = "external"
    for function in module.functions:
        if not function.is_declaration and any(name in function.name for name in APART):
            function.add_function_attribute("noinline")
    # No automatic vectorisation: the vectors are explicit already, and LLVM would make short copying loops slower.
    # Level 3 makes code a fifth longer, but no faster.
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = program in UNROLLED
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    called = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    if called - MAY_CALL:
        raise RuntimeError(f"a kernel must stand alone, but this one calls {', '.join(sorted(called - MAY_CALL))}")
    return module


def main(program: Program, dtype: DType, file: str, processor: str = "") -> None:
    """Compile a kernel to a file: for this machine, or for "wasm32", where its function has the program's name."""
    code = to_object(program, dtype, WEBASSEMBLY, program) if processor else to_object(program, dtype, target())
    Path(file).write_bytes(code)


if __name__ == "__main__":
    # The process is short: searching for garbage would take a tenth of its time.
    gc.disable()
    # Python keeps its frames in chunks of memory of 16 KB, and a call at a chunk's end maps a new chunk, every time: in
    # Numba's deep recursion, up to a third of the time. A first frame of 1 MB gets a chunk of 2 MB, with room for all.
    main.__code__ = main.__code__.replace(co_stacksize=1 << 17)
    main(*sys.argv[1:])
