"""Gradients of the two calls on tensors: every mask, score modifier and readout, against differences; properties."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from tensors import MASKS, READOUTS, inputs, numbers, parameters, scores, seen

import eyeline as el
import eyeline.torch as et

WAYS = {"kernels": nullcontext, "portable": et.portable}
ways = pytest.mark.parametrize("way", WAYS)


def check(leaves, function):
    assert torch.autograd.gradcheck(function, tuple(leaves), fast_mode=True, check_undefined_grad=False)


@ways
@pytest.mark.parametrize("name", scores())
@pytest.mark.parametrize("mask", MASKS)
def test_gradients_of_output_and_lse(mask, name, way):
    changes = scores()[name]
    with WAYS[way]():
        check(
            [*inputs(), *parameters(changes)],
            lambda q, k, v, *_: tuple(seen(el.observe(q, k, v, mask=MASKS[mask], scores=changes)).values()),
        )


@ways
@pytest.mark.parametrize("name", ["none", "all"])
@pytest.mark.parametrize("mask", ["none", "joined", "where"])
@pytest.mark.parametrize("readout", READOUTS)
def test_gradients_of_readouts(readout, mask, name, way):
    changes = scores()[name]

    def read(q, k, v, *_):
        found = el.observe(q, k, v, mask=MASKS[mask], scores=changes, read=READOUTS[readout], dropout=0.4, seed=3)
        return tuple(seen(found).values())

    with WAYS[way]():
        check([*inputs(groups=2), *parameters(changes)], read)


@ways
def test_gradients_of_all_readouts_together_are_the_sum_of_each(way):
    q, k, v = inputs()
    names = ("top-k", "entropy", "received max", "mean distance", "group mass each", "pooled max", "weights")
    with WAYS[way]():
        together = seen(el.observe(q, k, v, mask=MASKS["joined"], read=[READOUTS[name] for name in names]))
        apart = [seen(el.observe(q, k, v, mask=MASKS["joined"], read=READOUTS[name])) for name in names]
    sums = [sum(x.sin().sum() for x in found.values()) for found in (together, *apart)]
    base = seen(el.observe(q, k, v, mask=MASKS["joined"]))
    shared = sum(base[name].sin().sum() for name in ("output", "lse"))
    got = torch.autograd.grad(sums[0] + (len(names) - 1) * shared, (q, k, v))
    want = torch.autograd.grad(sum(sums[1:]), (q, k, v))
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other)


LARGE = (el.Causal("start") & el.Padding(keys=[131, 77])) | el.Window(3, 9, "start")


@pytest.mark.parametrize("compared", ["kernels", "small blocks"])
def test_larger_sizes_have_the_gradients_of_the_portable_path(compared):
    """Over many panels and blocks."""
    q, k, v = numbers(2, 4, 67, 9, seed=1), numbers(2, 2, 131, 9, seed=2), numbers(2, 2, 131, 7, seed=3)
    slopes, bias, logits = numbers(4, seed=4), numbers(4, 67, 1, seed=5), numbers(4, seed=6)
    leaves = (q, k, v, slopes, bias, logits)
    groups = torch.arange(131).remainder(5).numpy() - 1
    read = [
        el.TopK(3),
        el.Entropy(),
        el.Received("mean"),
        el.MeanDistance("start"),
        el.OffsetMass([-60, -2, -1, 0, 1, 30, 130], "start"),
        el.GroupMass(groups),
        el.Weights([3, 66], [1, 5]),
    ]
    if compared == "small blocks":
        read += [el.Pooled(8, 5, "max")]
        read[2] = el.Received("max")

    def gradients():
        changes = [el.Alibi(slopes, "start"), el.Bias(bias), el.Softcap(4.0), el.Sinks(logits)]
        found = seen(el.observe(q, k, v, mask=LARGE, scores=changes, read=read, dropout=0.2, seed=9))
        return torch.autograd.grad(sum(x.sin().sum() for x in found.values()), leaves)

    with et.portable():
        want = gradients()
    if compared == "kernels":
        got = gradients()
    else:
        with et.portable(9000):
            got = gradients()
    torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-11)


def test_a_strided_or_broadcast_gradient_is_as_good_as_a_contiguous_one():
    q, k, v = inputs(torch.float32)
    d = torch.randn(2, 3, 2, 3)
    for incoming in (d.transpose(1, 2), torch.ones(()).expand(2, 2, 3, 3), d.transpose(1, 2).flip(3)):
        got = torch.autograd.grad(el.attention(q, k, v), (q, k, v), incoming)
        want = torch.autograd.grad(el.attention(q, k, v), (q, k, v), incoming.contiguous())
        for one, other in zip(got, want, strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("which", [(0,), (1,), (2,), (0, 2)])
def test_gradients_only_where_they_are_asked_for(which):
    given = inputs()
    whole = torch.autograd.grad(el.attention(*given).sin().sum(), given)
    some = [x.detach().requires_grad_(at in which) for at, x in enumerate(given)]
    el.attention(*some).sin().sum().backward()
    for at, x in enumerate(some):
        assert (x.grad is not None) == (at in which)
        if x.grad is not None:
            assert torch.equal(x.grad, whole[at])


@ways
@pytest.mark.parametrize("what", [float("nan"), float("inf"), -float("inf")])
def test_what_is_hidden_reaches_no_gradient(what, way):
    q, k, v = (x.detach().clone() for x in inputs())
    mask = el.Padding(queries=[2, 3], keys=[3, 4])
    with WAYS[way]():
        clean = [x.clone().requires_grad_() for x in (q, k, v)]
        loss = sum(
            x.sin().sum() for x in seen(el.observe(*clean, mask=mask, read=[el.Entropy(), el.Received()])).values()
        )
        loss.backward()
        k[0, :, 3:], v[0, :, 3:], k[1, :, 4:], v[1, :, 4:], q[0, :, 2:] = what, what, what, what, what
        spoiled = [x.requires_grad_() for x in (q, k, v)]
        again = sum(
            x.sin().sum() for x in seen(el.observe(*spoiled, mask=mask, read=[el.Entropy(), el.Received()])).values()
        )
        again.backward()
    assert torch.equal(loss, again)
    for x, y in zip(clean, spoiled, strict=True):
        assert torch.equal(x.grad, y.grad)
    assert not clean[0].grad[0, :, 2:].any()


def test_a_document_changes_nothing_of_another():
    q, k, v = (numbers(1, 2, 7, 3, seed=seed) for seed in (1, 2, 3))
    mask = el.Documents([3, 4])
    first = torch.autograd.grad(el.attention(q, k, v, mask=mask)[:, :, :3].sin().sum(), (q, k, v))
    with torch.no_grad():
        for x in (q, k, v):
            x[:, :, 3:] = 100.0
    again = torch.autograd.grad(el.attention(q, k, v, mask=mask)[:, :, :3].sin().sum(), (q, k, v))
    for one, other in zip(first, again, strict=True):
        assert torch.equal(one, other)
        assert not one[:, :, 3:].any()


@pytest.mark.parametrize(
    "sizes",
    [
        (0, 2, 3, 4, 2, 1),
        (1, 0, 3, 4, 2, 1),
        (1, 2, 0, 4, 2, 1),
        (1, 2, 3, 0, 2, 1),
        (1, 2, 3, 4, 0, 1),
        (1, 2, 3, 4, 2, 0),
    ],
)
@ways
def test_nothing_at_all_has_gradients_too(sizes, way):
    B, H, N, M, D, E = sizes
    q, k, v = numbers(B, H, N, D), numbers(B, H, M, D), numbers(B, H, M, E)
    with WAYS[way]():
        found = el.observe(q, k, v, read=[el.Entropy(), el.Received("max"), el.TopK(2), el.Pooled(2, 2), el.Weights()])
        assert found.output.shape == (B, H, N, E)
        assert found.pooled.shape == (B, H, 2, 2)
        sum(x.sum() for x in seen(found).values()).backward()
    for x in (q, k, v):
        assert x.grad.shape == x.shape
        assert x.grad.isfinite().all()


def test_thirty_backward_runs_have_the_same_bits():
    q, k, v = (numbers(2, 2, 65, 17, seed=seed, dtype=torch.float32) for seed in (1, 2, 3))
    runs = [torch.autograd.grad(el.attention(q, k, v, mask=el.Causal()).sum(), (q, k, v)) for _ in range(30)]
    assert all(torch.equal(x, y) for run in runs for x, y in zip(run, runs[0], strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@ways
def test_halves_have_gradients_of_their_own_type(dtype, way):
    exact = inputs()
    halves = [x.detach().to(dtype).requires_grad_() for x in exact]
    wide = [x.detach().double().requires_grad_() for x in halves]
    with WAYS[way]():
        got = torch.autograd.grad(el.attention(*halves, mask=MASKS["causal"]).float().sin().sum(), halves)
    want = torch.autograd.grad(el.attention(*wide, mask=MASKS["causal"]).sin().sum(), wide)
    for one, other in zip(got, want, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one.double(), other, atol=0.02, rtol=0.02)
