"""Edits of a call against their definitions on the whole matrix; and what holds of them to the bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from comparing import same_bits
from edits import OtherRun, edit_lists
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import masks, problems, readouts, score_stacks

import eyeline as el
from eyeline import edits as ed
from eyeline import reference
from eyeline.masks import Mask
from eyeline.readouts import Readout
from eyeline.scores import Score


def near(got, want, atol: float) -> None:
    """Equal but for rounding; NaN nowhere, and infinities in the same places."""
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=atol, atol=atol, equal_nan=False)


def check_all(got: el.Observation, want: el.Observation, read: list[Readout], atol: float) -> None:
    """The output, lse, the sinks' share and every readout."""
    near(got.output, want.output, atol)
    near(got.lse, want.lse, atol)
    assert (got.sink is None) == (want.sink is None)
    if want.sink is not None:
        near(got.sink, want.sink, atol)
    for readout in read:
        if isinstance(readout, el.TopK):  # equal weights may change places by rounding
            near(got.top_k.weights, want.top_k.weights, atol)
            np.testing.assert_array_equal(got.top_k.keys < 0, want.top_k.keys < 0)
        else:
            near(got[type(readout)], want[type(readout)], atol)


@dataclass(frozen=True, repr=False)
class Case:
    """An edited call."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: Mask | None
    scores: list[Score]
    edits: list[ed.Edit]
    read: list[Readout]

    def __repr__(self) -> str:
        shapes = [x.shape for x in (self.q, self.k, self.v)]
        return f"Case({shapes}, {self.mask!r}, {self.scores}, {self.edits}, {self.read})"

    def _repr_pretty_(self, printer, cycle: bool) -> None:
        printer.text(repr(self))  # hypothesis would print every number

    @property
    def structure(self) -> dict:
        return {"mask": self.mask, "scores": self.scores}

    def observe(self, edits: list[ed.Edit] | ed.CallEdits) -> el.Observation:
        return el.observe(self.q, self.k, self.v, **self.structure, edits=edits, read=self.read)

    def define(self, edits: list[ed.Edit]) -> el.Observation:
        return reference.observe(self.q, self.k, self.v, **self.structure, edits=edits, read=self.read)


@st.composite
def edited_calls(draw, most: int = 33) -> Case:
    problem = draw(problems(most=most))
    G = draw(st.sampled_from([g for g in range(1, problem.heads + 1) if problem.heads % g == 0] or [0]))
    D, E = draw(st.sampled_from((1, 4, 9))), draw(st.sampled_from((1, 5, 8)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, k, v = (
        rng.standard_normal((*problem.lead, heads, tokens, width))
        for heads, tokens, width in ((problem.heads, problem.queries, D), (G, problem.keys, D), (G, problem.keys, E))
    )
    mask = draw(st.none() | masks(problem, functions=False))
    stack = draw(score_stacks(problem, functions=False))
    return Case(q, k, v, mask, stack, draw(edit_lists(problem, G, D, E)), draw(readouts(problem)))


@settings(max_examples=200)
@given(edited_calls())
def test_every_edit_and_every_readout_against_the_definition(case):
    got, want = case.observe(case.edits), case.define(case.edits)
    check_all(got, want, case.read, 1e-10)
    same_bits(el.attention(case.q, case.k, case.v, **case.structure, edits=case.edits), got.output)
