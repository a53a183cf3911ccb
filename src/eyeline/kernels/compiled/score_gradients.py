"""The backward pass of the score steps: from the gradient in the changed scores to the gradients in the scores before
them and in the steps' arrays."""

from __future__ import annotations

from typing import NamedTuple

from eyeline.kernels.compiled.call_records import STRIDED
from eyeline.kernels.compiled.elementary import tanh
from eyeline.kernels.compiled.memory import call, load_i8, width
from eyeline.kernels.compiled.programs import KEY_BLOCK, sizes
from eyeline.kernels.compiled.records import compiled, step_at, strided_at
from eyeline.kernels.compiled.score_steps import ADDED, CALLED, CAPPED, FLATTENED, RELATIVE, STEP_BYTES, score_steps
from eyeline.kernels.compiled.simd import equal, fma, select

STRIDED_BYTES = STRIDED.itemsize


class ScoreGradients(NamedTuple):
    """`apply_and_keep(p, work, panel, a, e)`: applies all steps to the scores on the keys [a, e), and stores the input
    of each step that isn't a sum. `pull_back(p, work, panel, a, e)`: turns the gradients in the changed scores, at dP,
    into those in the scores before all steps, in place, and adds to the gradients of the steps' arrays."""

    apply_and_keep: object
    pull_back: object


def score_gradients(dtype, lanes, most_vectors):
    """The steps forward and backward, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load, store, splat, load_scalar, store_scalar = W.load, W.store, W.splat, W.load_scalar, W.store_scalar
    size, vector, length, line = sizes(dtype, lanes, most_vectors)
    zero, one = dtype(0), dtype(1)
    apply_step = score_steps(dtype, lanes, most_vectors).apply_step

    @compiled
    def apply_and_keep(p, work, panel, a, e):
        S, inputs = work.P, work.step_inputs
        for k in range(p.step_count):
            kind = step_at(p.steps + k * STEP_BYTES).kind
            if kind == CAPPED or kind == CALLED:  # noqa: SIM109  (Numba takes no tuple here)
                for at in range(0, (e - a) * line, vector):
                    store(inputs + at, load(S + at))
                inputs += KEY_BLOCK * line
            apply_step(p, work, panel, k, S, a, e)

    @compiled
    def sloped(gradient, slope):
        """A gradient times a slope; a gradient of 0 stays 0, since the slope at a hidden score may be NaN."""
        return select(equal(gradient, splat(zero)), splat(zero), gradient * slope)

    @compiled
    def add_to_table(table, dS, panel, n):
        """Add n keys' gradients to a table, in which the first query and key have the address `table`; the table runs
        backwards over keys."""
        vectors, count = panel.vectors, panel.count
        whole = vectors * lanes == count
        for j in range(n):
            if whole:
                for w in range(vectors):
                    at = table - j * size + w * vector
                    store(at, load(at) + load(dS + j * line + w * vector))
            else:
                for i in range(count):
                    at = table + (i - j) * size
                    store_scalar(at, load_scalar(at) + load_scalar(dS + j * line + i * size))

    @compiled
    def add_to_bias(bias, token, column, dS, count, n):
        """Add n keys' gradients to an array, in which the first query and key have the address `bias`."""
        for i in range(count):
            for j in range(n):
                at = bias + i * token + j * column
                store_scalar(at, load_scalar(at) + load_scalar(dS + j * line + i * size))

    @compiled
    def add_to_array(p, panel, kind, target, dS, a, n):
        """Add n keys' gradients, from key a on, to the gradient of the array of a step of this kind."""
        if kind == RELATIVE:
            table = target.address + panel.head * target.head
            add_to_table(table + (panel.first_query + p.M - 1 - a) * size, dS, panel, n)
        elif kind == ADDED:
            bias = target.address + panel.batch * target.batch + panel.head * target.head
            bias += panel.first_query * target.token + a * target.column
            add_to_bias(bias, target.token, target.column, dS, panel.count, n)

    @compiled
    def pull_back(p, work, panel, a, e):
        dS, inputs, n = work.dP, work.step_inputs, e - a
        for k in range(p.step_count):
            kind = step_at(p.steps + k * STEP_BYTES).kind
            if kind == CAPPED or kind == CALLED:  # noqa: SIM109  (Numba takes no tuple here)
                inputs += KEY_BLOCK * line
        for k in range(p.step_count - 1, -1, -1):
            own, target = step_at(p.steps + k * STEP_BYTES), strided_at(p.step_gradients + k * STRIDED_BYTES)
            if own.kind == CAPPED:
                inputs -= KEY_BLOCK * line
                inverse = splat(dtype(own.inverse_cap))
                for at in range(0, n * line, vector):
                    height = tanh(load(inputs + at) * inverse)
                    # The slope of cap · tanh(s / cap) is 1 - tanh².
                    slope = fma(splat(-one) * height, height, splat(one))
                    store(dS + at, sloped(load(dS + at), slope))
            elif own.kind == CALLED:
                inputs -= KEY_BLOCK * line
                number = p.first_query + panel.first_query
                call(target.address, inputs, length, panel.batch, panel.head, number, panel.count, a, e)
                for at in range(0, n * line, vector):
                    store(dS + at, sloped(load(dS + at), load(inputs + at)))
            elif own.kind == FLATTENED:
                # What is 0, whatever the score was, has no gradient.
                if load_i8(own.array.address + panel.batch * own.array.batch + panel.head * own.array.head) != 0:
                    for at in range(0, n * line, vector):
                        store(dS + at, splat(zero))
            elif target.address != 0:
                add_to_array(p, panel, own.kind, target, dS, a, n)

    return ScoreGradients(apply_and_keep, pull_back)
