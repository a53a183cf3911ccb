"""Partial results: parts of the keys or of the queries merge to the whole, in any grouping."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import READOUTS, masks, problems, readouts, score_stacks

import eyeline as el
from eyeline import reference
from eyeline.masks import AttentionShape

ROWS = (el.TopK, el.Entropy, el.MeanDistance, el.OffsetMass, el.GroupMass, el.Weights)


@st.composite
def calls(draw, kinds, sinks):
    """The arguments of a call, and two cuts each of its keys and of its queries."""
    problem = draw(problems(most=17))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, k, v = (
        rng.standard_normal((*problem.lead, problem.heads, n, 3)) * 3
        for n in (problem.queries, problem.keys, problem.keys)
    )
    stack = [one for one in draw(score_stacks(problem)) if sinks or not isinstance(one, el.Sinks)]
    given_call = {
        "mask": draw(masks(problem)),
        "scores": stack,
        "dropout": draw(st.sampled_from((0.0, 0.3))),
        "seed": 7,
        "read": draw(readouts(problem, kinds)),
    }
    keys = sorted(draw(st.tuples(*[st.integers(0, problem.keys)] * 2)))
    queries = sorted(draw(st.tuples(*[st.integers(0, problem.queries)] * 2)))

    def observe(keys=None, queries=None, **more):
        return of_part(q, k, v, keys, queries, **given_call, **more)

    return observe, parts(problem.keys, keys), parts(problem.queries, queries)


def of_part(q, k, v, keys=None, queries=None, **more):
    """What the reference sees of the keys [first, last), or the queries."""
    (i, last_query), (j, last_key) = queries or (0, q.shape[-2]), keys or (0, k.shape[-2])
    shard = el.Shard(j, k.shape[-2], i, q.shape[-2])
    k, v = k[..., j:last_key, :], v[..., j:last_key, :]
    return reference.observe(q[..., i:last_query, :], k, v, shard=shard, **more)


def parts(n, cuts):
    return list(pairwise([0, *cuts, n]))


def close(got, want):
    """Fails unless both saw the same, but for rounding."""
    assert (got.read, got.relative_to_whole) == (want.read, want.relative_to_whole)
    for name, mine, its in zip(("output", "lse", "sink"), *(numbers(seen) for seen in (got, want)), strict=True):
        assert (mine is None) == (its is None), name
        alike(name, mine, its)
    for readout, mine, its in zip(want.read, got.results, want.results, strict=True):
        assert (mine.shape, mine.first, mine.count) == (its.shape, its.first, its.count)
        if isinstance(readout, el.TopK):
            alike_top_keys(got.top_k, want.top_k)
            continue
        for x, y in zip(mine.arrays, its.arrays, strict=True):
            alike(readout.name, x, y)


def numbers(seen):
    return seen.output, seen.lse, seen.sink


def alike(name, mine, its):
    if its is not None:
        assert mine.dtype == its.dtype, name
        np.testing.assert_allclose(mine, its, atol=1e-10, err_msg=name)


def alike_top_keys(got, want):
    np.testing.assert_allclose(got.weights, want.weights, atol=1e-10)
    # Rounding may change the order of two that were equal.
    apart = np.diff(want.weights, axis=-1, prepend=np.inf, append=-np.inf) < -1e-9
    alone = apart[..., 1:] & apart[..., :-1]
    alone[..., -1] = False  # what comes after the last isn't known
    np.testing.assert_array_equal(got.keys[alone], want.keys[alone])
    np.testing.assert_array_equal(got.keys < 0, want.keys < 0)
    ordered = np.sort(got.keys, axis=-1)
    assert ((np.diff(ordered, axis=-1) > 0) | (ordered[..., 1:] == -1)).all()


@given(calls(ROWS, sinks=False))
def test_parts_of_the_keys_merge_to_the_whole(call):
    observe, keys, _ = call
    whole = observe()
    a, b, c = (observe(part) for part in keys)
    close(a.merge(b).merge(c), whole)
    close(a.merge(b.merge(c)), whole)
    close(c.merge(a).merge(b), whole)


@given(calls(READOUTS, sinks=True))
def test_parts_of_the_keys_relative_to_the_whole_merge_to_it(call):
    observe, keys, _ = call
    lse = observe().lse
    whole = observe(lse=lse)
    close(replace(whole, relative_to_whole=False), observe())
    a, b, c = (observe(part, lse=lse) for part in keys)
    close(a.merge(b).merge(c), whole)
    close(a.merge(b.merge(c)), whole)
    close(c.merge(a).merge(b), whole)


@given(calls(READOUTS, sinks=True))
def test_parts_of_the_queries_merge_to_the_whole(call):
    observe, _, queries = call
    whole = observe()
    a, b, c = (observe(queries=part) for part in queries)
    close(a.merge(b, "queries").merge(c, "queries"), whole)
    close(a.merge(b.merge(c, "queries"), "queries"), whole)


@given(calls(ROWS, sinks=False), st.integers(0, 17))
def test_a_part_of_no_keys_changes_nothing(call, at):
    observe, keys, _ = call
    whole = observe()
    at = min(at, keys[-1][1])
    none = observe((at, at))
    close(whole.merge(none), whole)
    close(none.merge(whole), whole)
    close(none.merge(none), none)
    assert not np.isnan(none.merge(none).output).any()


@given(calls(READOUTS, sinks=True))
def test_a_part_of_no_queries_changes_nothing(call):
    observe, _, _ = call
    whole, none = observe(), observe(queries=(0, 0))
    close(whole.merge(none, "queries"), whole)
    close(none.merge(whole, "queries"), whole)


def test_rows_of_rectangles_follow_one_another():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 6, 4)) for _ in range(3))
    whole = reference.observe(q, k, v, read=el.Weights(keys=slice(2, 5)))
    a, b = (of_part(q, k, v, queries=part, read=el.Weights(keys=slice(2, 5))) for part in ((0, 2), (2, 6)))
    np.testing.assert_array_equal(a.merge(b, "queries").weights, whole.weights)


def test_rows_in_any_order_follow_their_own():
    """The rectangle's rows go back and forth between the parts, and one is there twice."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 6, 4)) for _ in range(3))
    read = el.Weights([5, 0, 3, 0, -3], keys=slice(2, 5))
    whole = el.observe(q, k, v, read=read)
    a, b, c = (
        el.observe(q[:, i:j], k, v, read=read, shard=el.Shard(first_query=i, queries=6))
        for i, j in ((0, 2), (2, 4), (4, 6))
    )
    for merged in (a.merge(b, "queries").merge(c, "queries"), a.merge(b.merge(c, "queries"), "queries")):
        np.testing.assert_array_equal(merged.weights, whole.weights)
    for first, second in ((a, c), (b, a), (whole, whole)):
        with pytest.raises(
            ValueError, match=r"other must be of the queries from \d on .* observe the parts with shard="
        ):
            first.merge(second, "queries")


def test_equal_weights_are_told_apart_by_their_keys():
    q, k = np.zeros((1, 2)), np.ones((4, 2))
    a, b = (of_part(q, k, k, part, read=el.TopK(3)) for part in ((0, 2), (2, 4)))
    for merged in (a.merge(b), b.merge(a)):
        np.testing.assert_array_equal(merged.top_k.keys, [[0, 1, 2]])
        np.testing.assert_array_equal(merged.top_k.weights, [[0.25] * 3])


def test_a_visible_key_without_weight_comes_before_none():
    q, k = np.ones((1, 1)), np.array([[0.0], [-1e4], [-1e4], [0.0]])
    mask = el.Dense(np.array([[True, True, True, False]]))
    a, b = (of_part(q, k, k, part, mask=mask, read=el.TopK(4)) for part in ((0, 2), (2, 4)))
    for merged in (a.merge(b), b.merge(a)):
        np.testing.assert_array_equal(merged.top_k.keys, [[0, 1, 2, -1]])
        np.testing.assert_array_equal(merged.top_k.weights, [[1, 0, 0, 0]])


def test_half_types_stay_what_they_are():
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((2, 6, 4)) for _ in range(3))
    kinds = [el.TopK(2), el.Entropy(), el.MeanDistance(), el.GroupMass([0, 1, 2, 0, 1, 2]), el.Weights()]
    seen = [of_part(q, k, v, part, read=kinds) for part in ((0, 2), (2, 6))]
    a, b = (one.map(lambda x: x.astype(np.float32) if x.dtype == np.float64 else x) for one in seen)
    merged, want = a.merge(b), seen[0].merge(seen[1])
    for name in ("output", "lse", "entropy", "mean_distance", "group_mass", "weights"):
        assert getattr(merged, name).dtype == np.float32
        np.testing.assert_allclose(getattr(merged, name), getattr(want, name), atol=1e-6)


def seen(problem=None, **more):
    problem = problem or AttentionShape((1,), 2, 4, 4)
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal((1, 2, n, 3)) for n in (problem.queries, problem.keys, problem.keys))
    return reference.observe(q, k, v, **more)


@pytest.mark.parametrize(
    ("join", "message"),
    [
        (lambda: seen().merge(seen(), "heads"), 'axis must be "keys" or "queries", got \'heads\''),
        (lambda: seen(read=el.Entropy()).merge(seen()), "other must have read what this has, [Entropy()], got []"),
        (
            lambda: seen(read=el.Received()).merge(seen(read=el.Received("max")), "queries"),
            "other must have read what this has, [Received(reduce='sum')], got [Received(reduce='max')]",
        ),
        (
            lambda: seen(read=el.TopK(1)).merge(seen(read=el.TopK(2))),
            "other must have read what this has, [TopK(k=1)], got [TopK(k=2)]",
        ),
        (
            lambda: seen(read=el.OffsetMass([0, 1])).merge(seen(read=el.OffsetMass([0, 2]))),
            "other must have read what this has, [OffsetMass(edges=(0, 1), align=None)], got [OffsetMass(edges=",
        ),
        (lambda: seen().merge(seen(lse=seen().lse)), "other must be observed as this was, both with lse= or both with"),
        (
            lambda: seen(lse=seen().lse).merge(seen(lse=seen().lse + 1)),
            "other must be observed with the same lse= as t",
        ),
        (
            lambda: seen().merge(seen(AttentionShape((1,), 2, 3, 4))),
            "other must be of the same queries, with output (1, 2, 4,",
        ),
        (
            lambda: seen(read=el.Received()).merge(seen(read=el.Received())),
            "received must be of weights relative to the whole to be merged over keys; observe both parts with lse=",
        ),
        (
            lambda: seen(read=el.Pooled(2, 2)).merge(seen(read=el.Pooled(2, 2))),
            "pooled must be of weights relative to the whole to be merged over keys; observe both parts with lse=",
        ),
        (
            lambda: seen(scores=el.Sinks([1, 2])).merge(seen(scores=el.Sinks([1, 2]))),
            "sink must be of weights relative to the whole to be merged over keys; observe both parts with lse=",
        ),
        (
            lambda: seen(read=el.Pooled(2, 2)).merge(seen(read=el.Pooled(2, 2)), "queries"),
            "pooled must be a picture of the whole to be merged over queries, got one of a shard's own queries; obse",
        ),
    ],
)
def test_errors_say_what_to_do(join, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        join()
