"""Steps that change a block's scores, in the order given, before the mask: see `scores.lowered` for what they are.

Scores are in base 2 here, so what is added, and a cap, come multiplied by log2 e.
"""

from __future__ import annotations

import math

from eyeline.kernels.elementary import tanh
from eyeline.kernels.layout import STEP_WORDS, sizes
from eyeline.kernels.memory import call, width, word
from eyeline.kernels.tiles import transpose_tile
from eyeline.kernels.words import (
    ADDED,
    CALLED,
    CAPPED,
    FIRST_QUERY,
    KEYS,
    RELATIVE,
    S_LINES,
    STEP_COUNT,
    STEPS,
    compiled,
)


def steps(dtype, lanes, most_vectors):
    """`change_by` and `change`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, step, _, line = sizes(dtype, lanes, most_vectors)
    transpose = transpose_tile(dtype, lanes)
    log2_e = dtype(math.log2(math.e))

    @compiled
    def add_biases(p, row, scratch, scores, batch, head, first_query, count, vectors, a, e):
        """Add an array's block: queries are its rows, so it is turned on the way."""
        at = word(row, 1) + batch * word(row, 2) + head * word(row, 3) + first_query * word(row, 4)
        token, column = word(row, 4), word(row, 5)
        at += a * column
        lines, n = scratch + word(p, S_LINES), e - a
        whole = n - n % lanes if column == size else 0
        for w in range(vectors):
            first = min(w * lanes, count - 1)
            last = max(min(lanes - 1, count - 1 - w * lanes), 0)
            for j in range(0, whole, lanes):
                source = at + first * token + j * column
                transpose(source, token, last, lines + j * line + w * step, line, lanes, splat(log2_e))
        for j in range(whole, n):
            for i in range(vectors * lanes):
                bias = load_scalar(at + min(i, count - 1) * token + j * column)
                store_scalar(lines + j * line + i * size, bias * log2_e)
        for j in range(n):
            for w in range(vectors):
                to = scores + j * line + w * step
                store(to, load(to) + load(lines + j * line + w * step))

    @compiled
    def change_by(p, k, scratch, scores, batch, head, first_query, count, vectors, a, e):
        """Step number k on the scores of the keys [a, e), which lie at `scores`."""
        row = word(p, STEPS) + k * 8 * STEP_WORDS
        kind = word(row, 0)
        if kind == RELATIVE:
            # Queries follow one another in the table as they do in the lanes.
            table = word(row, 1) + head * word(row, 3) + (first_query + word(p, KEYS) - 1) * size
            for j in range(a, e):
                for w in range(vectors):
                    to = scores + (j - a) * line + w * step
                    store(to, load(to) + load(table - j * size + w * step))
        elif kind == ADDED:
            add_biases(p, row, scratch, scores, batch, head, first_query, count, vectors, a, e)
        elif kind == CAPPED:
            cap = splat(load_scalar(row + 8))
            inverse = splat(load_scalar(row + 16))
            for j in range(e - a):
                for w in range(vectors):
                    to = scores + j * line + w * step
                    store(to, cap * tanh(load(to) * inverse))
        elif kind == CALLED:
            number = word(p, FIRST_QUERY) + first_query
            call(word(row, 1), scores, line // size, batch, head, number, count, a, e)

    @compiled
    def change(p, scratch, scores, batch, head, first_query, count, vectors, a, e):
        """All steps on the scores of the keys [a, e), which lie at `scores`."""
        for k in range(word(p, STEP_COUNT)):
            change_by(p, k, scratch, scores, batch, head, first_query, count, vectors, a, e)

    return change_by, change
