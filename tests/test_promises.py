"""What DESIGN.md promises of a call: a row's bits depend on that row alone; NaN stays where it is; memory; work."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from comparing import same_bits, same_sight
from hypothesis import given
from hypothesis import strategies as st
from strategies import LAYOUTS, Case, cases, laid_out

import eyeline as el
from eyeline.attention import plans
from eyeline.kernels import launch, run, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.masks import AttentionShape
from eyeline.reference import steps


def draws(seed, *shapes, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


@given(cases(), st.data())
def test_rows_alone_have_the_bits_they_have_among_others(case, data):
    """Some queries of one head of one sequence, with keys after the end that no one may look at."""
    whole, allowed = case.look(el.Weights()), case.allowed()
    if not whole.lse.size:
        return
    lead = tuple(data.draw(st.integers(0, n - 1)) for n in case.q.shape[:-3])
    head = (data.draw(st.integers(0, case.q.shape[-3] - 1)),) if case.q.ndim > 2 else ()
    key_head = tuple(h * case.k.shape[-3] // case.q.shape[-3] for h in head)
    N, M = case.sizes
    rows = data.draw(st.lists(st.integers(0, N - 1), min_size=1, max_size=20))
    more = data.draw(st.sampled_from((0, 1, 130)))
    k, v = (np.pad(x[lead + key_head], ((0, more), (0, 0)), constant_values=np.nan) for x in (case.k, case.v))
    mask = el.Dense(np.pad(allowed[lead + head][rows], ((0, 0), (0, more))))
    scale = 1 / np.sqrt(max(case.q.shape[-1], 1)) if case.scale is None else case.scale
    alone = el.observe(case.q[lead + head][rows], k, v, mask=mask, scale=scale, read=[el.Weights(keys=slice(0, M))])
    same_bits(alone.output, whole.output[lead + head][rows])
    same_bits(alone.lse, whole.lse[lead + head][rows])
    same_bits(alone.weights, whole.weights[lead + head][rows])


@given(cases(), st.sampled_from((2, 3, 5)))
def test_any_number_of_threads_gives_the_same_bits(case, count):
    try:
        threads.set_threads(1)
        want = case.look(el.Weights())
        with patch.object(launch, "WORTH_A_THREAD", -1):
            threads.set_threads(count)
            same_sight(case.look(el.Weights()), want)
    finally:
        threads.set_threads(None)


@given(cases())
def test_every_run_gives_the_same_bits_with_and_without_readouts(case):
    want = case.look(el.Weights())
    same_sight(case.look(el.Weights()), want)
    same_bits(case.run(), want.output)
    same_bits(case.look().output, want.output)
    same_bits(case.look(el.Weights(queries=[], keys=slice(0, 0))).output, want.output)


@given(cases(layouts=("contiguous",)), st.tuples(*[st.sampled_from(LAYOUTS)] * 3))
def test_layout_in_memory_changes_nothing(case, layouts):
    other = replace(
        case, **{name: laid_out(getattr(case, name), how) for name, how in zip("qkv", layouts, strict=True)}
    )
    same_sight(other.look(el.Weights()), other.contiguous().look(el.Weights()))


def test_every_order_of_axes_in_memory_gives_the_same_bits():
    from itertools import permutations

    q, k, v = draws(0, (2, 4, 33, 17), (2, 2, 33, 17), (2, 2, 33, 16))
    want = el.attention(q, k, v, mask=el.Causal())
    for order in permutations(range(4)):
        back = np.argsort(order)
        moved = [np.ascontiguousarray(x.transpose(order)).transpose(back) for x in (q, k, v)]
        same_bits(el.attention(*moved, mask=el.Causal()), want)
    # Numbers that begin at odd addresses.
    held = np.zeros((2, 4, 33, 17), np.dtype([("byte", np.int8), ("number", np.float32)]))
    held["number"] = q
    same_bits(el.attention(held["number"], k, v, mask=el.Causal()), want)


@given(cases(layouts=("contiguous",)))
def test_grouped_heads_are_repeated_heads(case):
    if case.q.ndim > 2 and case.k.shape[-3]:
        times = case.q.shape[-3] // case.k.shape[-3]
        repeated = replace(case, k=np.repeat(case.k, times, -3), v=np.repeat(case.v, times, -3))
        same_sight(case.look(el.Weights()), repeated.look(el.Weights()))


@given(cases())
def test_a_mask_that_allows_all_is_no_mask(case):
    want = replace(case, mask=None).look(el.Weights())
    for mask in (el.Dense(np.ones(case.sizes, bool)), el.Dense(np.ones((1, 1), bool)), el.Window(10**9, align="end")):
        same_sight(replace(case, mask=mask).look(el.Weights()), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prefill_in_chunks_and_decoding_equal_one_prefill(dtype):
    q, k, v = draws(1, (2, 6, 300, 24), (2, 3, 300, 24), (2, 3, 300, 10), dtype=dtype)
    for mask, ended in (
        (el.Causal(), el.Causal("end")),
        (el.Causal() & el.Window(77), el.Causal("end") & el.Window(77, align="end")),
    ):
        whole = el.observe(q, k, v, mask=mask)
        for cut in (range(1, 301), [5, 8], [1, 130, 300]):
            first = 0
            for last in cut:
                part = el.observe(q[:, :, first:last], k[:, :, :last], v[:, :, :last], mask=ended)
                same_bits(part.output, whole.output[:, :, first:last])
                same_bits(part.lse, whole.lse[:, :, first:last])
                first = last


def test_chunks_of_five_and_three_equal_one_of_eight():
    q, k, v = draws(2, (2, 8, 4), (2, 8, 4), (2, 8, 4))
    whole = el.attention(q, k, v, mask=el.Causal())
    parts = [el.attention(q[:, a:b], k[:, :b], v[:, :b], mask=el.Causal(align="end")) for a, b in ((0, 5), (5, 8))]
    same_bits(np.concatenate(parts, axis=1), whole)


@pytest.mark.parametrize("padding", [0.0, np.nan, np.inf])
def test_a_sequence_alone_and_padded_in_a_batch_are_equal_to_the_bit(padding):
    lengths = [1, 37, 128, 129, 300, 0]
    q, k, v = draws(3, (6, 4, 300, 16), (6, 2, 300, 16), (6, 2, 300, 9))
    for b, n in enumerate(lengths):
        q[b, :, n:] = k[b, :, n:] = v[b, :, n:] = padding
    for more in (None, el.Causal(), el.Window(9, 30) | el.Window(0)):
        padded = el.Padding(lengths) if more is None else el.Padding(lengths) & more
        batch = el.observe(q, k, v, mask=padded)
        for b, n in enumerate(lengths):
            alone = el.observe(q[b, :, :n], k[b, :, :n], v[b, :, :n], mask=more)
            same_bits(alone.output, batch.output[b, :, :n])
            same_bits(alone.lse, batch.lse[b, :, :n])
            assert (batch.output[b, :, n:] == 0).all()
            assert (batch.lse[b, :, n:] == -np.inf).all()


@pytest.mark.parametrize("where", ["k", "v"])
@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf])
def test_a_nan_that_one_row_sees_stays_in_that_row(where, what):
    q, k, v = draws(4, (40, 8), (200, 8), (200, 12))
    allowed = np.random.default_rng(4).random((40, 200)) < 0.5
    allowed[:, 150], allowed[7, 150] = False, True
    clean = el.observe(q, k, v, mask=el.Dense(allowed), read=[el.Weights()])
    {"k": k, "v": v}[where][150] = what
    seen = el.observe(q, k, v, mask=el.Dense(allowed), read=[el.Weights()])
    others = np.arange(40) != 7
    same_bits(seen.output[others], clean.output[others])
    same_bits(seen.weights[others], clean.weights[others])
    same_bits(seen.lse[others], clean.lse[others])
    with np.errstate(invalid="ignore"):
        want = steps(q, k, v, mask=el.Dense(allowed))
    for got, exact in ((seen.output[7], want.output[7]), (seen.lse[7], want.lse[7])):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
        np.testing.assert_allclose(got, exact, rtol=1e-5)
    # q · k is inf - inf unless a lone number decides.
    assert np.isnan(seen.output[7]).all() if where == "k" else not np.isfinite(seen.output[7]).any()


def test_hidden_weights_are_zero_even_in_a_row_that_is_nan():
    q, k, v = draws(5, (50, 8), (50, 8), (50, 8))
    k[3] = np.nan
    for n in (50, 4):
        seen = el.observe(q[:n], k, v, mask=el.Window(3, align="start"), read=[el.Weights()])
        allowed = el.Window(3, align="start").dense(n, 50)
        spoiled = allowed[:, 3]
        assert (seen.weights[~allowed] == 0).all()
        assert np.isnan(seen.weights[spoiled][allowed[spoiled]]).all()
        assert np.isfinite(seen.weights[~spoiled]).all()
        np.testing.assert_array_equal(np.isnan(seen.lse), spoiled)


def test_rows_that_may_look_at_nothing_are_zero():
    q, k, v = draws(6, (2, 3, 70, 8), (2, 3, 90, 8), (2, 3, 90, 5))
    for mask in (
        el.Dense(np.zeros((1, 1), bool)),
        el.Padding([0]),
        ~el.Window(200, align="end"),
        el.Causal("start") & ~el.Causal("start"),
    ):
        seen = el.observe(q, k, v, mask=mask, read=[el.Weights()])
        same_bits(seen.output, np.zeros((2, 3, 70, 5), np.float32))
        same_bits(seen.weights, np.zeros((2, 3, 70, 90), np.float32))
        same_bits(seen.lse, np.full((2, 3, 70), -np.inf, np.float32))


def test_python_threads_at_once_give_the_same_bits():
    calls = [
        Case(*draws(seed, (2, 150 + seed, 16), (1, 200, 16), (1, 200, 8)), el.Window(30 + seed, align="end"), None)
        for seed in range(12)
    ]
    want = [case.look(el.Weights()) for case in calls]
    threads.set_threads(2)
    try:
        plans.forget()
        with patch.object(launch, "WORTH_A_THREAD", 0), ThreadPoolExecutor(4) as pool:
            for _ in range(3):
                for got, expected in zip(pool.map(lambda case: case.look(el.Weights()), calls), want, strict=True):
                    same_sight(got, expected)
    finally:
        threads.set_threads(None)


@pytest.mark.parametrize("mask", [None, el.Causal(), el.Causal() & ~el.Window(50) | el.Window(2), el.Padding([3000])])
def test_memory_grows_with_the_tokens_not_with_their_square(mask):
    q, k, v = draws(7, *[(1, 2, 4096, 16)] * 3)
    calls = (
        lambda: el.attention(q, k, v, mask=mask),
        lambda: el.observe(q, k, v, mask=mask, read=[el.Weights(queries=[5, 4000])]),
    )
    for call in calls:
        call()
        tracemalloc.start()
        kept = call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert kept is not None
        # The matrix of one head is 64 MB, its booleans are 16; the output is half a megabyte.
        assert peak < 3_000_000


def pairs(problem, mask, width=4):
    (B,), H, N, M = problem.lead, problem.heads, problem.queries, problem.keys
    q, k, v = draws(8, (B, H, N, width), (B, H, M, width), (B, H, M, width))
    done = run.forward(q, k, v, AttentionSpec(0.5, None if mask is None else mask.lower(problem)))
    return done.pairs / (B * H * N * M)


def test_work_follows_the_mask():
    assert pairs(AttentionShape((2,), 3, 100, 77), None) == 1
    assert pairs(AttentionShape((1,), 1, 8192, 8192), el.Causal() & el.Window(255, 0)) <= 0.1
    assert pairs(AttentionShape((1,), 1, 8192, 8192), el.Window(128)) <= 0.1
    assert pairs(AttentionShape((1,), 1, 2048, 2048), el.Causal()) <= 0.55
    assert pairs(AttentionShape((1,), 1, 2048, 2048), ~el.Causal()) <= 0.55
    # Two intervals per query: a gap that all have costs nothing.
    assert pairs(AttentionShape((1,), 1, 2048, 2048), el.Window(64) | el.Padding(keys=[16])) <= 0.15
    assert pairs(AttentionShape((1,), 1, 2048, 2048), ~el.Window(1023)) <= 0.4


def test_padding_costs_nothing():
    problem = AttentionShape((4,), 2, 512, 512)
    half = [256] * 4
    assert pairs(problem, el.Padding(keys=half)) == 0.5
    assert pairs(problem, el.Padding(queries=half)) == 0.5
    assert pairs(problem, el.Padding(half)) == 0.25
    assert pairs(problem, el.Padding(half, side="left")) == 0.25
    assert pairs(problem, el.Padding([512, 0, 512, 0])) == 0.5
    assert pairs(problem, el.Padding([0])) == 0
    assert pairs(problem, el.Dense(np.zeros((512, 1), bool))) == 0
    assert pairs(problem, el.Causal() & ~el.Causal()) == 0
