"""The results of `reference`, fast and in memory that grows with N + M: the host's side of three kernels.

The entry points are `run.forward`, `run_decode.forward` and `run_backward.backward`. Each fills one record of
parameters (`launch.Params`), lays out the threads' workspaces, and hands the tasks to `threads`, which run the machine
code that `kernel_cache` compiles and stores for the processor that `machine` detects. `primitives` and
`primitive_gradients` are the requests for sums of the weights, and their gradients; this room knows no readouts.
`user_functions` compiles a user's rules and score functions. `compiled/` is the code that Numba compiles, and README.md
walks through it all.

This room may import `masks`, `scores` and `dropout`, never `reference`. Numba is loaded to compile, not to run.
"""

from __future__ import annotations


def report() -> dict[str, str]:
    """The kernels' configuration on this machine, as text by name."""
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
        "team of threads": threads.describe_team(),
        "kernel cache": str(kernel_cache.kernels_folder()),
        "kernels compiled": ", ".join(compiled) or "none yet",
    }
