"""One call on NumPy arrays: `Call` brings arrays, mask and scores into the kernels' form, `reading` what is asked of
the weights, and the answers back.

This room may import `kernels` and all below. It has no torch; `torch` uses it as `attention` does.
"""

from eyeline.attention.call import Call

__all__ = ["Call"]
