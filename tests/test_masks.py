"""Masks: the intervals that kernels read say what the rule says; the algebra; printing; errors."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import masks, problems

import eyeline as el
from eyeline import reference
from eyeline.masks import AttentionShape

drawn = problems().flatmap(lambda problem: st.tuples(st.just(problem), masks(problem)))
pairs = problems(most=33).flatmap(lambda p: st.tuples(st.just(p), masks(p), masks(p), masks(p)))

KINDS = ("Causal", "Documents", "Padding", "PrefixLM", "Window")


def booleans(lowered, problem):
    """What the kernels make of a lowered mask, (B, H, N, M)."""
    j = np.arange(problem.keys)
    first, last = lowered.bounds[..., 0, None], lowered.bounds[..., 1, None]
    seen = ((first <= j) & (j < last)).any(axis=3)
    seen = np.broadcast_to(seen, problem.shape)
    seen = seen if lowered.allowed is None else seen & np.broadcast_to(lowered.allowed, problem.shape)
    for function in lowered.functions:
        seen = seen & np.array([bool(function(*at)) for at in np.ndindex(problem.shape)], bool).reshape(problem.shape)
    return seen


def rule(mask, problem):
    return np.broadcast_to(mask.rule(problem), problem.shape)


def has(kinds, mask):
    return isinstance(mask, kinds) or any(
        has(kinds, getattr(mask, name)) for name in ("left", "right", "inner") if hasattr(mask, name)
    )


@given(drawn)
def test_lowered_masks_say_what_the_rule_says(case):
    problem, mask = case
    lowered = mask.lower(problem)
    np.testing.assert_array_equal(booleans(lowered, problem), rule(mask, problem))


@given(drawn)
def test_lowered_intervals_are_in_order_disjoint_and_in_range(case):
    problem, mask = case
    bounds = mask.lower(problem).bounds
    assert bounds.dtype == np.int32
    assert bounds.flags.c_contiguous
    assert bounds.ndim == 5
    assert bounds.shape[3] >= 1
    assert np.broadcast_shapes(bounds.shape[:3], problem.shape[:3]) == problem.shape[:3]
    first, last = bounds[..., 0], bounds[..., 1]
    assert ((first >= 0) & (last <= problem.keys)).all()
    empty = first >= last
    assert (bounds[empty] == problem.keys).all()
    # Between two intervals of a row there is a key that neither has; so empty ones come last.
    assert ((last[..., :-1] < first[..., 1:]) | empty[..., 1:]).all()
    assert (empty[..., 1:] | ~empty[..., :-1]).all()
    # No column of intervals that no row needs.
    assert bounds.shape[3] == 1 or not empty[..., -1].all()


@given(drawn)
def test_only_booleans_need_booleans(case):
    problem, mask = case
    lowered = mask.lower(problem)
    assert has(el.MaskFunction, mask) or not lowered.functions
    assert has((el.Dense, el.MaskFunction), mask) or lowered.allowed is None


def test_booleans_without_holes_are_intervals():
    triangle = np.tri(5, dtype=bool)
    problem = AttentionShape((1,), 1, 5, 5)
    assert el.Dense(triangle).lower(problem).allowed is None
    assert (~el.Dense(triangle)).lower(problem).allowed is None
    assert el.Dense(np.eye(5, dtype=bool)[::-1] | np.eye(5, dtype=bool)).lower(problem).allowed is not None


@given(pairs)
def test_algebra(case):
    problem, a, b, c = case

    def same(left, right):
        np.testing.assert_array_equal(rule(left, problem), rule(right, problem))
        np.testing.assert_array_equal(booleans(left.lower(problem), problem), booleans(right.lower(problem), problem))

    same(~(a & b), ~a | ~b)
    same(~(a | b), ~a & ~b)
    same(~~a, a)
    same(a & a, a)
    same(a | a, a)
    same(a & b, b & a)
    same(a | b, b | a)
    same(a & (b | c), (a & b) | (a & c))
    same((a & b) | a, a)
    assert not rule(a & ~a, problem).any()
    assert rule(a | ~a, problem).all()


@given(pairs)
def test_joined_masks_are_the_booleans_joined(case):
    problem, a, b, _ = case
    np.testing.assert_array_equal(rule(a & b, problem), rule(a, problem) & rule(b, problem))
    np.testing.assert_array_equal(rule(a | b, problem), rule(a, problem) | rule(b, problem))
    np.testing.assert_array_equal(rule(~a, problem), ~rule(a, problem))


def test_rules_word_by_word():
    i, j = np.arange(6)[:, None], np.arange(6)
    np.testing.assert_array_equal(el.Causal().dense(6), j <= i)
    np.testing.assert_array_equal(el.Window(2).dense(6), abs(j - i) <= 2)
    np.testing.assert_array_equal(el.Window(1, 3).dense(6), (i - 1 <= j) & (j <= i + 3))
    np.testing.assert_array_equal(el.Window(10**30).dense(6), np.ones((6, 6), bool))
    np.testing.assert_array_equal(el.Causal(align="end").dense(2, 6), j <= i[:2] + 4)
    np.testing.assert_array_equal(el.Causal(align="start").dense(2, 6), j <= i[:2])
    np.testing.assert_array_equal(el.Causal(align="end").dense(6, 2), j[:2] <= i - 4)
    np.testing.assert_array_equal(el.Window(0, align="end").dense(2, 6), j == i[:2] + 4)


def test_lengths_word_by_word():
    i, j = np.arange(4)[:, None], np.arange(4)
    dense = el.Padding([1, 4, 0]).dense(4, batch=3)
    assert dense.shape == (3, 1, 4, 4)
    for n, got in zip([1, 4, 0], dense[:, 0], strict=True):
        np.testing.assert_array_equal(got, (i < n) & (j < n))
    left = el.Padding([1, 3], side="left").dense(4, batch=2)[:, 0]
    for n, got in zip([1, 3], left, strict=True):
        np.testing.assert_array_equal(got, (i >= 4 - n) & (j >= 4 - n))
    np.testing.assert_array_equal(el.Padding(keys=[2]).dense(4), np.broadcast_to(j < 2, (4, 4)))
    np.testing.assert_array_equal(el.Padding(queries=[2]).dense(4), np.broadcast_to(i < 2, (4, 4)))
    np.testing.assert_array_equal(el.Padding(queries=[3], keys=[1]).dense(4), (i < 3) & (j < 1))
    assert el.Padding([2]).dense(4, batch=3).sum() == 12
    np.testing.assert_array_equal(el.Padding(np.array([[1, 2], [3, 4]])).dense(4, batch=4)[3], np.ones((1, 4, 4), bool))


def test_dense_booleans_broadcast_over_any_axes():
    rng = np.random.default_rng(0)
    target = (2, 3, 4, 5, 6)
    for shape in [(5, 6), (1, 6), (5, 1), (4, 5, 6), (3, 4, 5, 6), (2, 1, 4, 1, 6), (2, 3, 1, 1, 1)]:
        given = rng.random(shape) < 0.5
        problem = AttentionShape((2, 3), 4, 5, 6)
        want = np.broadcast_to(given, target).reshape(6, 4, 5, 6)
        np.testing.assert_array_equal(rule(el.Dense(given), problem), want)
        np.testing.assert_array_equal(booleans(el.Dense(given).lower(problem), problem), want)


def test_batch_elements_and_heads_may_have_masks_of_their_own():
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((2, 3, n, 4)) for n in (5, 6, 6))
    for shape in [(2, 3, 5, 6), (2, 1, 5, 6), (3, 5, 6), (2, 1, 1, 6)]:
        allowed = rng.random(shape) < 0.5
        output = reference.steps(q, k, v, mask=el.Dense(allowed)).output
        for b, h in np.ndindex(2, 3):
            own = np.broadcast_to(allowed, (2, 3, 5, 6))[b, h]
            alone = reference.steps(q[b, h], k[b, h], v[b, h], mask=el.Dense(own)).output
            np.testing.assert_allclose(output[b, h], alone, rtol=1e-13)


@pytest.mark.parametrize(
    "join", [bool, lambda m: not m, lambda m: m and m, lambda m: m or m, lambda m: 1 if m else 2, lambda m: 0 < m < 1]
)
def test_a_mask_is_neither_true_nor_false(join):
    with pytest.raises(TypeError) as caught:
        join(el.Causal() & el.Window(1))
    if "<" not in str(caught.value):
        assert str(caught.value) == (
            "a mask is neither true nor false; join masks with &, | and ~, not and, or, not: "
            "Causal() & Window(before=1, after=1)"
        )


@pytest.mark.parametrize("other", [True, None, [[True]]])
def test_a_mask_joins_with_masks_alone(other):
    for join in (lambda a, b: a & b, lambda a, b: a | b):
        for pair in ((el.Causal(), other), (other, el.Causal())):
            with pytest.raises(TypeError, match=r"unsupported operand"):
                join(*pair)


@pytest.mark.parametrize("other", [np.ones((3, 3), bool), np.ones((0, 3), bool), np.ones(3), np.bool_(True)])
def test_an_array_joined_with_a_mask_is_told_how(other):
    for join in (lambda a, b: a & b, lambda a, b: a | b):
        for pair in ((el.Causal(), other), (other, el.Causal())):
            with pytest.raises(TypeError, match=re.escape("got an array; wrap booleans, True where a query may look")):
                join(*pair)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (el.Causal(), "Causal()"),
        (el.Causal(align="end"), "Causal(align='end')"),
        (el.Window(3), "Window(before=3, after=3)"),
        (el.Window(np.int64(255), 0, align="start"), "Window(before=255, after=0, align='start')"),
        (el.Padding([3, 5]), "Padding([3, 5])"),
        (el.Padding(np.array([3]), side="left"), "Padding([3], side='left')"),
        (el.Padding(keys=[1]), "Padding(keys=[1])"),
        (el.Padding(queries=(2, 2), keys=(1, 3)), "Padding(queries=[2, 2], keys=[1, 3])"),
        (el.Padding(range(9)), "Padding([0, 1, 2, 3, 4, 5, ... 9 in all])"),
        (el.Dense(np.tri(2, dtype=bool)), "Dense(2 × 2, 75% allowed)"),
        (el.Dense(np.ones((3, 1, 0), bool)), "Dense(3 × 1 × 0, empty)"),
        (el.Intervals(np.zeros((2, 5, 1, 2), int)), "Intervals(2 × 5 rows of at most 1)"),
        (el.Causal(7), "Causal(align=7)"),
        (el.Window(1, 0, 0), "Window(before=1, after=0, align=0)"),
        ((el.Causal() | el.Window(1, 2)) & ~el.Causal(), "(Causal() | Window(before=1, after=2)) & ~Causal()"),
        (~(el.Causal() & el.Causal()), "~(Causal() & Causal())"),
        (el.Causal() & el.Causal() | ~~el.Causal(), "Causal() & Causal() | ~~Causal()"),
    ],
)
def test_masks_print_as_what_they_mean(mask, text):
    assert repr(mask) == text


@given(drawn)
def test_what_is_printed_makes_the_mask_again(case):
    problem, mask = case
    if not has((el.Dense, el.Intervals, el.MaskFunction), mask):
        again = eval(repr(mask), {name: getattr(el, name) for name in KINDS})
        np.testing.assert_array_equal(rule(again, problem), rule(mask, problem))


@given(problems().flatmap(lambda p: st.tuples(st.just(p), masks(p, joined=False))))
def test_masks_pickle(case):
    problem, mask = case
    again = pickle.loads(pickle.dumps(mask))
    np.testing.assert_array_equal(rule(again, problem), rule(mask, problem))
    assert has((el.Dense, el.Intervals), mask) or again == mask


@given(problems(), st.integers(-3, 9))
def test_a_chunk_of_queries_stands_where_it_is_told(problem, first):
    """Queries cut out of a longer square see what they saw there."""
    size = max(problem.keys, first + problem.queries, 0)
    rows = np.arange(first, first + problem.queries)
    kept = (rows >= 0) & (rows < size)
    for mask in (el.Causal, lambda align: el.Window(2, 1, align), lambda align: el.Documents([2, 0, 3], align=align)):
        if size >= 5 and problem.keys >= 5:
            whole = mask(None).dense(size)[rows[kept], : problem.keys]
            np.testing.assert_array_equal(mask(first).dense(problem.queries, problem.keys)[kept], whole)


@given(problems(most=17), st.data())
def test_lowered_masks_say_what_the_rule_says_wherever_queries_stand(problem, data):
    """Also far outside the keys; `share` and `draw` as well."""
    far = st.integers(-40, 40) | st.sampled_from((-(2**62), 2**62, -(2**31), 2**31, 2**32 + 3))
    align, reach = data.draw(far), st.sampled_from((0, 1, 8, 40, 2**31, 2**40, 10**30))
    lengths = data.draw(st.lists(st.integers(0, max(problem.keys // 3, 0)), max_size=3))
    mask = data.draw(
        st.sampled_from(
            [
                el.Causal(align),
                el.Window(data.draw(reach), data.draw(reach), align),
                el.PrefixLM(data.draw(st.sampled_from((0, 3, 2**40))), align),
                el.Documents(lengths, align=align),
            ]
        )
    )
    mask = data.draw(
        st.sampled_from([mask, ~mask, mask & el.Window(3, align=align), mask | ~el.Window(2, align=align)])
    )
    want = rule(mask, problem)
    np.testing.assert_array_equal(booleans(mask.lower(problem), problem), want)
    sizes = {"batch": problem.batch, "heads": problem.heads}
    assert mask.share(problem.queries, problem.keys, **sizes) == pytest.approx(want.mean() if want.size else 0)
    if problem.batch and problem.heads:
        drawn_as = mask.draw(problem.queries, problem.keys, **sizes, rows=100, columns=200)
        lines = [["·█"[int(visible)] * 2 for visible in row] for row in want[0, 0]] if want.size else []
        assert drawn_as == "\n".join(map("".join, lines))


def test_a_window_reaches_keys_from_outside_them():
    np.testing.assert_array_equal(el.Window(8, 0, align=10).dense(1, 4), [[False, False, True, True]])
    lowered = el.Window(8, 0, align=10).lower(AttentionShape((1,), 1, 1, 4))
    assert lowered.bounds.ravel().tolist() == [2, 4]
    assert el.Window(8, 0, align=10).share(1, 4) == 0.5


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_bounds_may_be_of_any_whole_numbers(dtype):
    mask = el.Intervals(np.array([[[1, 100]]], dtype))
    np.testing.assert_array_equal(
        mask.dense(2, 300), np.broadcast_to((np.arange(300) >= 1) & (np.arange(300) < 100), (2, 300))
    )


@given(problems(most=9).flatmap(lambda p: st.tuples(st.just(p), masks(p))))
def test_a_masks_parts_make_an_equal_one(case):
    problem, mask = case
    again = type(mask)(**mask.parts())
    np.testing.assert_array_equal(rule(again, problem), rule(mask, problem))
    assert mask.is_plain == (not has((el.Dense, el.Intervals, el.MaskFunction), mask))
    if mask.is_plain:
        assert again == mask
        assert hash(again) == hash(mask)


def test_whole_numbers_of_numpy_are_whole_numbers():
    for make in (
        el.Causal,
        lambda n: el.Window(2, 1, n),
        lambda n: el.PrefixLM(2, n),
        lambda n: el.Documents([3], align=n),
    ):
        assert make(np.int64(3)) == make(3)
        assert repr(make(np.int32(3))) == repr(make(3))


def test_equal_masks_are_equal():
    alike = [
        (el.Causal(), el.Causal(align=None)),
        (el.Window(2), el.Window(2, 2)),
        (el.Padding([1, 2]), el.Padding(queries=(1, 2), keys=np.array([1, 2]))),
        (el.Causal() & ~el.Window(1), el.Causal() & ~el.Window(1)),
    ]
    for a, b in alike:
        assert a == b
        assert hash(a) == hash(b)
    different = [el.Causal(), el.Causal("end"), el.Window(1), el.Window(1, 0), el.Padding([1]), el.Padding([2])]
    different += [el.Padding(keys=[1]), el.Padding([1], side="left"), ~el.Causal(), el.Causal() | el.Causal()]
    different.append(el.Causal() & el.Causal())
    assert len(set(different)) == len(different)


SCORES = np.array([[0.0, -np.inf], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: el.Causal(2**62 + 1), "align must be a key's number from -2^62 to 2^62, got 4611686018427387905"),
        (lambda: el.Causal(True), 'align must be "start", "end", a key\'s number or None, got True'),
        (
            lambda: el.Intervals([[0, 1]]),
            "bounds must be whole numbers, (N, K, 2) or (B, N, K, 2), got int64 array of shape (1",
        ),
        (lambda: el.Intervals([[[0.0, 1.0]]]), "bounds must be whole numbers, (N, K, 2) or (B, N, K, 2), got float64"),
        (lambda: el.Intervals(np.zeros((2, 1, 2), int)).dense(3), "bounds must have one row per query (3), for each"),
        (lambda: el.Causal("bottom"), 'align must be "start", "end", a key\'s number or None, got '),
        (lambda: el.Window(1, align=1.5), 'align must be "start", "end", a key\'s number or None, got 1.5'),
        (lambda: el.Window(-1), "before must be a whole number, 0 or more, got -1"),
        (lambda: el.Window(1, after=2.0), "after must be a whole number, 0 or more, got 2.0"),
        (lambda: el.Window(True), "before must be a whole number, 0 or more, got True"),
        (lambda: el.Padding(), "lengths must be given alone, or else queries= and keys=, got neither"),
        (lambda: el.Padding([1], keys=[1]), "lengths must be given alone, or else queries= and keys=, got both"),
        (lambda: el.Padding([1], side="top"), 'side must be "right" or "left", got '),
        (lambda: el.Padding(3), "lengths must be whole numbers, one per batch element, got int64 array of shape ()"),
        (lambda: el.Padding([1.5]), "lengths must be whole numbers, one per batch element, got float64 array of shape"),
        (lambda: el.Padding(keys=[True]), "keys must be whole numbers, one per batch element, got bool array of shape"),
        (lambda: el.Padding(queries=[2, -3]), "queries must be 0 or more, got -3"),
        (lambda: el.Padding([9]).dense(4), "lengths must be at most the number of queries, 4, got 9: Padding([9])"),
        (lambda: el.Padding(keys=[5]).dense(9, 4), "lengths must be at most the number of keys, 4, got 5: Padding("),
        (lambda: el.Padding([1, 1]).dense(4, batch=3), "lengths must have one number per batch element (3), got 2: P"),
        (lambda: el.Dense(SCORES), "allowed must be an array of booleans, True where a query may look"),
        (lambda: el.Dense(SCORES), "if 0 means allowed (an additive mask of 0 and -inf) pass allowed == 0, if 1 does"),
        (lambda: el.Dense(np.ones((2, 2), int)), "allowed must be an array of booleans, True where a query may look"),
        (lambda: el.Dense(np.ones(3, bool)), "allowed must have axes for queries and keys, (..., N, M), got shape"),
        (lambda: el.Dense(np.ones((2, 3), bool)).dense(3), "allowed must broadcast to (..., H, N, M) = (1, 1, 3, 3)"),
        (lambda: (~el.Causal()).dense(2, 3), "align must be given where queries and keys differ in number, got"),
        (lambda: el.Window(1).dense(2, 3), 'Window(before=1, after=1) for 2 queries and 3 keys; say align="end" if'),
    ],
)
def test_errors_say_what_was_wrong_and_what_to_do(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "mask",
    [el.Causal(), el.Window(1), el.Padding([9]), el.Dense(np.ones((2, 3), bool)), el.Documents([1]), el.PrefixLM(1)],
)
def test_lowering_refuses_what_the_rule_refuses(mask):
    problem = AttentionShape((1,), 1, 3, 4)
    with pytest.raises(ValueError, match=r"align|lengths|allowed") as by_rule:
        mask.rule(problem)
    with pytest.raises(ValueError, match=r"align|lengths|allowed") as by_lower:
        mask.lower(problem)
    assert str(by_rule.value) == str(by_lower.value)
