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


def factor_of_entropy(factor: float, label: str = "") -> el.Entropy:
    """A readout of a class that has Eyeline's name for its base, a new one with each call."""

    @dataclass(frozen=True)
    class Entropy(el.Entropy):
        label: str = ""
        several: tuple[Any, ...] = ("mean", ("max", float("inf")), 1.5)

        def result(self, *found: Any) -> tuple[Any, ...]:
            assert self.label == label
            assert [self.several[0], list(self.several[1])] == ["mean", ["max", float("inf")]]
            return (factor * super().result(*found)[0],)

    Entropy.__qualname__ = "Entropy"
    return Entropy(label)


def test_classes_of_one_name_are_told_apart():
    """A user's subclass may have the name of Eyeline's own, or of another of the user's."""
    q, k, v = inputs()
    once, twice, thrice = (el.observe(q, k, v, read=factor_of_entropy(factor)) for factor in (1, 2, 3))
    two = factor_of_entropy(2)
    factor_of_entropy(5)  # made, and never used
    for seen, factor in ((once, 1), (twice, 2), (thrice, 3), (el.observe(q, k, v, read=two), 2)):
        want = factor * el.observe(q, k, v, read=el.Entropy()).entropy
        torch.testing.assert_close(seen.entropy, want)


@pytest.mark.parametrize("label", ['a "word"', "back\\slash\\", "two\nlines"])
def test_parts_may_be_any_text(label):
    q, k, v = inputs()
    seen = el.observe(q, k, v, read=factor_of_entropy(1, label))
    torch.testing.assert_close(seen.entropy, el.observe(q, k, v, read=el.Entropy()).entropy)
