"""Steps that change scores, backward: from the gradient of the changed scores, that of the scores before, and of the
arrays that were added."""

from __future__ import annotations

from eyeline.kernels.elementary import tanh
from eyeline.kernels.layout import KEY_BLOCK, STEP_WORDS, sizes
from eyeline.kernels.memory import call, width, word
from eyeline.kernels.simd import equal, fma, select
from eyeline.kernels.steps import steps
from eyeline.kernels.words import (
    ADDED,
    CALLED,
    CAPPED,
    FIRST_QUERY,
    KEYS,
    RELATIVE,
    S_GAINS,
    S_INPUTS,
    S_WEIGHTS,
    STEP_COUNT,
    STEP_GRADIENTS,
    STEPS,
    compiled,
)


def slopes(dtype, lanes, most_vectors):
    """`change_forth` and `change_back`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, length, line = sizes(dtype, lanes, most_vectors)
    one = dtype(1)
    change_by, _ = steps(dtype, lanes, most_vectors)

    @compiled
    def change_forth(p, scratch, batch, head, first_query, count, vectors, a, e):
        """All steps on the scores of the keys [a, e); what goes into one that isn't a sum is kept."""
        scores, kept = scratch + word(p, S_WEIGHTS), scratch + word(p, S_INPUTS)
        for k in range(word(p, STEP_COUNT)):
            kind = word(word(p, STEPS) + k * 8 * STEP_WORDS, 0)
            if kind == CAPPED or kind == CALLED:  # noqa: SIM109  (Numba takes no tuple here)
                for at in range(0, (e - a) * line, step):
                    store(kept + at, load(scores + at))
                kept += KEY_BLOCK * line
            change_by(p, k, scratch, scores, batch, head, first_query, count, vectors, a, e)

    @compiled
    def sloped(change, slope):
        """A change times a slope; none stays none, whatever the slope is: what is hidden may have one of NaN."""
        return select(equal(change, splat(dtype(0))), splat(dtype(0)), change * slope)

    @compiled
    def add_to_table(table, changes, count, vectors, n):
        """Add n keys' changes to a table in which the first query and key meet at `table`, and keys go back."""
        whole = vectors * lanes == count
        for j in range(n):
            if whole:
                for w in range(vectors):
                    at = table - j * size + w * step
                    store(at, load(at) + load(changes + j * line + w * step))
            else:
                for i in range(count):
                    at = table + (i - j) * size
                    store_scalar(at, load_scalar(at) + load_scalar(changes + j * line + i * size))

    @compiled
    def add_to_bias(bias, token, column, changes, count, n):
        """Add n keys' changes to an array in which the first query and key meet at `bias`."""
        for i in range(count):
            for j in range(n):
                at = bias + i * token + j * column
                store_scalar(at, load_scalar(at) + load_scalar(changes + j * line + i * size))

    @compiled
    def change_back(p, scratch, batch, head, first_query, count, vectors, a, e):
        """From the gradients of the changed scores of the keys [a, e) to those of the scores before all steps, in
        place; and add them to the gradients of the steps' arrays."""
        changes, kept, n = scratch + word(p, S_GAINS), scratch + word(p, S_INPUTS), e - a
        for k in range(word(p, STEP_COUNT)):
            kind = word(word(p, STEPS) + k * 8 * STEP_WORDS, 0)
            if kind == CAPPED or kind == CALLED:  # noqa: SIM109  (Numba takes no tuple here)
                kept += KEY_BLOCK * line
        for k in range(word(p, STEP_COUNT) - 1, -1, -1):
            row, told = word(p, STEPS) + k * 8 * STEP_WORDS, word(p, STEP_GRADIENTS) + k * 8 * STEP_WORDS
            kind, array = word(row, 0), word(told, 0)
            if kind == RELATIVE and array != 0:
                to = array + head * word(told, 2) + (first_query + word(p, KEYS) - 1 - a) * size
                add_to_table(to, changes, count, vectors, n)
            elif kind == ADDED and array != 0:
                to = array + batch * word(told, 1) + head * word(told, 2)
                to += first_query * word(told, 3) + a * word(told, 4)
                add_to_bias(to, word(told, 3), word(told, 4), changes, count, n)
            elif kind == CAPPED:
                kept -= KEY_BLOCK * line
                inverse = splat(load_scalar(row + 16))
                for at in range(0, n * line, step):
                    height = tanh(load(kept + at) * inverse)
                    # The slope of cap · tanh(s / cap) is 1 - tanh².
                    slope = fma(splat(-one) * height, height, splat(one))
                    store(changes + at, sloped(load(changes + at), slope))
            elif kind == CALLED:
                kept -= KEY_BLOCK * line
                number = word(p, FIRST_QUERY) + first_query
                call(array, kept, length, batch, head, number, count, a, e)
                for at in range(0, n * line, step):
                    store(changes + at, sloped(load(changes + at), load(kept + at)))

    return change_forth, change_back
