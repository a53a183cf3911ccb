"""The words of `layout` and `backward_layout` as the kernels read them."""

from __future__ import annotations

from numba import njit

from eyeline.kernels.backward_layout import Gradient
from eyeline.kernels.layout import Half, StepKind, Word
from eyeline.kernels.memory import word

#: Everything is compiled so: no checks, no Python exceptions.
compiled = njit(error_model="numpy", boundscheck=False)

# Numba takes plain integers from here as constants, under the words' own names.
globals().update({member.name: int(member) for group in (Word, Gradient, StepKind, Half) for member in group})


@compiled
def place(p, array, batch, head):
    """Where one head of an array begins, and its strides of token and column."""
    at = word(p, array) + batch * word(p, array + 1) + head * word(p, array + 2)
    return at, word(p, array + 3), word(p, array + 4)
