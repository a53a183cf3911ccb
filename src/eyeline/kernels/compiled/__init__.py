"""What Numba compiles: three kernels, `forward`, `backward` and `decode`, whose machine code stands alone.

Each is a module with a function of its own name, which makes the kernel for an element type and a vector width, out of
the other modules' functions, made likewise. `params` is what the host tells them, record by record, and `programs` the
sizes that bits depend on; these two load NumPy alone. All else loads Numba, in a process of its own (`compile`).

This package imports nothing of Eyeline's but `machine` and the constants of `eyeline.dropout`. Whatever lies here is
part of a compiled kernel's key (`kernel_cache`).
"""
