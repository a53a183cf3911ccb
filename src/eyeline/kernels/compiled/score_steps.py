"""The score steps on a block's scores, in order, before the mask; `scores.lowered` defines them.

Scores are in base 2 here, so biases and caps have been multiplied by log2 e.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from eyeline.kernels.compiled.call_records import STEP, StepKind
from eyeline.kernels.compiled.elementary import tanh
from eyeline.kernels.compiled.memory import call, load_i8, width
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled, head_of, step_at
from eyeline.kernels.compiled.simd import equal, select
from eyeline.kernels.compiled.transpose import transpose_tile

RELATIVE, ADDED, CAPPED, CALLED, FLATTENED = (int(kind) for kind in StepKind)
STEP_BYTES = STEP.itemsize


class ScoreSteps(NamedTuple):
    """`apply_step(p, work, panel, k, S, a, e)`: applies step k to the scores on the keys [a, e), which lie at S, and
    returns whether it may have changed any; and `apply_steps`: the same for all steps."""

    apply_step: object
    apply_steps: object


def score_steps(dtype, lanes, most_vectors):
    """The steps, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, _, line = sizes(dtype, lanes, most_vectors)
    transpose = transpose_tile(dtype, lanes)
    log2_e = dtype(math.log2(math.e))
    zero, infinity = dtype(0), dtype(math.inf)

    @compiled
    def add_biases(work, panel, array, S, a, e):
        """Add a block of an array; its rows are queries, so it is transposed first."""
        bias, token, column = head_of(array, panel.batch, panel.head)
        bias += panel.first_query * token + a * column
        biases, n, count, vectors = work.biases, e - a, panel.count, panel.vectors
        whole = n - n % lanes if column == size else 0
        for w in range(vectors):
            first = min(w * lanes, count - 1)
            last = max(min(lanes - 1, count - 1 - w * lanes), 0)
            for j in range(0, whole, lanes):
                source = bias + first * token + j * column
                transpose(source, token, last, biases + j * line + w * vector, line, lanes, splat(log2_e))
        for j in range(whole, n):
            for i in range(vectors * lanes):
                x = load_scalar(bias + min(i, count - 1) * token + j * column)
                store_scalar(biases + j * line + i * size, x * log2_e)
        for j in range(n):
            for w in range(vectors):
                at = S + j * line + w * vector
                store(at, load(at) + load(biases + j * line + w * vector))

    @compiled
    def apply_step(p, work, panel, k, S, a, e):
        own = step_at(p.steps + k * STEP_BYTES)
        vectors = panel.vectors
        if own.kind == RELATIVE:
            # Consecutive queries are consecutive in the table, as in the lanes.
            table = own.array.address + panel.head * own.array.head + (panel.first_query + p.M - 1) * size
            for j in range(a, e):
                for w in range(vectors):
                    at = S + (j - a) * line + w * vector
                    store(at, load(at) + load(table - j * size + w * vector))
        elif own.kind == ADDED:
            add_biases(work, panel, own.array, S, a, e)
        elif own.kind == CAPPED:
            cap = splat(dtype(own.cap))
            inverse = splat(dtype(own.inverse_cap))
            for j in range(e - a):
                for w in range(vectors):
                    at = S + j * line + w * vector
                    store(at, cap * tanh(load(at) * inverse))
        elif own.kind == CALLED:
            number = p.first_query + panel.first_query
            call(own.array.address, S, line // size, panel.batch, panel.head, number, panel.count, a, e)
        elif own.kind == FLATTENED:
            if load_i8(own.array.address + panel.batch * own.array.batch + panel.head * own.array.head) == 0:
                return False
            for j in range(e - a):
                for w in range(vectors):
                    at = S + j * line + w * vector
                    hidden = equal(load(at), splat(-infinity))
                    store(at, select(hidden, splat(-infinity), splat(zero)))
        return True

    @compiled
    def apply_steps(p, work, panel, S, a, e):
        changed = False
        for k in range(p.step_count):
            changed = apply_step(p, work, panel, k, S, a, e) or changed
        return changed

    return ScoreSteps(apply_step, apply_steps)
