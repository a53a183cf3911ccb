"""This processor's peak: multiply-adds on registers only, at the vector width that the kernels use."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
from llvmlite import ir

from eyeline.kernels.machine import target

ACCUMULATORS = 12  # more than a multiply-add's latency times the number that start per cycle
ROUNDS = 5_000_000


def _loop(lanes: int) -> str:
    """The code of a function that does `ACCUMULATORS` · n multiply-adds of float32 vectors."""
    module = ir.Module()
    long, vector = ir.IntType(64), ir.VectorType(ir.FloatType(), lanes)
    function = ir.Function(module, ir.FunctionType(ir.FloatType(), [long]), "peak")
    fma = ir.Function(module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{lanes}f32")
    start, loop, done = (function.append_basic_block(name) for name in ("start", "loop", "done"))
    ir.IRBuilder(start).branch(loop)
    builder = ir.IRBuilder(loop)
    count = builder.phi(long)
    held = [builder.phi(vector) for _ in range(ACCUMULATORS)]
    factor = ir.Constant(vector, [0.999] * lanes)
    following = [builder.call(fma, [x, factor, factor]) for x in held]
    after = builder.add(count, long(1))
    count.add_incoming(long(0), start)
    count.add_incoming(after, loop)
    for x, y in zip(held, following, strict=True):
        x.add_incoming(ir.Constant(vector, [0.0] * lanes), start)
        x.add_incoming(y, loop)
    builder.cbranch(builder.icmp_signed("<", after, function.args[0]), loop, done)
    builder = ir.IRBuilder(done)
    total = following[0]
    for x in following[1:]:
        total = builder.fadd(total, x)
    builder.ret(builder.extract_element(total, ir.IntType(32)(0)))
    return str(module)


@cache
def _compiled() -> tuple[Callable[[int], float], object]:
    """The loop as a function that runs without the GIL, and the engine that owns its code."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=target().cpu, features=target().features, opt=3, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_loop(target().lanes("float32"))), machine)
    engine.finalize_object()
    return ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int64)(engine.get_function_address("peak")), engine


def work(threads: int, rounds: int) -> float:
    """Run the loop in `threads` threads for `rounds` rounds each; returns the time in seconds."""
    run, _ = _compiled()
    others = [threading.Thread(target=run, args=(rounds,)) for _ in range(threads - 1)]
    start = time.perf_counter()
    for thread in others:
        thread.start()
    run(rounds)
    for thread in others:
        thread.join()
    return time.perf_counter() - start


def gigaflops(threads: int) -> float:
    """The peak of `threads` threads, the best of seven runs, in 10⁹ operations per second (a multiply-add is two)."""
    best = min(work(threads, ROUNDS) for _ in range(7))
    return 2 * target().lanes("float32") * ACCUMULATORS * ROUNDS * threads / best / 1e9


if __name__ == "__main__":
    for threads in (1, 2):
        print(f"{threads} thread(s): {gigaflops(threads):.0f} GF/s")
