"""Plans of calls: a kept plan gives the bits of a new one, serves no other kind of call, and never anything stale."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from comparing import same_bits, same_sight
from hypothesis import given
from strategies import cases

import eyeline as el
from eyeline.attention import plans
from eyeline.attention.call import Call
from eyeline.kernels import run, run_decode, threads
from eyeline.masks import Frozen, Padding


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]


@pytest.fixture
def made(monkeypatch):
    """The forms of q of all forward passes that were planned."""
    found = []

    class Noted(run.ForwardPlan):
        def __init__(self, forms, *others):
            found.append(forms[0].shape)
            super().__init__(forms, *others)

    monkeypatch.setattr(plans, "ForwardPlan", Noted)
    return found


@given(cases())
def test_a_kept_plan_gives_the_bits_of_a_new_one(case):
    plans.forget()
    first, second = case.look(el.Entropy()), case.look(el.Entropy())
    same_sight(first, second)
    again = case.look()
    same_bits(again.output, first.output)


def test_calls_of_a_kind_share_a_plan_and_others_dont(made):
    q, k, v = arrays((2, 4, 20, 16), (2, 2, 30, 16), (2, 2, 30, 8))
    mask = el.Causal(align="end")

    def call(q=q, k=k, v=v, **options):
        el.attention(q, k, v, **{"mask": mask, **options})

    call()
    call(*arrays(q.shape, k.shape, v.shape, seed=1))
    call(mask=el.Causal(align="end"))
    assert len(made) == 1
    others = [
        {"mask": None},
        {"mask": el.Causal(align="start")},
        {"scale": 0.5},
        {"scores": el.Softcap(3.0)},
        {"q": q[:, :, ::-1]},
        {"q": q.astype(np.float64), "k": k.astype(np.float64), "v": v.astype(np.float64)},
        {"k": k[:, :1], "v": v[:, :1]},
        {"v": v[..., :4]},
        {"k": k[:, :, :-1], "v": v[:, :, :-1]},
    ]
    for number, other in enumerate(others, 2):
        call(**other)
        call(**other)
        assert len(made) == number, other
    before = threads.get_threads()
    try:
        threads.set_threads(before + 1)
        call()
        assert len(made) == len(others) + 2
    finally:
        threads.set_threads(None)


def test_tensors_of_a_kind_share_a_plan(made):
    q, k, v = map(torch.from_numpy, arrays((1, 2, 5, 8), (1, 2, 7, 8), (1, 2, 7, 8)))
    want = el.attention(q, k, v)
    assert torch.equal(el.attention(q, k, v), want)
    assert len(made) == 1
    view = q.transpose(1, 2).contiguous().transpose(1, 2)
    assert torch.equal(el.attention(view, k, v), want)
    assert torch.equal(el.attention(q.requires_grad_(), k, v).detach(), want)


def test_negated_views_go_the_long_way():
    x = torch.randn(1, 2, 9, 4, dtype=torch.complex64)
    q = x.conj().imag  # a view that says "negated" of memory that isn't
    assert q.is_neg()
    want = el.attention(*[q.clone().resolve_neg()] * 3)
    for _ in range(2):
        assert torch.equal(el.attention(q, q, q), want)
    # Another view with these strides mustn't get the plan of the copy.
    p = x.imag
    assert p.stride() == q.stride()
    for _ in range(2):
        assert torch.equal(el.attention(p, p, p), el.attention(*[p.clone()] * 3))


@pytest.mark.parametrize("queries", [1, 3])
def test_decoding_keeps_one_plan_for_any_number_of_keys(made, queries):
    _, keys, values = arrays((1,), (2, 2, 400, 16), (2, 2, 400, 16))
    mask = el.Window(before=70, after=0, align="end")
    for M in range(100, 400, 13):
        (q,) = arrays((2, 4, queries, 16), seed=M)
        k, v = keys[:, :, :M], values[:, :, :M]
        got = [el.attention(q, k, v, mask=mask), el.attention(q, k.copy(), v.copy(), mask=mask)]
        for one in got:
            same_bits(one, Call(q, k, v, mask=mask, shard=el.Shard()).output())
    # One of `attention`; one for each number of keys of `Call` beside it, whose shard makes it another kind.
    assert len(made) == 1 + len(range(100, 400, 13))


def test_a_row_that_isnt_finite_with_a_plan_for_other_keys():
    q, k, v = arrays((1, 2, 1, 8), (1, 2, 300, 8), (1, 2, 300, 8))
    el.attention(q, k, v)
    v[0, 0, 17] = np.inf
    for M in (300, 200, 100):
        got = el.attention(q, k[:, :, :M], v[:, :, :M])
        plans.forget()
        same_bits(got, el.attention(q, k[:, :, :M], v[:, :, :M]))
        assert not np.isfinite(got[0, 0]).all()


def test_arrays_that_change_in_place_are_read_anew():
    q, k, v, bias, sinks = arrays((1, 2, 6, 8), (1, 2, 6, 8), (1, 2, 6, 8), (2, 6, 6), (2,))
    allowed = np.tril(np.ones((6, 6), bool))
    labels = np.arange(6) % 2
    calls = [
        lambda: el.attention(q, k, v, mask=el.Dense(allowed)),
        lambda: el.attention(q, k, v, scores=el.Bias(bias)),
        lambda: el.attention(q, k, v, scores=(el.Bias(bias), el.Sinks(sinks))),
        lambda: el.attention(q, k, v, mask=el.Documents(labels)),
    ]
    masks = el.Dense(allowed), el.Dense(allowed) & el.Causal()
    calls += [lambda mask=mask: el.attention(q, k, v, mask=mask) for mask in masks]
    calls += [lambda: el.observe(q, k, v, mask=el.Dense(allowed), read=el.Entropy()).entropy]
    before = [(call(), call()) for call in calls]
    allowed[3, 1] = False
    bias[:] = -bias
    sinks += 2
    labels[2] = 1
    for call, (first, second) in zip(calls, before, strict=True):
        same_bits(first, second)
        now = call()
        assert not np.array_equal(now, first)
        plans.forget()
        same_bits(call(), now)


def test_a_function_that_reads_another_value_is_called_anew():
    q, k, v = arrays((1, 1, 6, 8), (1, 1, 6, 8), (1, 1, 6, 8))
    reach = 1

    def near(b, h, i, j):
        return abs(i - j) <= reach

    mask = el.MaskFunction(near)
    first = el.attention(q, k, v, mask=mask)
    same_bits(el.attention(q, k, v, mask=el.Window(1)), first)
    reach = 3
    same_bits(el.attention(q, k, v, mask=mask), el.attention(q, k, v, mask=el.Window(3)))


def test_a_kept_plan_lets_no_wrong_call_through():
    x = torch.randn(1, 1, 70, 8).bfloat16()
    el.attention(x, x, x)
    bits = x.view(torch.uint16).numpy()
    with pytest.raises(ValueError, match="q must be float16, bfloat16"):
        el.attention(bits, bits, bits)
    for N in (3, 70):
        q, k, v = arrays((1, 1, N, 8), (1, 1, 70, 8), (1, 1, 70, 8))
        el.attention(q, k, v)
        with pytest.raises(ValueError, match="v must have k's heads and tokens"):
            el.attention(q, k, v[:, :, :-1])
        with pytest.raises(ValueError, match="k must be of q's type"):
            el.attention(q, k.astype(np.float64), v)
        with pytest.raises(TypeError, match="masked"):
            el.attention(np.ma.array(q), k, v)
        with pytest.raises(ValueError, match="seed must be"):
            el.attention(q, k, v, dropout=0.5)


def test_plans_are_few_small_and_hold_no_arrays():
    q, k, v = arrays((1, 1, 5, 8), (1, 1, 9, 8), (1, 1, 9, 8))
    gone = weakref.ref(q)
    el.attention(q, k, v)
    assert len(plans._kept) == 1
    del q
    gc.collect()
    assert gone() is None
    for scale in np.linspace(0.1, 1, 2 * plans._MOST):
        el.attention(k, k, v, scale=float(scale))
    assert len(plans._kept) == plans._MOST
    plans.forget()
    long = np.zeros((plans._LARGEST // 8 + 1, 1), np.float32)
    el.attention(long, long[:3], long[:3], mask=el.Window(1, align="start"))  # bounds of 8 bytes a query
    assert not plans._kept


def test_the_plans_of_a_frozen_mask_go_with_it(made):
    q, k, v = arrays((2, 1, 40, 8), (2, 1, 40, 8), (2, 1, 40, 8))
    mask = Frozen(Padding([40, 7]))
    got = [el.attention(q, k, v, mask=mask) for _ in range(3)]
    assert len(made) == 1
    assert not plans._kept
    same_bits(got[2], el.attention(q, k, v, mask=Padding([40, 7])))
    assert len(made) == 2


def test_many_threads_share_one_plan():
    shapes = (1, 3, 33, 8), (1, 3, 70, 8), (1, 3, 70, 8)
    calls = [arrays(*shapes, seed=seed) for seed in range(16)]
    want = [el.attention(*call) for call in calls]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            for got, expected in zip(pool.map(lambda call: el.attention(*call), calls), want, strict=True):
                same_bits(got, expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("queries", [1, 5, 50])
def test_outputs_with_tokens_first_have_the_same_bits(dtype, queries):
    q, k, v = (x.astype(dtype) for x in arrays((2, 4, queries, 16), (2, 2, 90, 16), (2, 2, 90, 20)))
    v[0, 0, 3, 5] = np.inf
    want = el.attention(q, k, v)
    got = Call(q, k, v, tokens_first=True).output()
    assert got.transpose(0, 2, 1, 3).flags.c_contiguous
    same_bits(got, want)
    tensors = [torch.from_numpy(x) for x in (q, k, v)]
    for _ in range(2):
        from_torch = el.torch.attention(*tensors, tokens_first=True)
        assert from_torch.transpose(1, 2).is_contiguous()
        same_bits(from_torch.numpy(), want)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("queries", [1, 30])
def test_small_calls_and_others_have_the_same_bits(dtype, queries, monkeypatch):
    q, k, v = (x.astype(dtype) for x in arrays((2, 4, queries, 16), (2, 2, 90, 16), (2, 2, 90, 20)))
    masks = None, el.Causal(align="end"), el.Padding(queries=[queries, 1], keys=[90, 7])
    small = [el.attention(q, k, v, mask=mask) for mask in masks for _ in range(2)]
    plans.forget()
    for module in (run, run_decode):
        monkeypatch.setattr(module, "MOST_WORK", -1)
    for number, mask in enumerate(masks):
        want = el.attention(q, k, v, mask=mask)
        want = el.attention(q, k, v, mask=mask)
        same_bits(small[2 * number], want)
        same_bits(small[2 * number + 1], want)
