"""What kernels promise beside the formula: bits whatever the threads' state, finite means, hidden and visible NaN."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import types
from contextlib import nullcontext
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from comparing import same_at_any_vector_width, same_bits

import eyeline as el
from eyeline.kernels import launch, threads


@pytest.fixture
def always_threads():
    """Threads at every call, however small."""
    with patch.object(launch, "WORTH_A_THREAD", -1):
        yield
    threads.set_threads(None)


def draw(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


# Bits.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_flushing_denormals_changes_no_bit_with_any_number_of_threads(always_threads, dtype):
    """A thread's own setting isn't its helpers': kernels compute in one state, and leave as they found it."""
    torch = pytest.importorskip("torch")
    q, k = draw(2, 8, 256, 16, dtype=dtype), draw(2, 8, 256, 16, seed=1, dtype=dtype)
    v = (draw(2, 8, 256, 16, seed=2, dtype=dtype) * np.finfo(dtype).tiny / 8).astype(dtype)
    threads.set_threads(1)
    want = el.attention(q, k, v)
    assert (want != 0).mean() > 0.9
    tensors = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    gradients = torch.autograd.grad(el.attention(*tensors).sum(), tensors)
    try:
        if not torch.set_flush_denormal(True):
            pytest.skip("this processor can't flush denormals")
        for count in (1, 2, 3, 3):
            threads.set_threads(count)
            same_bits(el.attention(q, k, v), want)
            found = torch.autograd.grad(el.attention(*tensors).sum(), tensors)
            # Flushed or not is the test's own matter where it compares: bits.
            assert all(
                torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(found, gradients, strict=True)
            )
        assert float(torch.tensor([1e-310], dtype=torch.float64) * 1) == 0, "the caller's setting is still there"
    finally:
        torch.set_flush_denormal(False)


def test_top_k_has_the_same_bits_with_any_number_of_threads(always_threads):
    q, k = draw(2, 3, 300, 8), draw(2, 3, 300, 8, seed=1)
    k[:, :, 1::2] = k[:, :, ::2]  # ties
    found = []
    for count in (1, 2, 3, 3):
        threads.set_threads(count)
        found.append(el.observe(q, k, k, mask=el.Causal(), read=el.TopK(5)).top_k)
    for other in found[1:]:
        same_bits(other.keys, found[0].keys)
        same_bits(other.weights, found[0].weights)


READ_OF_ROWS = """
import hashlib
import numpy as np
import eyeline as el
rng = np.random.default_rng(0)
found = hashlib.sha256()
for dtype in (np.float32, np.float64):
    q, k = (rng.standard_normal((2, 2, n, 8)).astype(dtype) for n in (77, 300))
    offsets = el.OffsetMass([-300, -100, -33, -8, -3, -1, 0, 1, 2, 4, 16, 31, 64, 200], "end")
    read = [offsets, el.Entropy(), el.MeanDistance("end"), el.GroupMass(np.arange(300) % 3), el.TopK(3)]
    seen = el.observe(q, k, k, mask=el.Window(150, 40, "end"), read=read)
    times = rng.random((2, 300))
    timed = [el.GroupMass(np.arange(300) % 3, times=times), el.TopK(9, times=times)]
    timed = el.observe(q, k, k, mask=el.Window(150, 40, "end"), read=timed)
    for result in seen.results + timed.results:
        for array in result.arrays:
            found.update(np.ascontiguousarray(array))
print(found.hexdigest())
"""


def test_what_is_read_of_rows_has_the_same_bits_at_any_vector_width():
    same_at_any_vector_width(READ_OF_ROWS)


def test_left_padding_by_whole_blocks_of_keys_changes_no_bit():
    """Keys are taken in blocks of 128 at fixed positions: what moves a row's keys within these moves its rounding."""
    q, k, v = (draw(1, 2, 200, 16, seed=seed) for seed in range(3))
    alone = el.attention(q, k, v, mask=el.Causal())

    def padded(before):
        moved = [np.concatenate([np.full((1, 2, before, 16), np.nan, np.float32), x], axis=2) for x in (q, k, v)]
        real = np.arange(200 + before) >= before
        mask = el.Causal() & el.Dense(np.broadcast_to(real, (200 + before,) * 2))
        return el.attention(*moved, mask=mask)[:, :, before:]

    same_bits(padded(128), alone)
    same_bits(padded(256), alone)
    np.testing.assert_allclose(padded(37), alone, rtol=0, atol=2e-6)


# Numbers at the edge.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("queries", [1, 40])
def test_a_mean_is_finite_though_the_sum_isnt(dtype, queries):
    most = np.finfo(dtype).max
    q, k, v = np.zeros((1, queries, 8), dtype), draw(1, 300, 8, dtype=dtype), np.full((1, 300, 3), most, dtype)
    v[..., 1] = draw(1, 300, dtype=dtype)
    v[..., 2] = most / 2
    seen = el.observe(q, k, v)
    np.testing.assert_allclose(seen.output[..., 0], most * dtype(1 - 1e-6), rtol=2e-6)
    np.testing.assert_allclose(seen.output[..., 2], most / 2, rtol=1e-6)
    # What didn't overflow keeps its bits.
    same_bits(seen.output[..., 1], el.attention(q, k, v[..., 1:2])[..., 0])


def test_a_mean_of_bfloat16_is_finite_though_the_sum_isnt():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    most = ml_dtypes.finfo(ml_dtypes.bfloat16).max
    q, k = np.zeros((1, 40, 8), ml_dtypes.bfloat16), draw(1, 300, 8).astype(ml_dtypes.bfloat16)
    v = np.full((1, 300, 2), most)
    v[..., 1] = draw(1, 300).astype(ml_dtypes.bfloat16)
    found = el.attention(q, k, v)
    np.testing.assert_allclose(found[..., 0].astype(np.float64), float(most), rtol=1e-2)
    assert (found[..., 1] == el.attention(q, k, v[..., 1:])[..., 0]).all()


def test_rows_beside_one_whose_sum_overflows_keep_their_bits():
    q, k, v = draw(1, 40, 8), draw(1, 300, 8, seed=1), draw(1, 300, 4, seed=2)
    v[:, 200:] = np.finfo(np.float32).max
    mask = el.Dense(np.where(np.arange(40)[:, None] == 7, True, np.arange(300) < 200))
    found, alone = el.attention(q, k, v, mask=mask), el.attention(q, k[:, :200], v[:, :200])
    assert np.isfinite(found).all()
    same_bits(np.delete(found, 7, axis=1), np.delete(alone, 7, axis=1))


@pytest.mark.parametrize("queries", [1, 40])
def test_a_visible_nan_reaches_the_result_however_small_its_weight(queries):
    """And a hidden one never does."""
    q, k, v = np.full((1, queries, 1), 400, np.float32), np.zeros((1, 300, 1), np.float32), draw(1, 300, 2)
    k[:, 5] = -1  # whose weight is e^-400, and 0 in float32
    v[:, 5, 0] = np.nan
    found = el.attention(q, k, v)
    assert np.isnan(found[..., 0]).all()
    assert np.isfinite(found[..., 1]).all()
    hidden = el.attention(q, k, v, mask=el.Dense(np.broadcast_to(np.arange(300) != 5, (queries, 300))))
    assert np.isfinite(hidden).all()


@pytest.mark.parametrize(
    "scores", [el.Alibi([1.0], align="end"), el.RelativeBias(-400.0 * np.arange(32.0)[:, None], align="end")]
)
def test_weights_relative_to_a_very_low_lse_are_numbers(scores):
    """The lanes beyond a panel's last query have scores of their own, which may be far above the given lse."""
    q, k = np.zeros((1, 2, 2), np.float32), np.zeros((1, 400, 2), np.float32)
    told = {"mask": el.Dense(np.broadcast_to(np.arange(400) < 100, (2, 400))), "scores": scores}
    read = [el.Received(), el.Pooled(2, 4), el.Received("max")]
    for one in read:
        own = el.observe(q, k, k, read=one, **told)
        again = el.observe(q, k, k, read=one, lse=own.lse, **told)
        name = "pooled" if isinstance(one, el.Pooled) else "received"
        assert np.isfinite(getattr(again, name)).all()
        np.testing.assert_allclose(getattr(again, name), getattr(own, name), atol=1e-4)


# A user's functions are what they would return now.

SCORES = """
import math
def rule(b, h, i, j):
    return abs(i - j) <= REACH
def nested(b, h, i, j):
    near = lambda: abs(i - j) <= REACH
    return near()
def attribute(b, h, i, j):
    return abs(i - j) <= cfg.REACH
def bent(s, b, h, i, j):
    return s * REACH
"""


@pytest.mark.parametrize("name", ["rule", "nested", "attribute", "bent"])
def test_a_fresh_function_reads_what_is_there_now(name):
    q, k, v = draw(1, 12, 4), draw(1, 12, 4, seed=1), draw(1, 12, 4, seed=2)
    cfg = types.ModuleType("cfg")
    space: dict = {"cfg": cfg}
    for reach in (1, 5, 1, 3):
        cfg.REACH = space["REACH"] = reach
        exec(SCORES, space)
        if name == "bent":
            found, want = el.attention(q, k, v, scores=space[name]), el.attention(q, k, v, scale=reach / 2)
        else:
            near = np.abs(np.subtract.outer(np.arange(12), np.arange(12))) <= reach
            found = el.attention(q, k, v, mask=el.MaskFunction(space[name]))
            want = el.attention(q, k, v, mask=el.Dense(near))
        np.testing.assert_allclose(found, want, atol=1e-6)


class Rule:
    def __call__(self, b, h, i, j):
        return i >= j

    def method(self, b, h, i, j):
        return i >= j


def shifted(by, b, h, i, j):
    return i >= j + by


@pytest.mark.parametrize(
    ("rule", "works"),
    [(partial(shifted, 0), False), (Rule(), False), (Rule().method, False), (np.less, False), (len, False)],
)
def test_a_rule_works_or_is_refused_by_its_name(rule, works):
    x = draw(1, 5, 4)
    refused = pytest.raises((TypeError, ValueError), match="function must")
    with nullcontext() if works else refused:
        found = el.attention(x, x, x, mask=el.MaskFunction(rule))
        np.testing.assert_allclose(found, el.attention(x, x, x, mask=el.Causal()), atol=1e-6)


# Threads.


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_another_thread_loads_a_kernel_computes():
    code = """
import os, signal, threading, time
import numpy as np
import eyeline as el
from eyeline.kernels import kernel_cache
inside, link = threading.Event(), kernel_cache._link
def slow(code):
    inside.set()
    time.sleep(0.5)
    return link(code)
kernel_cache._link = slow
x = np.random.default_rng(0).standard_normal((2, 40, 8)).astype(np.float32)
loading = threading.Thread(target=lambda: el.attention(x, x, x))
loading.start()
inside.wait()
child = os.fork()
if not child:
    signal.alarm(30)
    kernel_cache._link = link
    el.attention(x, x, x)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
loading.join()
"""
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], check=True, timeout=120)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_another_thread_compiles_a_users_function_computes():
    code = """
import os, signal, threading, time
import numpy as np
import eyeline as el
from numba.core.compiler_lock import global_compiler_lock
inside = threading.Event()
def slow():
    with global_compiler_lock:
        inside.set()
        time.sleep(0.5)
compiling = threading.Thread(target=slow)
x = np.random.default_rng(0).standard_normal((2, 40, 8)).astype(np.float32)
el.attention(x, x, x)
compiling.start()
inside.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    el.attention(x, x, x, mask=el.Causal() | el.MaskFunction(lambda b, h, i, j: i + j < 9))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
compiling.join()
"""
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], check=True, timeout=180)


def test_a_wrong_number_of_threads_is_noticed_in_the_smallest_call(monkeypatch):
    monkeypatch.setenv("EYELINE_THREADS", "abc")
    x = draw(1, 2, 2)
    with pytest.raises(ValueError, match="EYELINE_THREADS must be a whole number of threads, 1 or more, got 'abc'"):
        el.attention(x, x, x)


def test_log_weights_of_a_lone_key_are_exact():
    """Its weight is 1: the entropy is 0, and not -0 or rounding."""
    x = draw(1, 3, 4)
    found = el.observe(x, x[:, :1], x[:, :1], read=el.Entropy()).entropy
    assert (found == 0).all()
    assert not np.signbit(found).any()
    assert math.copysign(1, found.flat[0]) == 1
