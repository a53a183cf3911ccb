"""Every mask × score × readout × dropout, of every shape, against the formula on the whole matrix; and its bits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import pytest
from comparing import same_bits
from hypothesis import given
from hypothesis import strategies as st
from strategies import Case, cases, masks, readouts, score_stacks

import eyeline as el
from eyeline import reference
from eyeline.kernels import launch, threads
from eyeline.readouts import Rows
from eyeline.scores import stacked

ROWS = ("lse", "entropy", "mean_distance", "offset_mass", "group_mass", "sink")
WHOLE = ("received", "pooled", "weights")
HALVES = (np.float16, ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Question:
    """A call with all that it may be told, and all that it may be asked."""

    case: Case
    scores: list
    read: list
    dropout: dict

    @property
    def told(self) -> dict:
        return {"mask": self.case.mask, "scale": self.case.scale, "scores": self.scores, **self.dropout}

    def look(self, **changed) -> el.Observation:
        c = self.case
        return el.observe(c.q, c.k, c.v, **{**self.told, "read": self.read, **changed})


@st.composite
def questions(draw, magnitudes=(0.1, 0.5, 1.0)) -> Question:
    case = draw(cases(magnitudes=magnitudes))
    cheap = np.prod(case.problem.shape) < 5_000
    mask = draw(st.one_of(st.just(case.mask), masks(case.problem, functions=bool(cheap))))
    case = Case(case.q, case.k, case.v, mask, case.scale)
    dropout = draw(st.sampled_from(({}, {}, {"dropout": 0.1, "seed": 1}, {"dropout": 0.9, "seed": 2**63})))
    return Question(
        case, draw(score_stacks(case.problem, functions=bool(cheap))), draw(readouts(case.problem)), dropout
    )


def timed(readout: el.TopK, weights: np.ndarray) -> np.ndarray:
    """The weights, (..., N, M), times the factors of a readout."""
    if readout.times is None:
        return weights
    return (weights * np.float64(readout.times)[..., None, :]).reshape(weights.shape)


def check(question: Question, seen: el.Observation) -> None:
    case = question.case
    with np.errstate(over="ignore"):
        want = reference.observe(case.q, case.k, case.v, **question.told, read=question.read)
        whole = reference.steps(case.q, case.k, case.v, **question.told)
    scores = whole.masked[np.isfinite(whole.masked)]
    products = np.abs(whole.q).max(initial=0) * np.abs(whole.k).max(initial=0) * whole.q.shape[-1] * abs(whole.scale)
    # Rounding of the scores moves weights in proportion to them; functions steepen them, up to fourfold here.
    ulps = np.finfo(seen.lse.dtype).eps * (16 + 8 * (np.abs(scores).max(initial=0) + products) + case.k.shape[-2])
    reach = max(sum(case.sizes), 1)
    sizes = {"output": np.abs(whole.v).max(initial=0) * 10, "lse": 10, "entropy": 10}
    sizes |= {"mean_distance": reach, "received": 3 * reach, "group_mass": 3}  # with factors up to 3
    if any(getattr(one, "times", None) is not None for one in question.read):
        ulps *= 3
    assert {one.name for one in question.read} <= {"top_k", *ROWS, *WHOLE}  # none is left out below
    for name in ("output", *ROWS, *WHOLE):
        got, exact = getattr(seen, name, None), getattr(want, name, None)
        assert (got is None) == (exact is None), name
        if got is None:
            continue
        assert got.shape == exact.shape, name
        hidden = np.isneginf(exact)
        np.testing.assert_array_equal(np.isneginf(got), hidden, err_msg=name)
        error = np.abs(got[~hidden] - exact[~hidden]).max(initial=0)
        assert error <= ulps * sizes.get(name, 1), name
    if el.TopK in want:
        keys, found = seen.top_k.keys, seen.top_k.weights
        np.testing.assert_array_equal(keys < 0, want.top_k.keys < 0)
        np.testing.assert_allclose(found, want.top_k.weights, atol=ulps, rtol=0)
        products = timed(next(one for one in question.read if isinstance(one, el.TopK)), whole.weights)
        there = np.take_along_axis(products, np.maximum(keys, 0), axis=-1) if whole.weights.size else found
        np.testing.assert_allclose(np.where(keys < 0, 0, there), found, atol=ulps, rtol=0)
        assert (np.diff(found, axis=-1) <= 0).all()
        ordered = np.sort(keys, axis=-1)
        assert ((np.diff(ordered, axis=-1) > 0) | (ordered[..., 1:] < 0)).all()


def arrays_of(seen: el.Observation) -> list[np.ndarray]:
    """All arrays of an observation: the keys of `TopK`, too, and the queries that a mean is over."""
    sink = [] if seen.sink is None else [seen.sink]
    return [seen.output, seen.lse, *sink, *(array for found in seen.results for array in found.arrays)]


def plainly(question: Question) -> el.Observation:
    """As anyone would write it, in the type of the arrays: the scores, the softmax and each readout's definition."""
    case, dtype = question.case, question.case.q.dtype
    exact = reference.steps(case.q, case.k, case.v, **{**question.told, "dropout": 0.0})
    k, v = case.k, case.v
    if k.ndim > 2 and k.shape[-3]:
        k, v = (np.repeat(x, case.q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    # What modifiers and the mask make of scores, of those that are rounded.
    rounded = ((case.q @ np.swapaxes(k, -1, -2)) * dtype.type(exact.scale)).astype(np.float64)
    shape, _ = reference.formula.place(exact.q, exact.k, None)
    whole = rounded.reshape(shape.shape)
    for modifier in stacked(question.scores):
        whole = modifier.apply(whole, shape)
    scores = np.where(exact.visible, whole.reshape(rounded.shape), -np.inf).astype(dtype)
    sink = None if exact.sink is None else np.log(exact.sink) + exact.lse
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    top = top if sink is None else np.maximum(top, sink[..., None].astype(dtype))
    top = np.where(top == -np.inf, 0, top).astype(dtype)
    exponentials = np.exp(scores - top)
    total = exponentials.sum(axis=-1, keepdims=True)
    total = total if sink is None else total + np.exp(sink[..., None].astype(dtype) - top)
    w = exponentials / np.where(total == 0, dtype.type(1), total)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[..., 0]
    rows = Rows(w.reshape(shape.shape), exact.visible.reshape(shape.shape), 0, shape)
    lead = w.shape[:-2]
    return el.Observation(
        output=w @ v,
        lse=lse,
        sink=None if sink is None else np.exp(sink.astype(dtype) - lse),
        read=tuple(question.read),
        results=tuple(one.read(rows).map(lambda x: x.reshape(*lead, *x.shape[2:])) for one in question.read),
    )


def no_worse_than_plain(question: Question, seen: el.Observation) -> None:
    """Fails unless its errors are at most twice those of the plain formula in the same type, or a few units' rounding.

    The plain formula may be lucky: two units for each of the sum of |q·k|, which is what the scores' own rounding does
    to a weight, and some for adding up so many weights.
    """
    case = question.case
    want = reference.observe(case.q, case.k, case.v, **{**question.told, "dropout": 0.0}, read=question.read)
    exact = reference.steps(case.q, case.k, case.v, **{**question.told, "dropout": 0.0})
    extent = (np.abs(exact.q).max(initial=0) * np.abs(exact.k).max(initial=0)) * exact.q.shape[-1] * abs(exact.scale)
    extent += np.abs(exact.masked[np.isfinite(exact.masked)]).max(initial=0)
    units = np.finfo(seen.lse.dtype).eps * (4 + 2 * extent + case.k.shape[-2] / 8)
    for got, roughly, right in zip(*map(arrays_of, (seen, plainly(question), want)), strict=True):
        if right.dtype != np.float64:  # keys of equal weights may be in another order
            continue
        there = np.isfinite(right)
        size = max(np.abs(right[there]).max(initial=0), 1)
        plain = np.abs(roughly[there] - right[there]).max(initial=0)
        assert np.abs(got[there] - right[there]).max(initial=0) <= 2 * plain + units * size


@given(questions())
def test_equals_the_reference(question):
    check(question, question.look())


@given(questions())
def test_readouts_leave_the_bits_alone(question):
    seen = question.look()
    bare = el.observe(question.case.q, question.case.k, question.case.v, **question.told)
    same_bits(seen.output, bare.output)
    same_bits(seen.lse, bare.lse)
    same_bits(el.attention(question.case.q, question.case.k, question.case.v, **question.told), bare.output)
    for one, among_others in zip(question.read, seen.results, strict=True):
        alone = question.look(read=[one])
        if seen.sink is not None:
            same_bits(alone.sink, seen.sink)
        for got, want in zip(alone.results[0].arrays, among_others.arrays, strict=True):
            same_bits(got, want)


@given(questions())
def test_threads_and_runs_give_the_same_bits(question):
    worth, many = launch.WORTH_A_THREAD, []
    try:
        launch.WORTH_A_THREAD = 0
        for count in (1, 3, 3):
            threads.set_threads(count)
            many.append(question.look())
    finally:
        launch.WORTH_A_THREAD = worth
        threads.set_threads(None)
    for other in many[1:]:
        for got, want in zip(arrays_of(other), arrays_of(many[0]), strict=True):
            same_bits(got, want)


@given(questions(), st.data())
def test_parts_of_the_keys_merge_to_the_whole(question, data):
    case = question.case
    whole = question.look(dropout=0.0)
    cut = data.draw(st.integers(0, case.k.shape[-2]))
    parts = []
    for first, last in ((0, cut), (cut, case.k.shape[-2])):
        shard = el.Shard(first_key=first, keys=case.k.shape[-2])
        k, v = case.k[..., first:last, :], case.v[..., first:last, :]
        told = {**question.told, "dropout": 0.0, "read": question.read}
        parts.append(el.observe(case.q, k, v, **told, shard=shard, lse=whole.lse))
    merged = parts[0].merge(parts[1])
    no_worse_than_plain(question, merged)


@given(questions(), st.data())
def test_parts_of_the_keys_merge_by_their_own_lse(question, data):
    """Without the whole's lse: each part's weights are shares of that part."""
    case, by_row = question.case, (el.TopK, el.Entropy, el.MeanDistance, el.OffsetMass, el.GroupMass, el.Weights)
    question = replace(
        question,
        scores=[one for one in question.scores if not isinstance(one, el.Sinks)],
        read=[one for one in question.read if isinstance(one, by_row)],
        dropout={},
    )
    cut = data.draw(st.integers(0, case.k.shape[-2]))
    parts = []
    for first, last in ((0, cut), (cut, case.k.shape[-2])):
        shard = el.Shard(first_key=first, keys=case.k.shape[-2])
        told = {**question.told, "read": question.read}
        parts.append(el.observe(case.q, case.k[..., first:last, :], case.v[..., first:last, :], **told, shard=shard))
    no_worse_than_plain(question, parts[0].merge(parts[1]))
    no_worse_than_plain(question, parts[1].merge(parts[0]))


@given(questions(), st.data())
def test_parts_of_the_queries_are_the_wholes_rows(question, data):
    case, (N, _) = question.case, question.case.sizes
    read = [one for one in question.read if not isinstance(one, (el.Received, el.Pooled))]
    whole = question.look(read=read)
    cut = data.draw(st.integers(0, N))
    for first, last in ((0, cut), (cut, N)):
        shard = el.Shard(first_query=first, queries=N)
        seen = el.observe(case.q[..., first:last, :], case.k, case.v, **question.told, read=read, shard=shard)
        same_bits(seen.output, np.ascontiguousarray(whole.output[..., first:last, :]))
        same_bits(seen.lse, np.ascontiguousarray(whole.lse[..., first:last]))
        if whole.sink is not None:
            same_bits(seen.sink, np.ascontiguousarray(whole.sink[..., first:last]))
        for readout, got, want in zip(read, seen.results, whole.results, strict=True):
            if isinstance(readout, el.Weights):  # of its rows, those of these queries
                rows = readout.rows(N)
                inside = (rows >= first) & (rows < last)
                same_bits(got.arrays[0], np.ascontiguousarray(want.arrays[0][..., inside, :]))
                continue
            for x, y, result in zip(got.arrays, want.arrays, readout.results(got.shape), strict=True):
                some = (..., slice(first, last), *[slice(None)] * (len(result.axes) - 1))
                same_bits(x, np.ascontiguousarray(y[some]))


@given(questions(), st.sampled_from(HALVES))
def test_halves_are_computed_in_float32(question, half):
    case = question.case
    q, k, v = (np.array(x, half) for x in (case.q, case.k, case.v))
    seen = el.observe(q, k, v, **question.told, read=question.read)
    wide = [x.astype(np.float32) for x in (q, k, v)]
    want = el.observe(*wide, **question.told, read=question.read)
    assert seen.output.dtype == half
    same_bits(seen.output.view(np.uint16), want.output.astype(half).view(np.uint16))
    for got, wide_one in zip(arrays_of(seen)[1:], arrays_of(want)[1:], strict=True):
        same_bits(got, wide_one)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x[..., ::-1], lambda x: np.ascontiguousarray(x.T).T])
def test_halves_of_any_strides(half, layout):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, n, 19)).astype(half) for n in (40, 300, 300))
    got = el.attention(layout(q), layout(k), layout(v), mask=el.Window(20, align="end"))
    want = el.attention(*(np.array(layout(x), order="C") for x in (q, k, v)), mask=el.Window(20, align="end"))
    same_bits(got.view(np.uint16), want.view(np.uint16))
    assert np.isfinite(got.astype(np.float32)).all()


def test_rows_of_bfloat16_keep_their_bits_alone_in_a_batch_padded_and_in_chunks():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((3, 2, 200, 16)).astype(ml_dtypes.bfloat16) for _ in range(3))
    whole = el.attention(q, k, v, mask=el.Causal()).view(np.uint16)
    for b in range(3):
        same_bits(
            el.attention(q[b : b + 1], k[b : b + 1], v[b : b + 1], mask=el.Causal()).view(np.uint16), whole[b : b + 1]
        )
    padded = el.attention(q, k, v, mask=el.Causal() & el.Padding([200, 130, 7])).view(np.uint16)
    same_bits(padded[1, :, :130], whole[1, :, :130])
    for first, last in ((0, 5), (5, 133), (133, 134), (134, 200)):
        chunk = el.attention(q[:, :, first:last], k[:, :, :last], v[:, :, :last], mask=el.Causal("end")).view(np.uint16)
        same_bits(chunk, np.ascontiguousarray(whole[:, :, first:last]))


def test_a_row_that_may_look_at_nothing():
    x = np.random.default_rng(0).standard_normal((1, 2, 5, 4)).astype(np.float32)
    read = [
        el.TopK(2),
        el.Entropy(),
        el.Received("mean"),
        el.MeanDistance(),
        el.OffsetMass([-5, 5]),
        el.GroupMass([0] * 5),
        el.Pooled(5, 1),
        el.Weights(),
    ]
    mask = el.Causal() & ~el.Window(0)
    seen = el.observe(x, x, x, mask=mask, read=read)
    assert (seen.output[:, :, 0] == 0).all()
    assert np.isneginf(seen.lse[:, :, 0]).all()
    assert (seen.top_k.keys[:, :, 0] == -1).all()
    assert (seen.top_k.weights[:, :, 0] == 0).all()
    for got in (seen.entropy, seen.mean_distance, seen.offset_mass, seen.group_mass, seen.pooled, seen.weights):
        assert (got[:, :, 0] == 0).all()
    np.testing.assert_allclose(seen.received.sum(axis=-1), 1, rtol=1e-6)  # a mean over the four that look
    sunk = el.observe(x, x, x, mask=mask, scores=el.Sinks([0.5, -2.0]), read=read)
    np.testing.assert_allclose(sunk.lse[0, :, 0], [0.5, -2.0], rtol=1e-6)
    np.testing.assert_allclose(sunk.sink[0, :, 0], 1, rtol=1e-6)
    np.testing.assert_allclose(sunk.weights.sum(axis=-1) + sunk.sink, 1, rtol=1e-6)


def test_what_is_not_a_number_is_received_as_such():
    x = np.random.default_rng(0).standard_normal((1, 1, 70, 4)).astype(np.float32)
    q = x.copy()
    q[0, 0, 3] = np.nan
    seen = el.observe(q, x, x, mask=el.Causal(), read=[el.Received(), el.Pooled(7, 7)])
    assert np.isnan(seen.received[0, 0, :4]).all()
    assert np.isfinite(seen.received[0, 0, 4:]).all()
    assert np.isnan(seen.pooled[0, 0, 0, 0])
    assert np.isfinite(seen.pooled[0, 0, 1:]).all()
