"""A mask and a score modifier of the user's own, on arrays and tensors, in the operator, compiled and not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from tensors import inputs, numbers

import eyeline as el
import eyeline.torch as et
from eyeline import reference
from eyeline.masks import Align, AttentionShape, LoweredMask, Mask, standing
from eyeline.masks.lowered import one_interval
from eyeline.scores import Added, Score
from eyeline.scores.arrays import Parameter, array_of, beside


@dataclass(frozen=True, slots=True)
class Behind(Mask):
    """Query i may look at keys at least `steps` before it."""

    steps: int
    align: Align | None = None

    def rule(self, problem: AttentionShape) -> Any:
        return np.arange(problem.keys) <= standing(problem, self.align, repr(self)) - self.steps

    def lower(self, problem: AttentionShape) -> LoweredMask:
        last = standing(problem, self.align, repr(self))[:, 0] - self.steps + 1
        return one_interval(np.zeros_like(last), last, problem.keys)


@dataclass(frozen=True, eq=False)
class KeyBias(Score):
    """Adds a learned number to all scores of a key, times a factor."""

    array: Parameter
    factor: float = 1.0

    def apply(self, s: Any, problem: AttentionShape, queries: slice = slice(None), keys: slice = slice(None)) -> Any:
        return s + self.factor * beside(s, self.array)[keys]

    def lower(self, problem: AttentionShape) -> Added:
        return Added(problem.spread(self.factor * array_of(self.array)[None], "array"))

    def pull_back(self, gradient: Any, problem: AttentionShape) -> dict[str, Any]:
        return {"array": self.factor * np.asarray(gradient, np.float64).reshape(-1, problem.keys).sum(axis=0)}


@pytest.mark.parametrize("mask", [Behind(1, "end"), Behind(0, 2) & el.Window(2, align="end"), ~Behind(2, "end")])
def test_ones_own_mask_and_modifier(mask):
    """They are written down by their parts; nothing else knows them."""
    q, k, v = inputs()
    bias = numbers(5, seed=3)
    assert type(mask)(**mask.parts()) == mask
    assert mask.is_plain

    def run(q, k, v, bias):
        return el.attention(q, k, v, mask=mask, scores=[KeyBias(bias, 0.5), el.Softcap(3.0)])

    arrays = [x.detach().numpy() for x in (q, k, v)]
    want = reference.steps(*arrays, mask=mask, scores=[KeyBias(bias.detach().numpy(), 0.5), el.Softcap(3.0)]).output
    leaves = (q, k, v, bias)
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    found = []
    for one in (run, compiled):
        y = one(*leaves)
        np.testing.assert_allclose(y.detach().numpy(), want, rtol=1e-9, atol=1e-12)
        found.append(torch.autograd.grad(y.sin().sum(), leaves))
    with et.portable(7):
        y = run(*leaves)
        np.testing.assert_allclose(y.detach().numpy(), want, rtol=1e-9, atol=1e-12)
        found.append(torch.autograd.grad(y.sin().sum(), leaves))
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-9, atol=1e-12)


def test_a_class_that_is_defined_again_is_the_new_one():
    def defined(steps_more):
        @dataclass(frozen=True, slots=True)
        class Shifted(Mask):
            n: int

            def rule(self, problem: AttentionShape) -> Any:
                return np.arange(problem.keys) <= np.arange(problem.queries)[:, None] + self.n + steps_more

            def lower(self, problem: AttentionShape) -> LoweredMask:
                last = np.arange(problem.queries) + self.n + steps_more + 1
                return one_interval(np.zeros_like(last), last, problem.keys)

        return Shifted(0)

    q, k, v = inputs()
    for more in (0, 2):
        mask = defined(more)
        want = reference.steps(*(x.detach().numpy() for x in (q, k, v)), mask=mask).output
        np.testing.assert_allclose(el.attention(q, k, v, mask=mask).detach().numpy(), want, rtol=1e-9, atol=1e-12)
