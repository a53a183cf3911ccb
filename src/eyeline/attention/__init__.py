"""Calls on NumPy arrays: `call` converts arrays, mask and scores to the kernels' form, `observed` requests the
primitives that the readouts need and hands them the results, and `checks` checks the arguments.

This room may import `kernels` and all below, not torch; both `calls` and `torch` use it.

The package `eyeline.attention` and the function `eyeline.attention` share their name: `eyeline` imports this package
before it binds the function, so nothing is imported here, where it would cost every `import eyeline`.
"""
