"""A part of a larger attention, and shares of a given total: observed as the reference does, all kinds at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import masks, problems, readouts, score_stacks
from test_merge import close

import eyeline as el
from eyeline import reference


@st.composite
def calls(draw):
    """Arrays of float64 that are a part, often all, of a larger attention, and what is asked of them."""
    problem = draw(problems(most=61))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    (i, last_query), (j, last_key) = ((0, n) for n in (problem.queries, problem.keys))
    if draw(st.booleans()):
        i, last_query = sorted(draw(st.tuples(*[st.integers(0, problem.queries)] * 2)))
        j, last_key = sorted(draw(st.tuples(*[st.integers(0, problem.keys)] * 2)))
    q, k, v = (
        rng.standard_normal((*problem.lead, problem.heads, n, 5)) * 2
        for n in (last_query - i, last_key - j, last_key - j)
    )
    return (q, k, v), {
        "mask": draw(masks(problem)),
        "scores": draw(score_stacks(problem)),
        "dropout": draw(st.sampled_from((0.0, 0.3))),
        "seed": draw(st.integers(0, 2**64 - 1)),
        "shard": el.Shard(j, problem.keys, i, problem.queries),
        "read": draw(readouts(problem)),
    }


@given(calls())
def test_a_part_is_seen_as_the_reference_sees_it(call):
    arrays, asked = call
    close(el.observe(*arrays, **asked), reference.observe(*arrays, **asked))


@given(calls(), st.sampled_from((-1.0, 0.0, 2.0)))
def test_shares_of_a_given_total_are_the_references(call, more):
    arrays, asked = call
    lse = reference.observe(*arrays, **asked).lse + more
    close(el.observe(*arrays, **asked, lse=lse), reference.observe(*arrays, **asked, lse=lse))
