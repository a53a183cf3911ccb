"""Decoding gives the usual pass's bits: any shape, mask, layout, vector width and number of threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from comparing import same_bits
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import MAGNITUDES, WIDTHS, laid_out, masks

import eyeline as el
from eyeline import scores
from eyeline.kernels import launch, machine, run, run_decode, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.forms import address_of, form_of, memory_of
from eyeline.kernels.run import Pass
from eyeline.masks import AttentionShape, LoweredMask

#: Decodes many shapes in a process of its own, with other vectors; prints a digest of all the bits.
DIGEST = """
import sys
sys.path.insert(0, {folder!r})
from test_decode import digest
print(digest())
"""


@pytest.fixture(scope="module", autouse=True)
def for_little_work():
    """Decoding even where little is to be done, and by all threads."""
    with patch.object(run_decode, "FEWEST_KEYS", 1), patch.object(launch, "WORTH_A_THREAD", -1):
        yield


def usual(q, k, v, setting: AttentionSpec) -> Pass:
    """The pass that is not decoding."""
    with patch.object(run_decode, "eligible", lambda *_: False):
        return run.forward(q, k, v, setting)


def decoded(q, k, v, setting: AttentionSpec) -> Pass | None:
    """The pass that is."""
    assert eligible(q, k, v, setting)
    output = np.ones((*q.shape[:3], v.shape[3]), q.dtype)
    maxima, sums = (np.full(q.shape[:3], np.nan, run.computed(q.dtype)) for _ in range(2))
    plan = run_decode.DecodePlan((*map(form_of, (q, k, v, output)),), setting)
    pairs = plan.run(memory_of(q, k, v, maxima, sums), address_of(output))
    return None if pairs is None else Pass(output, maxima, sums, pairs)


def eligible(q, k, v, setting: AttentionSpec) -> bool:
    return run_decode.eligible((*map(form_of, (q, k, v)),), setting)


def same(got: Pass | None, want: Pass) -> None:
    assert got is not None
    for name in ("output", "maxima", "sums"):
        same_bits(getattr(got, name), getattr(want, name))


def arrays(seed, q, k, v, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in (q, k, v)]


def digest() -> str:
    found = hashlib.sha256()
    for dtype in (np.float32, np.float64):
        for seed, (N, M, D, E) in enumerate([(1, 300, 5, 3), (3, 1000, 64, 64), (8, 129, 33, 70)]):
            q, k, v = arrays(seed, (2, 6, N, D), (2, 2, M, D), (2, 2, M, E), dtype)
            done = decoded(q, k, v, AttentionSpec(0.3))
            for array in (done.output, done.maxima, done.sums):
                found.update(array.tobytes())
    return found.hexdigest()


@st.composite
def calls(draw):
    """Few queries, in every type, head ratio, layout of tokens and mask of intervals."""
    B, G = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    H, N = G * draw(st.sampled_from((1, 1, 2, 3, 4, 9))), draw(st.integers(1, 8))
    M = draw(st.sampled_from((1, 2, 15, 16, 17, 63, 127, 128, 129, 255, 257, 300, 513, 1000)))
    D, E = draw(st.sampled_from((*WIDTHS, 128))), draw(st.sampled_from((*WIDTHS, 96)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from((np.float32, np.float64)))

    def array(heads, tokens, width):
        x = (rng.standard_normal((B, heads, tokens, width)) * draw(st.sampled_from(MAGNITUDES))).astype(dtype)
        layout = draw(st.sampled_from(("contiguous", "sliced", "by token", "backwards", "broadcast", "read-only")))
        if layout == "by token":
            return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)
        return x[:, ::-1, ::-1] if layout == "backwards" else laid_out(x, layout)

    problem = AttentionShape((B,), H, N, M)
    mask = draw(masks(problem)) if draw(st.sampled_from((True, True, False))) else None
    lowered = None if mask is None else mask.lower(problem)
    assume(lowered is None or (lowered.allowed is None and not lowered.functions))
    q = array(H, N, D)
    if draw(st.booleans()):
        q = laid_out(q, "all at once")
    scale = draw(st.sampled_from((1.0, 0.3, -0.5, 0.0)))
    return q, array(G, M, D), array(G, M, E), AttentionSpec(scale, lowered)


@given(calls(), st.sampled_from((1, 2, 3, 7)))
def test_decoding_has_the_usual_bits(call, count):
    try:
        threads.set_threads(count)
        assume(eligible(*call))
        want, got = usual(*call), decoded(*call)
        if np.isfinite(want.output).all():
            same(got, want)
        else:
            assert got is None
    finally:
        threads.set_threads(None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_one_key_head_is_shared_by_all_threads(dtype, count):
    """By parts of its keys, then of its value columns; 100 of them leave some over."""
    q, k, v = arrays(0, (1, 5, 2, 40), (1, 1, 1500, 40), (1, 1, 1500, 100), dtype)
    bounds = np.array([[3, 700], [900, 1490]], np.int32).reshape(1, 1, 1, 2, 2)
    try:
        threads.set_threads(count)
        for mask in (None, LoweredMask(bounds)):
            setting = AttentionSpec(0.2, mask)
            same(decoded(q, k, v, setting), usual(q, k, v, setting))
    finally:
        threads.set_threads(None)


@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("M", [100, 1000])
def test_halves_are_widened(stored, count, M):
    """Alone, and in parts of value columns; 40 of them leave some over."""
    call = arrays(8, (1, 6, 3, 33), (1, 1, M, 33), (1, 1, M, 40))
    if stored == "float16":
        q, k, v = (x.astype(np.float16) for x in call)
    else:
        q, k, v = ((x.view(np.uint32) >> 16).astype(np.uint16) for x in call)
    setting = AttentionSpec(0.3, LoweredMask(np.array([5, M - 2], np.int32).reshape(1, 1, 1, 1, 2)))
    try:
        threads.set_threads(count)
        same(decoded(q, k, v, setting), usual(q, k, v, setting))
    finally:
        threads.set_threads(None)


@pytest.mark.parametrize("count", [1, 2])
def test_sinks_take_their_weight(count):
    q, k, v = arrays(1, (2, 6, 3, 16), (2, 3, 200, 16), (2, 3, 200, 24))
    sinks = np.array([-np.inf, -3, 0, 1, 9, 40], np.float32)
    hides_all = LoweredMask(np.full((1, 1, 1, 1, 2), 200, np.int32))
    try:
        threads.set_threads(count)
        for mask in (None, hides_all):
            setting = AttentionSpec(0.25, mask, scores.LoweredScores(sinks=sinks))
            same(decoded(q, k, v, setting), usual(q, k, v, setting))
    finally:
        threads.set_threads(None)


def test_a_mask_costs_only_what_it_leaves():
    q, k, v = arrays(2, (1, 4, 1, 32), (1, 2, 4096, 32), (1, 2, 4096, 32))
    window = LoweredMask(np.array([4000, 4096], np.int32).reshape(1, 1, 1, 1, 2))
    done = decoded(q, k, v, AttentionSpec(1.0, window))
    assert done is not None
    assert done.pairs == usual(q, k, v, AttentionSpec(1.0, window)).pairs == 4 * 96


@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["k", "v"])
@pytest.mark.parametrize("key", [10, 150])
def test_what_isnt_finite_is_left_to_the_usual_pass(what, which, key):
    """One key is hidden from some query, the other from none; either way the bits are those of the usual pass."""
    q, k, v = arrays(3, (1, 4, 3, 16), (1, 2, 200, 16), (1, 2, 200, 16))
    (k if which == "k" else v)[0, 1, key] = what
    bounds = np.array([[100, 200], [0, 200], [20, 200]], np.int32).reshape(1, 1, 3, 1, 2)
    setting = AttentionSpec(0.25, LoweredMask(bounds))
    done, want = run.forward(q, k, v, setting), usual(q, k, v, setting)
    same(done, want)
    assert np.isfinite(want.output[0, :2]).all()


def test_what_no_query_sees_isnt_read():
    q, k, v = arrays(4, (1, 2, 2, 16), (1, 1, 500, 16), (1, 1, 500, 16))
    setting = AttentionSpec(0.25, LoweredMask(np.array([130, 390], np.int32).reshape(1, 1, 1, 1, 2)))
    want = usual(q, k, v, setting)
    for x in (k, v):
        x[:, :, :128], x[:, :, 390:] = np.nan, np.nan
    same(decoded(q, k, v, setting), want)


def test_keys_gigabytes_apart():
    """Offsets that no 32 bits hold."""
    held = np.zeros(2**31 + 2**12, np.uint8).view(np.float32)
    far = np.lib.stride_tricks.as_strided(held, (1, 1, 2, 8), (0, 0, 2**31, 4))
    far[...] = np.arange(16).reshape(1, 1, 2, 8)
    q = np.ones((1, 1, 1, 8), np.float32)
    same(decoded(q, far, far, AttentionSpec(0.1)), usual(q, far.copy(), far.copy(), AttentionSpec(0.1)))


def test_a_million_keys():
    q, k, v = arrays(5, (1, 2, 1, 4), (1, 1, 1_000_003, 4), (1, 1, 1_000_003, 4))
    same(decoded(q, k, v, AttentionSpec(0.5)), usual(q, k, v, AttentionSpec(0.5)))


def test_what_decoding_leaves_to_the_usual_pass():
    q, k, v = arrays(6, (1, 2, 2, 8), (1, 1, 300, 8), (1, 1, 300, 8))
    here = AttentionSpec(0.5)
    assert eligible(q, k, v, here)
    dense = el.Dense(np.random.default_rng(0).random((2, 300)) < 0.5).lower(AttentionShape((1,), 2, 2, 300))
    capped = scores.LoweredScores((scores.Capped(3.0),))
    for setting in (
        replace(here, mask=dense),
        replace(here, scores=capped),
        replace(here, dropout=0.5),
        replace(here, first_key=5, keys=305),
        replace(here, keys=400),
    ):
        assert not eligible(q, k, v, setting)
    many = np.zeros((1, 2, 64, 8), np.float32)
    assert not eligible(many, k, v, here)
    strided = np.zeros((1, 1, 300, 16), np.float32)[..., ::2]
    assert not eligible(q, strided, v, here)
    assert not eligible(q, k, strided, here)
    for x, y, z in (
        (q[:, :, :0], k, v),
        (q, k[:, :, :0], v[:, :, :0]),
        (q, k, v[..., :0]),
        (q[..., :0], k[..., :0], v),
    ):
        assert not eligible(x, y, z, here)


def test_prefill_then_decoding_token_by_token():
    """Every row of a causal prefill, one at a time from a growing cache."""
    q, k, v = arrays(7, (1, 4, 140, 16), (1, 2, 140, 16), (1, 2, 140, 16))
    whole = el.attention(q, k, v, mask=el.Causal())
    for i in range(0, 140, 9):
        row = slice(i, i + 1)
        same_bits(el.attention(q[:, :, row], k[:, :, : i + 1], v[:, :, : i + 1]), whole[:, :, row])
    for i in range(0, 136, 5):
        chunk = slice(i, i + 5)
        seen = slice(0, i + 5)
        got = el.attention(q[:, :, chunk], k[:, :, seen], v[:, :, seen], mask=el.Causal("end"))
        same_bits(got, whole[:, :, chunk])


@pytest.mark.skipif(machine.target().bits == 128, reason="there are no narrower vectors")
def test_any_vector_width_gives_the_same_bits():
    here = machine.target().bits
    code = DIGEST.format(folder=os.path.dirname(__file__))
    others = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "EYELINE_VECTOR_BITS": str(bits)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for bits in (128, 256, 512)
        if bits < here
    ]
    want = digest()
    for process in others:
        out, _ = process.communicate(timeout=240)
        assert out.strip() == want
