"""The results of `reference`, fast and in memory that grows with N + M; and a model's products and norms: the host's
side of five kernels.

The entry points are `run.ForwardPlan` and `run.forward`, `run_backward.backward`, `products.PackedMatrix`, and the
functions of `rowwise`. A plan fills one record of parameters (`launch.Params`) and lays out the threads' workspaces; a
run adds the addresses of its arrays and hands the tasks to `threads`, which run the machine code that `kernel_cache`
compiles and stores for the processor that `machine` detects: on the team of threads that the process has (`openmp`), or
on our own (`pool`). `primitives` and `primitive_gradients` are the requests for sums of the weights, and their
gradients; this room knows no readouts. `user_functions` compiles a user's rules and score functions. `compiled/` is the
code that Numba compiles, `wasm/` the same as a WebAssembly module for the page, and README.md walks through it all.

This room may import `masks`, `scores` and `dropout`, never `reference`. Numba is loaded to compile, not to run.
"""

from __future__ import annotations


def report() -> dict[str, str]:
    """The kernels' configuration on this machine, as text by name."""
    from eyeline.kernels import kernel_cache, machine, threads
    from eyeline.kernels.compiled import programs
    from eyeline.words import worded

    here = machine.target()
    names = {512: "AVX-512", 256: "AVX2", 128: "128-bit"}
    compiled = [
        f"{program} {dtype}"
        for program, dtypes in programs.PROGRAMS.items()
        for dtype in dtypes
        if kernel_cache.path(program, dtype, here).exists()
    ]
    return {
        "CPU": here.cpu,
        "vector width": worded(
            "{bits} bits ({name}), {count} float32 at once",
            bits=here.bits,
            name=names[here.bits],
            count=here.lanes("float32"),
        ),
        "threads": str(threads.get_threads()),
        "team of threads": threads.describe_team(),
        "kernel cache": str(kernel_cache.kernels_folder()),
        "kernels compiled": ", ".join(compiled) or worded("none yet"),
    }
