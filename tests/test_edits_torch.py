"""Edits of calls on tensors: against the definition, gradients against differences, types, devices' path."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from edits import OtherRun
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import HEADS, KEYS, MASKS, QUERIES, READOUTS, inputs, numbers, parameters, scores, seen
from test_edits import Case, check_all, edited_calls

import eyeline as el
import eyeline.torch as et
from eyeline import edits as ed
from eyeline import reference
from eyeline.torch.attending import observe_counted

WAYS = {"kernels": nullcontext, "portable": et.portable}
ways = pytest.mark.parametrize("way", WAYS)


def in_arrays(seen: el.Observation) -> el.Observation:
    return seen.map(lambda x: x.detach().numpy())


@settings(max_examples=60)
@given(edited_calls(most=17), st.booleans(), st.sampled_from(sorted(WAYS)))
def test_every_edit_and_every_readout_against_the_definition(case: Case, wants_gradients: bool, way: str):
    q, k, v = (torch.tensor(x, requires_grad=wants_gradients) for x in (case.q, case.k, case.v))
    with WAYS[way]():
        got = el.observe(q, k, v, **case.structure, edits=case.edits, read=case.read)
    check_all(in_arrays(got), case.define(case.edits), case.read, 1e-10)
    assert got.output.requires_grad == wants_gradients
    if wants_gradients:
        for gradient in torch.autograd.grad(got.output.sum(), (q, k, v), allow_unused=True):
            assert gradient is None or gradient.isfinite().all()


def another_run(seed: int = 20) -> OtherRun:
    """Longer than the call; with a mask, a cap, and a bias."""
    q, k, v = (
        numbers(HEADS, *size, seed=seed + at).detach().numpy() for at, size in enumerate(((4, 2), (6, 2), (6, 3)))
    )
    bias = numbers(HEADS, 1, 4, 6, seed=seed + 3).detach().numpy()
    return OtherRun(q, k, v, el.Causal("end"), (el.Softcap(2.0), el.Bias(bias)))


def factors(seed: int = 30) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For a gate, a number and one per position, and a factor per position."""
    return (
        numbers(QUERIES, seed=seed),
        numbers(1, seed=seed + 1)[0].detach().requires_grad_(),
        numbers(4, seed=seed + 2),
    )


def all_edits(gate: torch.Tensor, one: torch.Tensor, by: torch.Tensor) -> dict[str, list[ed.Edit]]:
    other = another_run()
    some = {"queries": [0, 2], "keys": [0, 1, 3]}
    means = ed.MeanOutputs("tiny", 1, {"decoder self": np.ones((1, HEADS, 3), np.float32)})
    reweight = ed.Reweight(head=0, by=by, **some)
    return {
        "gate": [ed.Gate(head=1, by=gate), ed.Gate(by=one)],
        "cut": [ed.Cut(head=0, **some)],
        "reweight": [reweight, ed.Reweight(by=one, keys=slice(1, None))],
        "uniform": [ed.Uniform(head=1)],
        "pattern": [ed.Pattern(other, head=0)],
        "some of a pattern": [ed.Pattern(other, **some), reweight],
        "patches": [ed.Patch(other, name, head=0, positions=[1]) for name in ("q", "k", "v", "output")],
        "mean output": [ed.MeanOutput(means, head=1)],
        "several": [
            ed.Pattern(other, head=0, queries=[1]),
            ed.Uniform(head=1),
            reweight,
            ed.Cut(head=0, queries=[0], keys=[0]),
            ed.Gate(head=0, by=gate),
        ],
    }


@ways
@pytest.mark.parametrize("name", ["none", "all"])
@pytest.mark.parametrize("mask", ["none", "joined"])
@pytest.mark.parametrize("kind", all_edits(*factors()))
def test_gradients(kind, mask, name, way):
    """In q, k, v, the parameters of scores, and the factors of edits."""
    changes, given = scores()[name], factors()
    edits = all_edits(*given)[kind]
    leaves = [*inputs(), *parameters(changes), *given]

    def call(q, k, v, *_):
        return tuple(seen(el.observe(q, k, v, mask=MASKS[mask], scores=changes, edits=edits)).values())

    with WAYS[way]():
        assert torch.autograd.gradcheck(call, tuple(leaves), fast_mode=True, check_undefined_grad=False)


@ways
@pytest.mark.parametrize("readout", READOUTS)
def test_gradients_of_readouts_of_edited_weights(readout, way):
    given = factors()
    edits = all_edits(*given)["several"]

    def read(q, k, v, *_):
        options = {"mask": MASKS["causal"], "dropout": 0.4, "seed": 3}
        return tuple(seen(el.observe(q, k, v, **options, read=READOUTS[readout], edits=edits)).values())

    with WAYS[way]():
        leaves = [*inputs(groups=2), *given]
        assert torch.autograd.gradcheck(read, tuple(leaves), fast_mode=True, check_undefined_grad=False)


@ways
def test_gradients_of_another_runs_weights_go_to_the_values_alone(way):
    q, k, v = inputs()
    with WAYS[way]():
        output = el.attention(q, k, v, edits=ed.Pattern(another_run()))
        dq, dk, dv = torch.autograd.grad(output.sum(), (q, k, v))
    assert not dq.any()
    assert not dk.any()
    w = another_run().of_heads(range(HEADS)).weights()[:, :QUERIES, :KEYS]
    want = np.broadcast_to(w.sum(axis=(0, 1))[:, None], (KEYS, 3))
    np.testing.assert_allclose(dv[1, 0].numpy(), want, atol=1e-12)


def test_the_gradients_of_gates_are_first_order_effects():
    """One backward pass: the loss's slope in each head's gate is the sum of output times gradient."""
    q, k, v = inputs()
    gates = [torch.ones((), dtype=torch.float64, requires_grad=True) for _ in range(HEADS)]
    output = el.attention(q, k, v, edits=[ed.Gate(head=head, by=gate) for head, gate in enumerate(gates)])
    output.retain_grad()
    output.sin().sum().backward()
    for head, gate in enumerate(gates):
        torch.testing.assert_close(gate.grad, (output * output.grad)[:, head].sum())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("wants_gradients", [False, True])
@pytest.mark.parametrize("kind", all_edits(*factors()))
def test_every_type(kind, dtype, wants_gradients):
    q, k, v = (x.detach().to(dtype).requires_grad_(wants_gradients) for x in inputs())
    edits = all_edits(*(x.detach() for x in factors()))[kind]
    output = el.attention(q, k, v, edits=edits)
    assert output.dtype == dtype
    want = reference.steps(*(x.detach().double().numpy() for x in (q, k, v)), edits=edits).output
    atol = {torch.float16: 4e-3, torch.bfloat16: 4e-2, torch.float32: 1e-5, torch.float64: 1e-12}[dtype]
    np.testing.assert_allclose(output.detach().double().numpy(), want, rtol=atol, atol=atol)
    if wants_gradients:
        output.sum().backward()
        assert all(x.grad is None or x.grad.dtype == dtype for x in (q, k, v))


def test_autocast_casts_before_the_edits():
    q, k, v = (x.detach().float() for x in inputs())
    edits = all_edits(*(x.detach() for x in factors()))["several"]
    with torch.autocast("cpu", torch.bfloat16):
        got = el.attention(q.bfloat16(), k, v, edits=edits)
    want = el.attention(*(x.bfloat16() for x in (q, k, v)), edits=edits)
    assert torch.equal(got, want)


@ways
def test_calls_without_an_axis_of_heads_and_with_several_batch_axes(way):
    q, k, v = inputs()
    edits = [ed.Cut(queries=[0], keys=[2]), ed.Gate(by=numbers(3, seed=5)), ed.Reweight(keys=[1], by=0.5)]
    with WAYS[way]():
        alone = el.observe(q[0, 0], k[0, 0], v[0, 0], edits=edits, read=el.Weights())
        whole = el.observe(q, k, v, edits=edits, read=el.Weights())
        several = el.observe(*(x[:, None] for x in (q, k, v)), edits=edits, read=el.Weights())
    assert alone.output.shape == (QUERIES, 3)
    torch.testing.assert_close(alone.output, whole.output[0, 0])
    torch.testing.assert_close(alone.weights, whole.weights[0, 0])
    torch.testing.assert_close(several.output, whole.output[:, None])
    torch.testing.assert_close(several.weights, whole.weights[:, None])


def test_lowered_edits_and_queries_that_do_not_count():
    """As models call it: positions of their own, padding, and readouts of some queries."""
    q, k, v = inputs()
    place = ed.CallPlace(HEADS, 1, np.array([[2, 3, 4], [-1, 0, 1]]), np.array([np.arange(5), [-1, -1, -1, 0, 1]]))
    edits = [ed.Pattern(another_run(), head=0, queries=[1, 3]), ed.Gate(head=1, by=torch.linspace(0, 1, 5))]
    mask = el.Causal("end") & el.Padding(keys=[5, 2], side="left")
    counted = torch.tensor([[True, True, True], [False, True, True]])
    got = {}
    for wants_gradients in (False, True):
        output, observation = observe_counted(
            *(x.detach().requires_grad_(wants_gradients) for x in (q, k, v)),
            mask=mask,
            scale=None,
            scores=(),
            dropout=0.0,
            seed=None,
            read=el.Received(),
            counted=counted,
            tokens_first=True,
            edits=ed.lowered(edits, place),
        )
        got[wants_gradients] = output.detach().numpy(), observation.received.detach().numpy()
    arrays = [x.detach().numpy() for x in (q, k, v)]
    want = reference.steps(*arrays, mask=mask, edits=edits, call=place)
    weights = np.where(counted.numpy()[:, None, :, None], want.weights, 0)
    for output, received in got.values():
        np.testing.assert_allclose(output, want.output, atol=1e-12)
        np.testing.assert_allclose(received, weights.sum(axis=2), atol=1e-12)


def test_calls_without_edits_have_the_same_bits():
    q, k, v = (x.detach() for x in inputs())
    for edits in ((), []):
        assert torch.equal(el.attention(q, k, v, edits=edits), el.attention(q, k, v))


def test_within_compiled_functions_edits_run_uncompiled():
    q, k, v = (x.detach() for x in inputs())
    edits = [ed.Uniform(head=0), ed.Gate(head=1, by=0.5)]

    @torch.compile(backend="eager")
    def twice(q, k, v):
        return 2 * et.attention(q, k, v, edits=edits)

    torch.testing.assert_close(twice(q, k, v), 2 * el.attention(q, k, v, edits=edits))


def test_forward_mode_and_transforms():
    q, k, v = (x.detach() for x in inputs())
    by = torch.tensor(0.7, dtype=torch.float64)

    def loss(v, by):
        edits = [ed.Reweight(head=0, keys=[1, 2], by=by), ed.Gate(head=1, by=by), ed.Uniform(head=1)]
        return et.attention(q, k, v, edits=edits).sin().sum()

    backward = torch.func.grad(loss, argnums=1)(v, by)
    step = 1e-6
    slope = (loss(v, by + step) - loss(v, by - step)) / (2 * step)
    torch.testing.assert_close(backward, slope, atol=1e-7, rtol=1e-7)
    _, forward = torch.func.jvp(lambda by: loss(v, by), (by,), (torch.ones_like(by),))
    torch.testing.assert_close(forward, backward)


def test_vmap_over_the_factors_of_gates():
    """All gates at once: each head switched off alone."""
    q, k, v = (x.detach() for x in inputs())

    def call(gates):
        return et.attention(q, k, v, edits=[ed.Gate(head=head, by=gates[head]) for head in range(HEADS)])

    gates = 1 - torch.eye(HEADS, dtype=torch.float64)
    each = torch.func.vmap(call)(gates)
    for head in range(HEADS):
        assert torch.equal(each[head], el.attention(q, k, v, edits=ed.Gate(head=head)))
