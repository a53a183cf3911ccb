"""Under stress: many callers, forks, stops, a million tokens, numbers at the ends of their range, memory."""

from __future__ import annotations

import math
import signal
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from comparing import same_bits

import eyeline as el
from eyeline import reference
from eyeline.kernels import launch, pool, region, run, run_backward, threads
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.masks import AttentionShape

READ = [
    el.TopK(8),
    el.Entropy(),
    el.Received("mean"),
    el.MeanDistance(),
    el.OffsetMass([-500, -9, 0, 1, 9, 500]),
    el.Pooled(64, 64),
    el.Weights(slice(0, 4)),
]


def tensors(rng, *shape, dtype=np.float32):
    return [torch.from_numpy(rng.standard_normal(shape).astype(dtype)).requires_grad_() for _ in range(3)]


def test_callers_of_every_kind_at_once(two_threads):
    """Attention, readouts and training, each from a thread of its own, over and over: each as if it were alone."""

    def plain(seed):
        q, k, v = (np.random.default_rng(seed).standard_normal((3, n, 24)).astype(np.float32) for n in (70, 300, 300))
        return [el.attention(q, k, v, mask=el.Causal("end"))]

    def read(seed):
        x = np.random.default_rng(seed).standard_normal((2, 150, 8))
        seen = el.observe(x, x, x, read=READ, scores=[el.Alibi(), el.Softcap(3.0)])
        return [seen.output, seen.entropy, seen.received, seen.pooled, seen.top_k.keys, seen.weights]

    def train(seed):
        q, k, v = tensors(np.random.default_rng(seed), 1, 4, 140, 16)
        seen = el.observe(q, k, v, mask=el.Window(40), read=el.Entropy(), dropout=0.2, seed=seed)
        (seen.output.square().sum() + seen.entropy.sum()).backward()
        return [x.grad.numpy() for x in (q, k, v)]

    kinds = (plain, read, train)
    alone = {(kind, seed): kind(seed) for kind in kinds for seed in range(4)}
    with ThreadPoolExecutor(6) as pool:
        running = [(key, pool.submit(key[0], key[1])) for key in alone for _ in range(5)]
        for key, future in running:
            for got, want in zip(future.result(), alone[key], strict=True):
                same_bits(got, want)


class Attended(torch.utils.data.Dataset):
    """What a worker of a DataLoader computes after its parent has computed."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, at: int) -> torch.Tensor:
        q = torch.from_numpy(np.random.default_rng(at).standard_normal((2, 60, 8)).astype(np.float32))
        q.requires_grad_()
        el.attention(q, q, q, mask=el.Causal()).sum().backward()
        return q.grad


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_a_forked_worker_of_a_data_loader(two_threads):
    want = [Attended()[at] for at in range(6)]
    loader = torch.utils.data.DataLoader(Attended(), num_workers=2, multiprocessing_context="fork", timeout=60)
    for got, one in zip(loader, want, strict=True):
        same_bits(got[0].numpy(), one.numpy())


def test_ctrl_c_in_the_backward_pass_leaves_the_pool_usable(two_threads, monkeypatch):
    q, k, v = tensors(np.random.default_rng(0), 1, 6, 700, 8)
    gradient = torch.ones(1, 6, 700, 8)
    want = torch.autograd.grad(el.attention(q, k, v), (q, k, v), gradient)
    code, rounds = region.code(), []

    def interrupted(*arguments):
        rounds.append(code.lead(*arguments))
        signal.raise_signal(signal.SIGINT)
        return rounds[-1]

    output = el.attention(q, k, v)
    monkeypatch.setenv("EYELINE_TEAM", "pool")
    with monkeypatch.context() as patch:
        patch.setattr(pool, "code", lambda: code._replace(lead=interrupted))
        patch.setattr(launch, "BETWEEN_LOOKS", 1)
        with pytest.raises(KeyboardInterrupt):
            torch.autograd.grad(output, (q, k, v), gradient)
    assert len(rounds) == 1
    assert rounds[0]  # tasks were left
    again = torch.autograd.grad(el.attention(q, k, v), (q, k, v), gradient)
    for got, one in zip(again, want, strict=True):
        same_bits(got.numpy(), one.numpy())


def test_one_query_and_a_million_keys():
    M, rng = 1_000_003, np.random.default_rng(0)
    q = rng.standard_normal((1, 1, 1, 8)).astype(np.float32)
    k, v = (rng.standard_normal((1, 1, M, 8)).astype(np.float32) for _ in range(2))
    seen = el.observe(q, k, v, mask=el.Causal("end"), read=[el.TopK(3), el.Entropy(), el.GroupMass(np.arange(M) % 2)])
    scores = (k[0, 0].astype(np.float64) @ q[0, 0, 0].astype(np.float64)) / math.sqrt(8)
    w = np.exp(scores - scores.max())
    total = w.sum()
    w /= total
    np.testing.assert_allclose(seen.output[0, 0, 0], w @ v[0, 0], atol=1e-6)
    np.testing.assert_allclose(seen.lse[0, 0, 0], scores.max() + np.log(total), rtol=1e-6)
    np.testing.assert_allclose(seen.entropy[0, 0, 0], -(w * np.log(w)).sum(), rtol=1e-5)
    np.testing.assert_allclose(seen.group_mass[0, 0, 0], [w[::2].sum(), w[1::2].sum()], rtol=1e-5)
    np.testing.assert_array_equal(np.sort(seen.top_k.keys[0, 0, 0]), np.sort(np.argsort(-w)[:3]))
    same_bits(seen.output, el.attention(q, k, v))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", ["least", "subnormal", "large", "too large for a score"])
def test_numbers_at_the_ends_of_their_range(dtype, part):
    limits, rng = np.finfo(dtype), np.random.default_rng(0)
    size = {
        "least": float(limits.smallest_subnormal),
        "subnormal": float(limits.tiny) / 8,
        "large": float(limits.max) ** 0.5 / 100,
        # Weights are divided by their sum last: values have room for as many as there are keys.
        "too large for a score": float(limits.max) / 200,
    }[part]
    q, k, v = (rng.uniform(-1, 1, (2, n, 9)) for n in (40, 150, 150))
    if part == "too large for a score":
        # Values may be as large as they like; scores may not.
        v *= size
    elif part == "large":
        q, k = q * size / 1e3, k * size / 1e3
    else:
        q, v = q * size, v * size
    arrays = [x.astype(dtype) for x in (q, k, v)]
    seen = el.observe(*arrays, read=READ[:3])
    want = reference.observe(*arrays, read=READ[:3])
    assert np.isfinite(seen.output).all()
    loose = 4 * float(limits.smallest_subnormal) + 1e-4 * np.abs(want.output).max()
    np.testing.assert_allclose(seen.output, want.output, rtol=1e-4, atol=loose)
    np.testing.assert_allclose(seen.entropy, want.entropy, atol=1e-4)
    np.testing.assert_allclose(seen.received, want.received, atol=1e-5)


def grown(call) -> float:
    """Megabytes that a call holds at most, beyond what it returns, by the account of all that NumPy allocates."""
    call()
    vars(threads._own).clear()  # this thread's scratch is counted too
    tracemalloc.start()
    try:
        result = call()
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del result
    return (peak - now) / 2**20


def test_all_readouts_of_32k_tokens_take_little_memory():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 8, 32768, 4)).astype(np.float32) for _ in range(3))
    threads.set_threads(1)
    try:
        groups = el.GroupMass(np.arange(32768) % 5)
        megabytes = grown(lambda: el.observe(q, k, v, mask=el.Window(300), read=[*READ, groups]))
    finally:
        threads.set_threads(None)
    assert megabytes < 64


def test_the_backward_pass_takes_memory_that_grows_with_n():
    def megabytes(n: int) -> float:
        x = np.ones((1, 2, n, 4), np.float32)
        setting = AttentionSpec(0.5, el.Window(100).lower(AttentionShape((1,), 2, n, n)))
        done = run.forward(x, x, x, setting)
        given = (done.output, done.maxima, done.sums, done.output)
        return grown(lambda: run_backward.backward(x, x, x, setting, *given))

    threads.set_threads(1)
    try:
        assert megabytes(16384) < 2.5 * megabytes(8192) + 1
    finally:
        threads.set_threads(None)
