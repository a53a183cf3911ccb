"""What Numba compiles: three kernels, `forward`, `backward` and `decode`, whose machine code stands alone.

Each is a module with a factory of the same name, which makes the kernel for an element type and a vector width from the
functions of other modules, made by factories too (those that several call make their functions once, by `cache`, since
Numba would compile them for each). `params` declares the records that the host fills, and `programs` the
sizes that results' bits depend on; these two load NumPy alone. All others load Numba, in a separate process
(`compile`).

This package imports nothing of Eyeline's but `machine` and the constants of `eyeline.dropout`. The source of every file
here is part of a compiled kernel's cache key (`kernel_cache`).
"""
