"""Users' functions of masks and scores: what they would return now is what is computed, with arrays and tensors."""

from __future__ import annotations

import functools
import re
import types

import numpy as np
import pytest
import torch
from tensors import bent

import eyeline as el
import eyeline.torch as et
from eyeline import reference

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal((1, 2, n, 4)) for n in (9, 9, 9))

RULE = "def rule(b, h, i, j):\n    return abs(i - j) <= REACH\n"
OF_A_MODULE = "def rule(b, h, i, j):\n    return abs(i - j) <= cfg.A\n"
INSIDE = "def rule(b, h, i, j):\n    return sum([REACH for _ in range(1)]) >= abs(i - j)\n"
NESTED = "def rule(b, h, i, j):\n    reaches = lambda far: far <= REACH\n    return reaches(abs(i - j))\n"
SCORE = "def rule(score, b, h, i, j):\n    return score * REACH\n"


def made(source, **globals_):
    """As a notebook's cell that is run again: new code, new globals."""
    exec(source, globals_)
    return globals_["rule"]


def ways(**asked):
    """The call with arrays, with tensors that have gradients, and on the portable path; all in NumPy."""
    tensors = [torch.tensor(x, requires_grad=True) for x in (Q, K, V)]
    yield el.attention(Q, K, V, **asked)
    yield el.attention(*tensors, **asked).detach().numpy()
    with et.portable():
        yield el.attention(*tensors, **asked).detach().numpy()


def check(**asked):
    want = reference.steps(Q, K, V, **asked).output
    for got in ways(**asked):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("join", [lambda m: m, lambda m: ~m, lambda m: m | el.MaskFunction(lambda b, h, i, j: j == 0)])
@pytest.mark.parametrize("source", [RULE, INSIDE, NESTED])
def test_the_same_code_beside_other_values_is_another_rule(source, join):
    for reach in (1, 5, 1):
        check(mask=join(el.MaskFunction(made(source, REACH=reach))))


def test_a_global_that_changes_is_read_again():
    rule, score = made(RULE, REACH=1), made(SCORE, REACH=1.0)
    for reach in (1, 4, 0, 1):
        rule.__globals__["REACH"], score.__globals__["REACH"] = reach, 0.5 * reach
        check(mask=el.MaskFunction(rule), scores=score)
        check(mask=~el.MaskFunction(rule) | el.MaskFunction(lambda b, h, i, j: i == j))


def test_a_modules_attribute_that_changes_is_read_again():
    cfg = types.ModuleType("cfg")
    for reach in (1, 5):
        cfg.A = reach
        check(mask=el.MaskFunction(made(OF_A_MODULE, cfg=cfg)))
    rule = made(OF_A_MODULE, cfg=cfg)
    for reach in (0, 3):
        cfg.A = reach
        check(mask=el.MaskFunction(rule))


def test_an_array_that_changes_is_read_again():
    table = np.ones(9)
    rule = made("def rule(b, h, i, j):\n    return table[j] > 0\n", table=table)
    for at in (2, 5):
        table[at] = 0
        check(mask=el.MaskFunction(rule))


@pytest.mark.parametrize("portable", [False, True])
def test_a_backward_pass_computes_what_its_forward_pass_did(portable):
    score = made("def rule(score, b, h, i, j):\n    return score * REACH * (1 + 0 * j)\n", REACH=2.0)
    q, k, v = (torch.tensor(x, requires_grad=True) for x in (Q, K, V))

    def forward():
        if not portable:
            return el.attention(q, k, v, scores=score)
        with et.portable():
            return el.attention(q, k, v, scores=score)

    want = torch.autograd.grad(forward().sin().sum(), q)
    y = forward()
    score.__globals__["REACH"] = 7.0
    assert torch.equal(torch.autograd.grad(y.sin().sum(), q)[0], want[0])
    assert not torch.allclose(torch.autograd.grad(forward().sin().sum(), q)[0], want[0])


def test_a_compiled_program_asks_the_function_as_it_is_now():
    torch._dynamo.reset()
    rule = made(RULE, REACH=1)
    q, k, v = map(torch.from_numpy, (Q, K, V))
    run = torch.compile(
        lambda q, k, v: el.attention(q, k, v, mask=el.MaskFunction(rule)), fullgraph=True, backend="eager"
    )
    for reach in (1, 4):
        rule.__globals__["REACH"] = reach
        torch.testing.assert_close(
            run(q, k, v), torch.from_numpy(reference.steps(Q, K, V, mask=el.MaskFunction(rule)).output)
        )


class Callable:
    def __call__(self, b, h, i, j):
        return i >= j

    def method(self, *given):
        return True


@pytest.mark.parametrize("given", [functools.partial(bent, b=0), Callable(), Callable().method, max, np.add, Callable])
def test_what_cant_be_compiled_is_refused_by_the_arguments_name(given):
    with pytest.raises(TypeError, match=re.escape("function must be a function (b, h, i, j) that says whether")):
        el.MaskFunction(given)
    with pytest.raises(TypeError, match="only a def or a lambda can be compiled"):
        el.ScoreFunction(given)
    with pytest.raises(TypeError, match=r"derivative must be a function \(score, b, h, i, j\)"):
        el.ScoreFunction(bent, given)
