"""The same result as `reference`, fast and in memory that grows with n: SIMD written out, compiled by Numba and LLVM.

`run` is the way in: it fills the words of `layout`, and has `launch` and `threads` run the code that `library` keeps
and loads, made once by `compile` for the processor that `machine` finds. There are three kernels:

- `forward`, over `panel`, `softmax`, `steps`, `hiding`, `dropping`, `packing` and `halves`, and `reading` and `ranking`
  for what is read of the weights (`primitives`);
- `decode`, over `decoding`, for few queries against many keys, with the same bits (`run_decode`);
- `backward`, over `intake`, `pairs` and `differentiate`, for the gradients (`run_backward`).

They are built of `tiles`, `elementary`, `memory` and `simd`, which Numba compiles; it is loaded for that alone, and for
a user's own functions (`functions`). This room may import `masks` and `scores`, never `reference`.
"""

from __future__ import annotations


def report() -> dict[str, str]:
    """What would be used on this machine, for people to read."""
    from eyeline.kernels import kernel_cache, machine, threads
    from eyeline.kernels.compiled import programs

    here = machine.target()
    names = {512: "AVX-512", 256: "AVX2", 128: "128-bit"}
    dtypes: tuple[machine.DType, ...] = ("float32", "float64")
    compiled = [
        f"{p} {dtype}" for p in programs.PROGRAMS for dtype in dtypes if kernel_cache.path(p, dtype, here).exists()
    ]
    return {
        "CPU": here.cpu,
        "vector width": f"{here.bits} bits ({names[here.bits]}), {here.lanes('float32')} float32 at once",
        "threads": str(threads.get_threads()),
        "kernel cache": str(kernel_cache.kernels_folder()),
        "kernels compiled": ", ".join(compiled) or "none yet",
    }
