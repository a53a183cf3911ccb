"""The backward kernel: the textbook's gradients at every shape, type, mask and layout; bits; what is hidden."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from comparing import same_bits
from gradients import Call, four_axes, textbook
from hypothesis import given
from hypothesis import strategies as st
from strategies import LAYOUTS, Case, cases, laid_out, spoiled

import eyeline as el
from eyeline.kernels import launch, pool, region, run, run_backward, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.primitive_gradients import PrimitiveGradients
from eyeline.kernels.run_backward import Gradients

NAMES = ("dq", "dk", "dv", "delta")
#: Largest numbers of each array in a case; products of scores beyond this are all rounding in float32.
MODEST = (1e-4, 1e-2, 1.0, 1.0, 4.0)

#: Calls in a process of its own; prints a digest of all the gradients' bits.
DIGEST = """
import hashlib
import numpy as np
import eyeline as el
from gradients import Call
from strategies import Case
digest = hashlib.sha256()
rng = np.random.default_rng(0)
for N, M, D, E in [(1, 300, 5, 3), (37, 37, 64, 64), (130, 257, 33, 70)]:
    q, k, v, d_output = (
        rng.standard_normal((2, h, n, w)).astype(np.float32) for h, n, w in ((4, N, D), (2, M, D), (2, M, E), (4, N, E))
    )
    for mask in (None, el.Causal("end"), el.Window(9, align="start") | el.Dense(rng.random((N, M)) < 0.5)):
        got = Call.of(Case(q, k, v, mask, None)).differentiate(d_output)
        for name in ("dq", "dk", "dv", "delta"):
            digest.update(getattr(got, name).tobytes())
print(digest.hexdigest())
"""
#: How many of an ARM processor's vector multiply-adds are in the code made for it here.
ARM = """
import re
from eyeline.kernels.compiled.compile import to_assembly
from eyeline.kernels.machine import TILES, Target
arm = Target("neoverse-n1", "", "aarch64-unknown-linux-gnu", 128, *TILES[128])
assembly = to_assembly("backward", "float32", arm)
print(len(re.findall(r"\\bfmla\\s+v\\d+\\.4s, v\\d+\\.4s, v\\d+\\.", assembly)))
"""


def run_alone(code: str, **surroundings: str) -> str:
    paths = os.pathsep.join(filter(None, [os.path.dirname(__file__), *sys.path]))
    environment = {**os.environ, "PYTHONPATH": paths, **surroundings}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=240
    ).stdout


def same_gradients(got: Gradients, want: Gradients) -> None:
    for name in NAMES:
        same_bits(getattr(got, name), getattr(want, name))


def draw(seed: int, *shapes: tuple[int, ...], dtype: type = np.float32) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


@st.composite
def calls(draw, **choices) -> tuple[Case, np.ndarray]:
    """A call, and a gradient of its output, (B, H, N, E)."""
    case = draw(cases(**choices))
    shape = (*four_axes(case.q).shape[:3], case.v.shape[-1])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d_output = rng.standard_normal(shape).astype(case.q.dtype) * case.q.dtype.type(draw(st.sampled_from(MODEST)))
    return case, laid_out(d_output, draw(st.sampled_from(LAYOUTS)))


def check(call: Call, d_output: np.ndarray, got: Gradients) -> None:
    """The gradients are the textbook's, but for rounding: three times what NumPy's own is in that type, and some ulp of
    the sums of absolute terms, which grow with the scores' own rounding."""
    dtype = call.q.dtype.type
    want, bound = textbook(call, d_output)
    plain, _ = textbook(call, d_output, dtype)
    extent = float((np.abs(call.q).sum(3).max(initial=0)) * np.abs(call.k).max(initial=0)) * abs(call.setting.scale)
    ulps = np.finfo(dtype).eps * (8 + 2 * extent + max(call.allowed.shape[2:]) / 8)
    for name, exact, roughly, most in zip(NAMES, want, plain, bound, strict=True):
        found = getattr(got, name)
        assert found.dtype == dtype, name
        assert found.shape == exact.shape, name
        assert found.flags.c_contiguous, name
        error = np.abs(found - exact).max(initial=0)
        assert error <= 3 * np.abs(roughly - exact).max(initial=0) + ulps * most.max(initial=0), name


@given(calls(magnitudes=MODEST))
def test_equals_the_textbook(drawn):
    case, d_output = drawn
    call = Call.of(case)
    check(call, d_output, call.differentiate(d_output))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("widths", [(512, 128), (20, 600), (129, 1), (1, 65)])
def test_wide_heads_and_many_blocks(widths, dtype):
    D, E = widths
    q, k, v, d_output = draw(0, (2, 4, 290, D), (2, 2, 700, D), (2, 2, 700, E), (2, 4, 290, E), dtype=dtype)
    for mask in (None, el.Causal("end"), el.Window(9, align="end") | el.Padding(keys=[200])):
        call = Call.of(Case(q, k, v, mask, None))
        check(call, d_output, call.differentiate(d_output))


def test_the_error_is_no_larger_than_torchs():
    import torch

    q, k, v, d_output = draw(1, *[(1, 4, 512, 64)] * 4)
    call = Call.of(Case(q, k, v, None, None))
    got, (want, _) = call.differentiate(d_output), textbook(call, d_output)
    tensors = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    torch.nn.functional.scaled_dot_product_attention(*tensors).backward(torch.from_numpy(d_output))
    for name, tensor, exact in zip(NAMES, tensors, want, strict=False):
        errors = [np.sqrt(np.mean((x - exact) ** 2)) for x in (getattr(got, name), tensor.grad.numpy())]
        assert errors[0] <= 1.1 * errors[1], name


@given(calls(), st.sampled_from((1, 2, 3)), st.sampled_from((128, 256)))
def test_neither_threads_nor_stripes_nor_runs_change_a_bit(drawn, count, stripe):
    case, d_output = drawn
    call = Call.of(case)
    with np.errstate(invalid="ignore"):
        want = call.differentiate(d_output)
        try:
            threads.set_threads(count)
            with patch.object(launch, "WORTH_A_THREAD", -1), patch.object(run_backward, "_MOST_KEYS", stripe):
                same_gradients(call.differentiate(d_output), want)
        finally:
            threads.set_threads(None)


def test_thirty_runs_give_the_same_bits():
    q, k, v, d_output = draw(2, (1, 2, 700, 16), (1, 1, 900, 16), (1, 1, 900, 8), (1, 2, 700, 8))
    call = Call.of(Case(q, k, v, el.Causal("end"), None))
    want = call.differentiate(d_output)
    try:
        threads.set_threads(4)
        with patch.object(run_backward, "_MOST_KEYS", 128):
            for _ in range(30):
                same_gradients(call.differentiate(d_output), want)
    finally:
        threads.set_threads(None)


@given(calls(layouts=("contiguous",)), st.tuples(*[st.sampled_from(LAYOUTS)] * 4))
def test_layout_in_memory_changes_nothing(drawn, layouts):
    case, d_output = drawn
    q, k, v, d_output = (laid_out(x, how) for x, how in zip((case.q, case.k, case.v, d_output), layouts, strict=True))
    other = replace(case, q=q, k=k, v=v)
    want = Call.of(other.contiguous()).differentiate(np.ascontiguousarray(d_output))
    same_gradients(Call.of(other).differentiate(d_output), want)


@pytest.mark.parametrize("padding", [0.0, np.nan, np.inf])
def test_a_sequence_alone_and_padded_in_a_batch_are_equal_to_the_bit(padding):
    lengths = [1, 37, 128, 129, 300, 0]
    q, k, v, d_output = draw(3, (6, 4, 300, 16), (6, 2, 300, 16), (6, 2, 300, 9), (6, 4, 300, 9))
    for b, n in enumerate(lengths):
        for x in (q, k, v, d_output):
            x[b, :, n:] = padding
    for more in (None, el.Causal(), el.Window(9, 30) | el.Window(0)):
        padded = el.Padding(lengths) if more is None else el.Padding(lengths) & more
        batch = Call.of(Case(q, k, v, padded, None)).differentiate(d_output)
        for b, n in enumerate(lengths):
            case = Case(q[b : b + 1, :, :n], k[b : b + 1, :, :n], v[b : b + 1, :, :n], more, None)
            alone = Call.of(case).differentiate(d_output[b : b + 1, :, :n])
            for name in NAMES:
                same_bits(getattr(alone, name)[0], getattr(batch, name)[b, :, :n])
                assert (getattr(batch, name)[b, :, n:] == 0).all()


@given(calls(), st.sampled_from((np.nan, np.inf, -np.inf)))
def test_what_no_query_sees_and_what_queries_that_see_nothing_hold_reach_no_gradient(drawn, what):
    case, d_output = drawn
    bad, spoiled_gradient = spoiled(case, what), np.array(d_output)
    call = Call.of(case)
    spoiled_gradient[~call.allowed.any(axis=3)] = what
    clean = np.where(call.allowed.any(axis=3)[..., None], d_output, 0)
    same_gradients(Call.of(bad).differentiate(spoiled_gradient), call.differentiate(clean))


@pytest.mark.parametrize("what", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["q", "k", "v", "d_output"])
def test_what_some_queries_see_spoils_these_alone(where, what):
    """A query that meets it, or is it, is as good as NaN; the others, and the keys that they alone see, are as if those
    queries saw nothing."""
    q, k, v, d_output = draw(4, (1, 2, 300, 8), (1, 1, 310, 8), (1, 1, 310, 9), (1, 2, 300, 9))
    {"q": q, "k": k, "v": v, "d_output": d_output}[where][0, 0, 131, 2] = what
    for mask in (el.Window(40, 3, align="start"), el.Dense(np.random.default_rng(5).random((2, 300, 310)) < 0.02)):
        case = Case(q, k, v, mask, None)
        call = Call.of(case)
        met = np.zeros((1, 2, 300), bool)
        if where in ("q", "d_output"):
            met[0, 0, 131] = True
        else:
            met[0] = call.allowed[0, :, :, 131]
        assert met.any()
        without = Call.of(Case(q, k, v, el.Dense(call.allowed & ~met[..., None]), None))
        with np.errstate(invalid="ignore"):
            got, want = call.differentiate(d_output), without.differentiate(d_output)
        same_bits(got.dq[~met], want.dq[~met])
        touched = (call.allowed & met[..., None]).any(axis=(1, 2))
        for name in ("dk", "dv"):
            same_bits(getattr(got, name)[:, 0][~touched], getattr(want, name)[:, 0][~touched])
        assert np.isnan(got.dq[met]).any()


def test_changing_one_document_of_a_pack_leaves_the_others_gradients():
    document = np.repeat([0, 1, 2, 3], [100, 157, 300, 43])
    q, k, v, d_output = draw(6, *[(1, 2, 600, 16)] * 4)
    mask = el.Dense(document[:, None] == document) & el.Causal()
    before = Call.of(Case(q, k, v, mask, None)).differentiate(d_output)
    for x in (q, k, v, d_output):
        x[:, :, document == 2] *= -3
    after = Call.of(Case(q, k, v, mask, None)).differentiate(d_output)
    for name in NAMES:
        same_bits(getattr(after, name)[:, :, document != 2], getattr(before, name)[:, :, document != 2])


def test_rows_that_may_look_at_nothing_have_zero_gradients():
    q, k, v, d_output = draw(7, (2, 3, 70, 8), (2, 3, 90, 8), (2, 3, 90, 5), (2, 3, 70, 5))
    d_output[:] = np.nan
    for mask in (el.Dense(np.zeros((1, 1), bool)), el.Padding([0]), el.Causal("start") & ~el.Causal("start")):
        got = Call.of(Case(q, k, v, mask, None)).differentiate(d_output)
        for name in NAMES:
            assert (getattr(got, name) == 0).all()


def part(case: Case, queries: slice, keys: slice) -> tuple[Case, AttentionSpec]:
    """Some queries and keys of a call, and what the kernels are told of them."""
    whole = Call.of(case).setting
    bounds = np.clip(whole.mask.bounds[:, :, queries], keys.start, keys.stop)
    mask = replace(whole.mask, bounds=np.ascontiguousarray(bounds))
    N, M = case.sizes
    setting = replace(whole, mask=mask, first_query=queries.start, first_key=keys.start, queries=N, keys=M)
    return replace(case, q=case.q[:, :, queries], k=case.k[:, :, keys], v=case.v[:, :, keys]), setting


def test_parts_of_a_larger_attention_have_their_part_of_the_gradients():
    q, k, v, d_output = draw(8, (1, 4, 300, 16), (1, 2, 300, 16), (1, 2, 300, 9), (1, 4, 300, 9))
    case = Case(q, k, v, el.Causal() & el.Window(100, 0), None)
    want = Call.of(case).differentiate(d_output)
    done = run.forward(q, k, v, Call.of(case).setting)
    dq = np.zeros_like(q)
    for first, last in ((0, 128), (128, 201), (201, 300)):
        keys = slice(first, last)
        some, setting = part(case, slice(0, 300), keys)
        got = run_backward.backward(some.q, some.k, some.v, setting, done.output, done.maxima, done.sums, d_output)
        same_bits(got.dk, want.dk[:, :, keys])
        same_bits(got.dv, want.dv[:, :, keys])
        dq += got.dq
    np.testing.assert_allclose(dq, want.dq, atol=1e-5)
    for rows in (slice(0, 50), slice(50, 300)):
        some, setting = part(case, rows, slice(0, 300))
        totals = done.output[:, :, rows], done.maxima[:, :, rows], done.sums[:, :, rows]
        got = run_backward.backward(some.q, some.k, some.v, setting, *totals, d_output[:, :, rows])
        same_bits(got.dq, want.dq[:, :, rows])


def test_a_rule_of_the_users_own():
    q, k, v, d_output = draw(9, (2, 2, 150, 8), (2, 1, 140, 8), (2, 1, 140, 5), (2, 2, 150, 5))
    rule = el.MaskFunction(lambda b, h, i, j: (i + j) % (2 + h + b) != 0)
    want = Call.of(Case(q, k, v, el.Dense(rule.dense(150, 140, heads=2, batch=2)), None)).differentiate(d_output)
    same_gradients(Call.of(Case(q, k, v, rule, None)).differentiate(d_output), want)


def test_ctrl_c_stops_a_run_in_which_threads_take_turns(monkeypatch):
    q, k, v, d_output = draw(10, *[(1, 2, 900, 16)] * 4)
    call = Call.of(Case(q, k, v, None, None))
    want = call.differentiate(d_output)
    code, rounds = region.code(), []

    def interrupted(*arguments):
        rounds.append(code.lead(*arguments))
        if len(rounds) == 3:
            signal.raise_signal(signal.SIGINT)
        return rounds[-1]

    monkeypatch.setenv("EYELINE_TEAM", "pool")
    monkeypatch.setattr(run_backward, "_MOST_KEYS", 128)
    monkeypatch.setattr(launch, "WORTH_A_THREAD", 0)
    threads.set_threads(2)
    try:
        done = run.forward(q, k, v, call.setting)
        arguments = (q, k, v, call.setting, done.output, done.maxima, done.sums, d_output)
        with monkeypatch.context() as patched:
            patched.setattr(launch, "BETWEEN_LOOKS", 1)
            patched.setattr(pool, "code", lambda: code._replace(lead=interrupted))
            with pytest.raises(KeyboardInterrupt):
                run_backward.backward(*arguments)
        same_gradients(run_backward.backward(*arguments), want)
    finally:
        threads.set_threads(None)
    assert len(rounds) == 3
    assert 0 not in rounds  # tasks were left


def test_memory_grows_with_the_tokens_not_with_their_square():
    q, k, v, d_output = draw(11, *[(1, 2, 4096, 16)] * 4)
    call = Call.of(Case(q, k, v, el.Causal(), None))
    done = run.forward(q, k, v, call.setting)
    reads = PrimitiveGradients(d_column_sums=done.maxima, d_row_distances=done.maxima)
    arguments = (q, k, v, call.setting, done.output, done.maxima, done.sums, d_output, reads)
    run_backward.backward(*arguments)
    tracemalloc.start()
    kept = run_backward.backward(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept is not None
    # The matrix of one head is 64 MB; each gradient is half a megabyte.
    assert peak < 3_000_000


def pairs(mask: el.Mask, n: int, batch: int = 1) -> float:
    """The share of all pairs that were computed."""
    q, d_output = draw(12, *[(batch, 1, n, 4)] * 2)
    return Call.of(Case(q, q, q, mask, None)).differentiate(d_output).pairs / (batch * n * n)


def test_work_follows_the_mask():
    assert pairs(el.Window(10**6), 300) == 1
    assert pairs(el.Causal() & el.Window(255, 0), 4096) <= 0.1
    assert pairs(el.Causal(), 2048) <= 0.55
    assert pairs(~el.Window(1023), 2048) <= 0.4
    assert pairs(el.Padding([256] * 4), 512, 4) == 0.25
    assert pairs(el.Padding([256] * 4, side="left"), 512, 4) == 0.25
    assert pairs(el.Padding([0]), 300) == 0


def test_narrower_vectors_give_the_same_bits():
    assert run_alone(DIGEST, EYELINE_VECTOR_BITS="128") == run_alone(DIGEST)


def test_an_arm_processors_code_multiplies_and_adds_at_once():
    assert int(run_alone(ARM)) > 50
