"""The key of a user's function: equal exactly where the function would compute the same now."""

from __future__ import annotations

import types

import numba
import numpy as np
import pytest

from eyeline.masks import function_key, snapshot

SOURCE = "def rule(b, h, i, j):\n    return abs(i - j) <= REACH\n"


def made(source: str, **globals_: object):
    exec(source, globals_)
    return globals_["rule"]


def closed(over):
    return lambda b, h, i, j: (i - j) * over > 0


#: Values that differ, though some of them are equal.
DIFFERENT = (
    1,
    1.0,
    True,
    2,
    -0.0,
    0.0,
    np.int32(1),
    np.float32(1),
    (1, 2),
    (1, 2.0),
    "1",
    None,
    np.arange(3),
    np.arange(3.0),
    np.arange(4),
    np.array([0, 1, 3]),
    np.pi,
)


@pytest.mark.parametrize(
    "make",
    [
        closed,
        lambda value: made(SOURCE, REACH=value),
        lambda value: made("def rule(b, h, i, j, reach=REACH):\n    return reach", REACH=value),
        lambda value: made("def rule(b, h, i, j, *, reach=REACH):\n    return reach", REACH=value),
        lambda value: made("def rule(b, h, i, j):\n    return (lambda: REACH)()", REACH=value),
        lambda value: made("def rule(b, h, i, j):\n    return [k + REACH for k in (1,)]", REACH=value),
        lambda value: made("def rule(b, h, i, j):\n    return cfg.A", cfg=module(A=value)),
        lambda value: made("def rule(b, h, i, j):\n    return cfg.inner.A", cfg=module(inner=module(A=value))),
        lambda value: made("def rule(b, h, i, j):\n    return helper(i)", helper=closed(value)),
        lambda value: made("def rule(b, h, i, j):\n    return helper(i)", helper=numba.njit(closed(value))),
        lambda value: closed((1, (value,))),
    ],
)
def test_functions_that_read_other_values_have_other_keys(make):
    keys = [function_key(make(value)) for value in DIFFERENT]
    for at, key in enumerate(keys):
        assert [at] == [n for n, other in enumerate(keys) if other == key]


MODULES: dict[tuple, types.ModuleType] = {}


def module(**held):
    """The same module for the same names: it is its attributes that change."""
    found = MODULES.setdefault(tuple(held), types.ModuleType("cfg"))
    vars(found).update(held)
    return found


@pytest.mark.parametrize("value", DIFFERENT)
def test_functions_that_are_defined_again_keep_their_key(value):
    assert function_key(closed(value)) == function_key(closed(value))
    assert hash(function_key(closed(value))) == hash(function_key(closed(value)))


def test_the_key_is_that_of_now():
    rule = made(SOURCE, REACH=1)
    before = function_key(rule)
    rule.__globals__["REACH"] = 5
    assert function_key(rule) != before
    rule.__globals__["REACH"] = 1
    assert function_key(rule) == before
    table = np.zeros(3)
    rule = closed(table)
    before = function_key(rule)
    table[1] = 1
    assert function_key(rule) != before


def test_what_isnt_read_doesnt_matter():
    one, other = made(SOURCE, REACH=1, elsewhere=1), made(SOURCE, REACH=1, elsewhere=2)
    assert function_key(one) == function_key(other)


def test_a_function_may_call_itself_and_a_module_hold_itself():
    source = "def rule(n):\n    return 1 if n < 1 else rule(n - 1) + K\n"
    assert function_key(made(source, K=1)) == function_key(made(source, K=1))
    assert function_key(made(source, K=1)) != function_key(made(source, K=2))
    cfg = module(A=1)
    cfg.cfg = cfg
    assert function_key(made("def rule(b, h, i, j):\n    return cfg.cfg.A", cfg=cfg))


def test_what_numba_has_wrapped_has_its_functions_key():
    assert function_key(numba.njit(closed(2))) == function_key(closed(2))


def test_other_values_and_other_callables_are_themselves():
    held, other = [1], [1]
    assert function_key(closed(held)) == function_key(closed(held))
    assert function_key(closed(held)) != function_key(closed(other))
    assert function_key(max) == function_key(max)
    assert function_key(max) != function_key(min)


def test_a_snapshot_computes_what_the_function_computed_then():
    cfg, table, helper = module(A=2), np.array([1, 2, 3]), made("def rule(i):\n    return K * i", K=10)
    source = "def rule(b, h, i, j, more=table):\n    return sum(cfg.A + helper(k) + more[k] + REACH for k in (i, j))"
    rule = made(source, cfg=cfg, helper=helper, REACH=100, table=table)
    then, key = rule(0, 0, 1, 2), function_key(rule)
    frozen = snapshot(rule)
    assert function_key(frozen) == key
    cfg.A, table[1], rule.__globals__["REACH"], helper.__globals__["K"] = 3, 5, 200, 20
    assert frozen(0, 0, 1, 2) == then != rule(0, 0, 1, 2)
    assert function_key(frozen) == key != function_key(rule)
    cfg.A, table[1], rule.__globals__["REACH"], helper.__globals__["K"] = 2, 2, 100, 10
    assert function_key(frozen) == key == function_key(rule)


def test_a_snapshot_may_call_itself():
    frozen = snapshot(made("def rule(n):\n    return 1 if n < 1 else rule(n - 1) + K\n", K=1))
    assert frozen(3) == 4
