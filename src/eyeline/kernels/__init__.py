"""The same result as `reference`, fast and in memory that grows with n: the host's side of three kernels.

`run.forward`, `run_decode.forward` and `run_backward.backward` are the ways in: each says what is wanted in one record
(`launch.Params`), lays out the threads' workspace, and hands the tasks to `threads`, which run the code that
`kernel_cache` keeps and loads, made once for the processor that `machine` finds. What is to be read of the weights,
and its gradients, are `primitives` and `primitive_gradients`; of readouts this room knows nothing. `user_functions`
compiles a user's own rules and score functions. What Numba compiles is `compiled/`, and README.md walks through it
all.

This room may import `masks`, `scores` and `dropout`, never `reference`. Numba is loaded to compile, and not to run.
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
