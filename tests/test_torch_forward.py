"""The two calls on tensors: PyTorch's own operations give the formula's numbers, and the kernels those of arrays."""

from __future__ import annotations

import re
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from comparing import same_bits
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import masks, problems, readouts, score_stacks
from tensors import MASKS, READOUTS, inputs

import eyeline as el
import eyeline.torch as et
from eyeline import reference


def numbers_of(observation: el.Observation) -> dict[str, np.ndarray]:
    """All that was observed, as arrays."""
    found = {"output": observation.output, "lse": observation.lse}
    found |= {} if observation.sink is None else {"sink": observation.sink}
    for readout, result in zip(observation.read, observation.results, strict=True):
        found |= {f"{readout.name} {number}": array for number, array in enumerate(result.arrays)}
    return {name: x.detach().numpy() if isinstance(x, torch.Tensor) else np.asarray(x) for name, x in found.items()}


@st.composite
def calls(draw):
    """Arrays in float64 and what may be asked of them."""
    problem = draw(problems(most=33))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    G = draw(st.sampled_from([g for g in range(1, problem.heads + 1) if problem.heads % g == 0] or [0]))
    D, E = draw(st.sampled_from((1, 3, 8))), draw(st.sampled_from((1, 2, 5)))
    sizes = ((problem.heads, problem.queries, D), (G, problem.keys, D), (G, problem.keys, E))
    arrays = [rng.standard_normal((*problem.lead, *size)) for size in sizes]
    asked = {
        "mask": draw(st.none() | masks(problem, functions=False)),
        "scores": draw(score_stacks(problem, functions=False)),
        "read": draw(readouts(problem)),
    }
    if draw(st.booleans()):
        asked |= {"dropout": draw(st.sampled_from((0.1, 0.5, 0.99))), "seed": draw(st.sampled_from((0, 7, 2**64 - 1)))}
    return arrays, asked


@given(calls())
@settings(max_examples=60)
def test_the_portable_path_is_the_formula(call):
    arrays, asked = call
    with et.portable():
        got = numbers_of(el.observe(*map(torch.from_numpy, arrays), **asked))
    want = numbers_of(reference.observe(*arrays, **asked))
    assert got.keys() == want.keys()
    for name, x in want.items():
        assert got[name].dtype == x.dtype, name
        np.testing.assert_allclose(got[name], x, rtol=1e-9, atol=1e-9, err_msg=name)


@given(calls())
@settings(max_examples=30)
def test_tensors_get_the_bits_of_arrays(call):
    arrays, asked = call
    got = numbers_of(el.observe(*map(torch.from_numpy, arrays), **asked))
    want = numbers_of(el.observe(*arrays, **asked))
    assert got.keys() == want.keys()
    for name, x in want.items():
        if name == "sink":  # an exponential by PyTorch, so that it has a gradient
            np.testing.assert_allclose(got[name], x, rtol=1e-14)
        else:
            same_bits(got[name], x)


@given(calls())
@settings(max_examples=30)
def test_without_gradients_the_output_has_the_same_bits(call):
    """Tensors of which nobody wants gradients go to the kernels at once."""
    arrays, asked = call
    tensors = [torch.from_numpy(x) for x in arrays]
    asked.pop("read")
    want = el.attention(*(x.requires_grad_() for x in tensors), **asked)
    with torch.no_grad():
        got = el.attention(*tensors, **asked)
    assert want.requires_grad
    assert not got.requires_grad
    same_bits(got.numpy(), want.detach().numpy())


def test_tensors_of_other_kinds_still_go_through_the_operator():
    """Within `vmap`, with fake tensors and in traces there is nothing to compute with yet."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    from eyeline.torch.choose import is_plain

    q, k, v = (x.detach() for x in inputs())
    assert is_plain(q, k, v, ())
    assert not is_plain(q.requires_grad_(), k, v, ())
    assert not is_plain(k, k, v, (el.Sinks(torch.zeros(2, requires_grad=True)),))
    mode = FakeTensorMode()
    fake = [mode.from_tensor(x.detach()) for x in (q, k, v)]
    with mode:
        assert not is_plain(*fake, ())
        assert el.attention(*fake).shape == (2, 2, 3, 3)
    seen = []
    torch.func.vmap(lambda x: (seen.append(is_plain(x, x, x, ())), x)[1])(k)
    assert seen == [False]


@given(calls(), st.sampled_from((1, 7, 50, 300)))
@settings(max_examples=40)
def test_many_blocks_are_as_one(call, at_a_time):
    """What is read over all queries adds up over blocks of them, of ties too."""
    arrays, asked = call
    tied = arrays[0].shape[-1] == 1
    if tied:
        arrays = [np.round(x) for x in arrays]  # scores that tie
    q, k, v = map(torch.from_numpy, arrays)
    with et.portable():
        whole = numbers_of(el.observe(q, k, v, **asked))
    with et.portable(at_a_time):
        parts = numbers_of(el.observe(q, k, v, **asked))
    for name, x in whole.items():
        y = parts[name]
        if name == "top_k 0" and not tied:  # rounding decides between keys whose weights differ by that alone
            settled = np.pad(
                np.abs(np.diff(whole["top_k 1"])) > 1e-12, [(0, 0)] * (x.ndim - 1) + [(1, 1)], constant_values=True
            )
            x, y = (np.where(settled[..., :-1] & settled[..., 1:], keys, -1) for keys in (x, y))
        np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_type(dtype):
    q, k, v = (x.detach().to(dtype) for x in inputs())
    want = reference.observe(*(x.double().numpy() for x in (q, k, v)), mask=MASKS["causal"], read=el.Entropy())
    eps = torch.finfo(dtype).eps
    for way in (et.portable(), nullcontext()):
        with way:
            got = el.observe(q, k, v, mask=MASKS["causal"], read=el.Entropy())
        assert got.output.dtype == dtype
        assert got.lse.dtype == got.entropy.dtype == torch.float32
        np.testing.assert_allclose(got.output.double().numpy(), want.output, rtol=4 * eps, atol=4 * eps)
        np.testing.assert_allclose(got.entropy.numpy(), want.entropy, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("what", [float("nan"), float("inf"), -float("inf")])
def test_what_is_hidden_never_reaches_the_result(what):
    q, k, v = (x.detach().clone() for x in inputs())
    mask = el.Padding(queries=[2, 3], keys=[3, 4])
    read = [el.Entropy(), el.Received("max"), el.TopK(2), el.Pooled(2, 2), el.MeanDistance("end")]
    with et.portable():
        clean = numbers_of(el.observe(q, k, v, mask=mask, read=read))
        k[0, :, 3:], v[0, :, 3:], k[1, :, 4:], v[1, :, 4:], q[0, :, 2:] = what, what, what, what, what
        spoiled = numbers_of(el.observe(q, k, v, mask=mask, read=read))
    for name, x in clean.items():
        same_bits(spoiled[name], x)


def test_what_is_seen_reaches_the_result():
    """inf and NaN of a value arrive where they are looked at, and nowhere else."""
    q, k, v = (x.detach().clone() for x in inputs())
    v[:, :, 4, 0], v[:, :, 3, 1], v[:, :, 4, 2], v[:, :, 3, 2] = torch.inf, torch.nan, torch.inf, -torch.inf
    for mask in (el.Causal("end"), el.Causal("start")):
        with et.portable():
            got = el.attention(q, k, v, mask=mask)
        torch.testing.assert_close(got, el.attention(q, k, v, mask=mask), equal_nan=True)


def test_any_layout():
    q, k, v = (x.detach() for x in inputs(torch.float32))
    want = el.attention(q, k, v)
    for change in (
        lambda x: x.mT.contiguous().mT,
        lambda x: x.transpose(0, 2).contiguous().transpose(0, 2),
        lambda x: torch.stack([x, x], dim=-1)[..., 0],
        lambda x: torch.cat([x, x], dim=2)[:, :, : x.shape[2]],
    ):
        assert torch.equal(el.attention(change(q), change(k), change(v)), want)
    assert torch.equal(
        el.attention(q[:1].expand(3, -1, -1, -1), *(x[:1].expand(3, -1, -1, -1) for x in (k, v)))[2], want[0]
    )


def test_two_three_and_five_axes():
    q, k, v = (x.detach() for x in inputs())
    whole = el.attention(q, k, v)
    assert torch.equal(el.attention(q[0], k[0], v[0]), whole[0])
    assert torch.equal(el.attention(q[0, 0], k[0, 0], v[0, 0]), whole[0, 0])
    assert torch.equal(el.attention(*(x.unflatten(0, (2, 1)) for x in (q, k, v))), whole.unflatten(0, (2, 1)))


def test_positions_of_any_kind():
    q, k, v = (x.detach() for x in inputs())
    want = el.observe(q, k, v, read=el.Weights()).weights
    for which in (1, np.int64(1), [1], (1,), np.array([1]), slice(1, 2), -2):
        assert torch.equal(el.observe(q, k, v, read=el.Weights(which)).weights, want[:, :, 1:2])


def test_arrays_that_may_not_be_written_or_lie_backwards():
    q, k, v = (x.detach() for x in inputs())
    allowed = np.tril(np.ones((3, 5), bool), 1)
    bias = np.random.default_rng(0).standard_normal((3, 5))
    want = el.attention(q, k, v, mask=el.Dense(allowed), scores=el.Bias(bias))
    frozen, backwards = (np.array(x) for x in (allowed, bias[::-1, ::-1]))
    frozen.flags.writeable = False
    for way in (nullcontext(), et.portable()):
        with way:
            got = el.attention(q, k, v, mask=el.Dense(frozen), scores=el.Bias(backwards[::-1, ::-1]))
        torch.testing.assert_close(got, want)
    for shape in ((1, 3, 5), (1, 1, 3, 5), (2, 1, 3, 5)):
        for way in (nullcontext(), et.portable()):
            with way:
                got = el.attention(q, k, v, mask=el.Dense(np.broadcast_to(frozen, shape)), scores=el.Bias(bias))
            torch.testing.assert_close(got, want)


def test_inference_mode_and_no_grad():
    q, k, v = inputs()
    want = el.attention(q, k, v)
    assert want.requires_grad
    for mode in (torch.no_grad(), torch.inference_mode()):
        with mode:
            got = el.observe(q, k, v, read=el.Entropy())
        assert not got.output.requires_grad
        assert torch.equal(got.output, want)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": np.zeros((2, 1, 5, 2))}, "k must be a tensor, as the others are, got ndarray"),
        (
            {"q": torch.zeros(2, 2, 3, 2, dtype=torch.int64)},
            "q must be float16, bfloat16, float32 or float64, got torch.int64",
        ),
        ({"v": torch.zeros(2, 1, 5, 3)}, "v must be of q's type, torch.float64, got torch.float32"),
        ({"v": torch.zeros(1, 5, 3, dtype=torch.float64)}, "v must have as many axes as q, 4, got shape (1, 5, 3)"),
        ({"k": torch.zeros(2, 1, 5, 7, dtype=torch.float64)}, "k must have q's width, 2, in its last axis"),
        (
            {"q": torch.zeros(2, device="meta", dtype=torch.float64)},
            "q must be (tokens, width) or (..., heads, tokens, width)",
        ),
        ({"k": torch.zeros(2, 1, 5, 2, device="meta", dtype=torch.float64)}, "k must be on q's device, cpu, got meta"),
        ({"mask": torch.ones(3, 5, dtype=torch.bool)}, "mask must be a mask, got an array of torch.bool"),
        ({"scale": float("nan")}, "scale must be a finite number, got nan"),
        ({"dropout": 0.5}, "seed must be a whole number from 0 to 2^64 - 1 where dropout is given, got None"),
        ({"dropout": 1.0, "seed": torch.tensor(1)}, "dropout must be a number from 0 to below 1, got 1.0"),
        ({"dropout": 0.5, "seed": torch.tensor(1.0)}, "seed must be one whole number, got a tensor of torch.float32"),
        ({"dropout": 1.0, "seed": 1}, "dropout must be a number from 0 to below 1, got 1.0"),
        ({"scores": torch.zeros(3, 5)}, "scores must hold score modifiers, got an array"),
        ({"read": [el.TopK(2), el.TopK(3)]}, "read must hold each kind of readout once, got TopK 2 times"),
        ({"read": ["entropy"]}, "read must hold readouts, such as eyeline.Weights(), got 'entropy'"),
        ({"shard": el.Shard()}, "shard and lse must be left out for tensors"),
    ],
)
def test_wrong_input(change, message):
    q, k, v = inputs()
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        el.observe(**({"q": q, "k": k, "v": v} | change))


def test_nothing_is_made_on_another_device():
    """Tensors without data, of a device without kernels, raise where they meet some of another device."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    from eyeline.masks import AttentionShape
    from eyeline.torch import portable_path
    from eyeline.torch.request import Request

    names = ("top-k", "entropy", "received max", "mean distance", "group mass each", "pooled max", "weights")
    with FakeTensorMode():
        q, k, v = (torch.empty(2, 2, tokens, 4, device="meta") for tokens in (3, 5, 5))
        request = Request(
            shape=AttentionShape((2,), 2, 3, 5),
            scale=1.0,
            mask=MASKS["joined"],
            scores=(el.Alibi(align="end"), el.Softcap(2.0), el.Bias(torch.empty(3, 5, device="meta"))),
            dropout=0.5,
            seed=1,
            read=tuple(READOUTS[name] for name in names),
            portable=True,
        )
        found = portable_path.forward(q, k, v, request)
        d = [torch.empty_like(x) if x.is_floating_point() else None for x in found]
        gradients = portable_path.backward(q, k, v, request, found, d, [True] * 4)
    assert {x.device.type for x in (*found, *gradients)} == {"meta"}


def test_blocks_are_small_and_see_no_more_keys_than_they_may():
    from eyeline.masks import AttentionShape
    from eyeline.torch.portable_block import places
    from eyeline.torch.request import Request

    q = torch.randn(1, 2, 1000, 4)

    def blocks(mask):
        problem = AttentionShape((1,), 2, 1000, 1000)
        request = Request(problem, 1.0, mask, scores=(), dropout=0.0, seed=0, read=(), portable=True, at_a_time=20_000)
        return list(places(request, q))

    near = el.MaskFunction(lambda b, h, i, j: i - j < 3)
    for found in (blocks(None), blocks(el.Causal()), blocks(el.Window(5, 0)), blocks(el.Window(5, 0) & near)):
        assert [row for one in found for row in range(one.rows.start, one.rows.stop)] == list(range(1000))
        assert max((one.rows.stop - one.rows.start) * 2 * (one.keys.stop - one.keys.start) for one in found) <= 20_000
    for mask in (el.Window(5, 0), el.Window(5, 0) & near):
        for one in blocks(mask):
            assert one.keys == slice(max(one.rows.start - 5, 0), one.rows.stop)
    assert all(one.keys == slice(0, 0) for one in blocks(el.Padding([0])))
