"""One call on NumPy arrays: `call` brings arrays, mask and scores into the kernels' form, `observed` asks the
kernels for the primitives that readouts need, and hands them what was found; `checks` refuses arguments that don't fit.

This room may import `kernels` and all below. It has no torch; `torch` uses it as `calls` does.

The package `eyeline.attention` and the function `eyeline.attention` share their name: `eyeline` imports this package
before it binds the function, so nothing is imported here, where it would cost every `import eyeline`.
"""
