"""One call on NumPy arrays: `call` brings arrays, mask and scores into the kernels' form, `reading` what is asked of
the weights, and the answers back; `checks` says whether what a call was given fits together.

This room may import `kernels` and all below. It has no torch; `torch` uses it as `calls` does.

The package `eyeline.attention` and the function `eyeline.attention` share their name: `eyeline` imports this package
before it binds the function, so nothing is imported here, where it would cost every `import eyeline`.
"""
