"""A user's own rule: as Python runs it and as Numba compiles it; joined with others; errors."""

from __future__ import annotations

import re

import numba
import numpy as np
import pytest
from strategies import near, nearer, never, strided

import eyeline as el
from eyeline.masks import AttentionShape, functions
from eyeline.masks.function_key import function_key
from eyeline.masks.functions import booleans

PROBLEM = AttentionShape((2,), 3, 5, 7)
F, G = el.MaskFunction(near), el.MaskFunction(strided)
CAUSAL = el.Causal("end")
DENSE = el.Dense(np.random.default_rng(0).random((3, 5, 7)) < 0.5)


def rule(mask):
    return np.broadcast_to(mask.rule(PROBLEM), PROBLEM.shape)


def test_a_function_is_asked_about_each_pair():
    def odd(b, h, i, j):
        return (b + 2 * h + 3 * i + 5 * j) % 2 == 1

    b, h, i, j = np.ogrid[:2, :3, :5, :7]
    np.testing.assert_array_equal(rule(el.MaskFunction(odd)), (b + 2 * h + 3 * i + 5 * j) % 2 == 1)
    np.testing.assert_array_equal(booleans(el.MaskFunction(odd).lower(PROBLEM), PROBLEM), rule(el.MaskFunction(odd)))


@pytest.mark.parametrize(
    ("mask", "count"),
    [
        (F, 1),
        (~F, 1),
        (~~F, 1),
        (F & G, 2),
        (F & F, 1),
        (F | G, 1),
        (~(F & G), 1),
        (~(F | G), 2),
        (F & CAUSAL, 1),
        (CAUSAL & F & DENSE & G, 2),
        (~(F | CAUSAL), 1),
        (~(~CAUSAL | ~F | DENSE), 1),
        (F & (el.MaskFunction(never) | ~G), 2),
        (F | CAUSAL, 0),
        (F | DENSE, 0),
        (~(F & CAUSAL), 0),
        ((F & CAUSAL) | (G & ~CAUSAL), 0),
    ],
)
def test_joined_functions_stay_functions_where_they_can(mask, count):
    lowered = mask.lower(PROBLEM)
    assert len(lowered.functions) == count
    # As Numba compiles them.
    np.testing.assert_array_equal(booleans(lowered, PROBLEM), rule(mask))


def test_the_same_mask_lowers_to_the_same_functions():
    """So that what was compiled for them can be kept."""
    for mask in (F, ~F, F | G, ~(F & G)):
        assert mask.lower(PROBLEM).functions == mask.lower(PROBLEM).functions
    assert el.MaskFunction(near) == F
    assert hash(el.MaskFunction(near)) == hash(F)
    assert F != G


def test_what_numba_has_wrapped_will_do():
    wrapped = el.MaskFunction(numba.njit(near))
    np.testing.assert_array_equal(rule(wrapped), rule(F))
    np.testing.assert_array_equal(booleans((wrapped | G).lower(PROBLEM), PROBLEM), rule(F | G))
    np.testing.assert_array_equal(booleans((wrapped | CAUSAL).lower(PROBLEM), PROBLEM), rule(F | CAUSAL))
    q, k, v = (np.random.default_rng(1).standard_normal((2, 3, n, 4)) for n in (5, 7, 7))
    np.testing.assert_array_equal(el.attention(q, k, v, mask=~wrapped), el.attention(q, k, v, mask=~F))
    np.testing.assert_array_equal(
        el.attention(q, k, v, mask=wrapped, scores=numba.njit(nearer)), el.attention(q, k, v, mask=F, scores=nearer)
    )


def test_functions_may_give_numbers_and_close_over_values():
    reach, table = 2, np.array([0, 3, 0, 1, 1])
    mask = el.MaskFunction(lambda b, h, i, j: table[i] * (j > reach))
    want = np.broadcast_to((table[:, None] != 0) & (np.arange(7) > 2), PROBLEM.shape)
    np.testing.assert_array_equal(rule(mask), want)
    for joined, joined_want in (
        (mask, want),
        (~mask, ~want),
        (mask | mask, want),
        (mask | el.MaskFunction(never), want),
    ):
        np.testing.assert_array_equal(booleans(joined.lower(PROBLEM), PROBLEM), joined_want)


def test_a_part_of_the_queries_at_a_time(monkeypatch):
    monkeypatch.setattr(functions, "_AT_A_TIME", 1)
    np.testing.assert_array_equal(booleans((F & CAUSAL).lower(PROBLEM), PROBLEM), rule(F & CAUSAL))
    np.testing.assert_array_equal(booleans((F | CAUSAL).lower(PROBLEM), PROBLEM), rule(F | CAUSAL))


@pytest.mark.parametrize("shape", [(0, 3, 5, 7), (2, 0, 5, 7), (2, 3, 0, 7), (2, 3, 5, 0)])
def test_nothing_at_all(shape):
    problem = AttentionShape(shape[:1], *shape[1:])
    for mask in (F, F | el.Padding(keys=[0]), ~(F & el.Padding(keys=[0]))):
        assert mask.rule(problem).shape == shape
        got = booleans(mask.lower(problem), problem)
        assert np.broadcast_shapes(got.shape, shape) == shape
        assert mask.share(5, 0) == 0


def test_they_print_by_name():
    assert repr(F & ~G) == "MaskFunction(near) & ~MaskFunction(strided)"
    assert repr(el.MaskFunction(lambda b, h, i, j: True)) == "MaskFunction(<lambda>)"


def test_what_is_no_function_is_a_type_error():
    with pytest.raises(
        TypeError, match=re.escape("function must be a function (b, h, i, j) that says whether query i")
    ):
        el.MaskFunction(np.ones((3, 3), bool))


def test_functions_closed_over_numbers_of_other_types_are_others():
    def closed(over):
        return lambda b, h, i, j: (i - j) * over > 0

    assert function_key(closed(2)) == function_key(closed(2))
    for other in (2.0, 3, np.int32(2)):
        assert function_key(closed(2)) != function_key(closed(other))
