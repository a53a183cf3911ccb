"""The words of `layout` as the kernels read them."""

from __future__ import annotations

from numba import njit

from eyeline.kernels.layout import Word
from eyeline.kernels.memory import word

#: Everything is compiled so: no checks, no Python exceptions.
compiled = njit(error_model="numpy", boundscheck=False)

# Numba takes plain integers from here as constants.
(NEXT, WORK, TASKS, HEADS, GROUP, QUERIES, KEYS, WIDTH, VALUE_WIDTH, BLOCKS, PANELS, FACTOR) = map(int, list(Word)[:12])
(Q, K, V) = int(Word.Q), int(Word.K), int(Word.V)
(OUT, WEIGHTS, MAXIMA, SUMS) = map(int, (Word.OUT, Word.WEIGHTS, Word.MAXIMA, Word.SUMS))
(BOUNDS, INTERVALS, ALLOWED) = map(int, (Word.BOUNDS, Word.INTERVALS, Word.ALLOWED))
(S_STATE, S_STATE_SIZE, S_OUT, S_MAXIMA, S_SUMS, S_BOUNDS, S_RANGE, S_WEIGHTS, S_FACTORS, S_TOPS, S_ADDED, S_FLAGS) = (
    map(int, list(Word)[Word.S_STATE : Word.S_FLAGS + 1])
)


@compiled
def place(p, array, batch, head):
    """Where one head of an array begins, and its strides of token and column."""
    at = word(p, array) + batch * word(p, array + 1) + head * word(p, array + 2)
    return at, word(p, array + 3), word(p, array + 4)
