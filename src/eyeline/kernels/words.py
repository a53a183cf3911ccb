"""The words of `layout`, `backward_layout` and `decode_layout` as the kernels read them."""

from __future__ import annotations

from numba import njit

from eyeline.kernels.backward_layout import Gradient
from eyeline.kernels.decode_layout import Decoding, Stage
from eyeline.kernels.layout import Half, StepKind, Word
from eyeline.kernels.memory import word

#: Everything is compiled so: no checks, no Python exceptions.
compiled = njit(error_model="numpy", boundscheck=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

# Numba takes plain integers from here as constants, under the words' own names.
_GROUPS = (Word, Gradient, Decoding, StepKind, Half, Stage)
globals().update({member.name: int(member) for group in _GROUPS for member in group})


@compiled
def place(p, array, batch, head):
    """Where one head of an array begins, and its strides of token and column."""
    at = word(p, array) + batch * word(p, array + 1) + head * word(p, array + 2)
    return at, word(p, array + 3), word(p, array + 4)
