"""The portable path over small blocks of queries: what is computed of each is what the whole formula says of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import near, nearer, readouts, steeper, steepness, strided
from tensors import MASKS as KINDS_OF_MASKS
from tensors import READOUTS, inputs, numbers, parameters, scores, seen
from test_torch_forward import calls, numbers_of

import eyeline as el
import eyeline.torch as et
from eyeline import reference

#: So few scores at a time that a block is one query, or a few.
SMALL = (1, 40, 150)


def gradients(q, k, v, asked, at_a_time):
    changes = asked.get("scores", [])
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    with et.portable(at_a_time):
        found = seen(el.observe(*leaves, **asked))
        loss = sum(
            (x * torch.linspace(0.5, 1.5, max(x.numel(), 1))[: x.numel()].view(x.shape)).sum() for x in found.values()
        )
        return torch.autograd.grad(loss, [*leaves, *parameters(changes)], allow_unused=True)


@given(calls(), st.sampled_from(SMALL))
@settings(max_examples=40)
def test_gradients_over_small_blocks_are_those_of_one(call, at_a_time):
    arrays, asked = call
    asked["scores"] = [
        change.with_parameters({name: torch.tensor(x).requires_grad_() for name, x in change.parameters().items()})
        for change in asked["scores"]
    ]
    if arrays[0].shape[-1] == 1:
        arrays = [np.round(x) for x in arrays]  # weights that tie
    q, k, v = map(torch.from_numpy, arrays)
    want, got = (gradients(q, k, v, asked, size) for size in (None, at_a_time))
    for x, y in zip(got, want, strict=True):
        assert (x is None) == (y is None)
        if x is not None:
            assert not x.isnan().any()
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("changes", scores())
@pytest.mark.parametrize("mask", KINDS_OF_MASKS)
def test_each_mask_and_modifier_is_cut_to_blocks_of_one_query(mask, changes):
    asked = {"mask": KINDS_OF_MASKS[mask], "scores": scores()[changes]}
    asked["read"] = [READOUTS[name] for name in ("top-k", "entropy", "received max", "pooled max", "weights")]
    q, k, v = (x.detach() for x in inputs())
    with et.portable(1):
        got = numbers_of(el.observe(q, k, v, **asked))
    with et.portable():
        want = numbers_of(el.observe(q, k, v, **asked))
    for name, x in want.items():
        np.testing.assert_allclose(got[name], x, rtol=1e-12, atol=1e-12, err_msg=name)
    for x, y in zip(gradients(q, k, v, asked, 1), gradients(q, k, v, asked, None), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-11)


def test_hidden_weights_are_zero_even_in_a_row_that_is_nan():
    q, k, v = (x.detach().clone() for x in inputs())
    k[0, 0, 3] = torch.nan
    allowed = el.Causal("end").dense(3, 5)
    spoiled = allowed[:, 3]
    for at_a_time in (None, 1):
        with et.portable(at_a_time):
            weights = el.observe(q, k, v, mask=el.Causal("end"), read=el.Weights()).weights.numpy()
        assert (weights[..., ~allowed] == 0).all()
        assert np.isnan(weights[0][:, spoiled][..., allowed[spoiled]]).all()
        assert np.isfinite(weights[0][:, ~spoiled]).all()
        assert np.isfinite(weights[1]).all()


MASKS = {
    "window and function": el.Window(2, 1, "end") & el.MaskFunction(strided),
    "chunk and function": el.Window(3, 0, 9) & el.MaskFunction(near) & el.Padding(keys=[13, 7]),
    "documents and not a function": el.Documents([[6, 7], [3, 9]], align="end") & ~el.MaskFunction(strided),
    "function or function": el.Window(4, 4, "end") & (el.MaskFunction(near) | el.MaskFunction(strided)),
}


@pytest.mark.parametrize("changes", [(), (el.ScoreFunction(nearer),), (el.ScoreFunction(steeper, steepness),)])
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("at_a_time", SMALL)
def test_functions_are_asked_about_the_keys_that_are_meant(name, changes, at_a_time):
    """A block leaves out the keys that none of its queries may look at; those that are left keep their numbers."""
    q, k, v = (
        x.detach() for x in (numbers(2, 2, 4, 3, seed=1), numbers(2, 1, 13, 3, seed=2), numbers(2, 1, 13, 2, seed=3))
    )
    asked = {
        "mask": MASKS[name],
        "scores": changes,
        "read": [el.TopK(3), el.Entropy(), el.Received("mean"), el.Weights()],
    }
    with et.portable(at_a_time):
        got = numbers_of(el.observe(q, k, v, **asked))
    want = numbers_of(reference.observe(*(x.numpy() for x in (q, k, v)), **asked))
    for key, x in want.items():
        np.testing.assert_allclose(got[key], x, rtol=1e-9, atol=1e-9, err_msg=key)
    for x, y in zip(gradients(q, k, v, asked, at_a_time), gradients(q, k, v, asked, None), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-9, atol=1e-10)


def first_place(w, dims):
    """The maximum over the last axes, with the gradient of the first place that attains it."""
    flat = w.flatten(-dims)
    return flat.gather(-1, flat.argmax(-1, keepdim=True))[..., 0]


@pytest.mark.parametrize("at_a_time", [None, *SMALL])
@pytest.mark.parametrize("mask", [None, el.Causal()])
def test_a_maximum_has_the_gradient_of_its_first_place_also_across_blocks(mask, at_a_time):
    """Every row is the same as others here, so that maxima tie between queries, blocks and bins."""
    q, k = torch.zeros(1, 2, 12, 3), numbers(1, 2, 12, 3, seed=4).detach()
    q[:, :, ::3] = 1.0
    q, k, v = q.double().requires_grad_(), k.requires_grad_(), numbers(1, 2, 12, 2, seed=5)
    steep = torch.linspace(-1, 1, 2 * 3 * 2, dtype=torch.float64).view(1, 2, 3, 2)
    with et.portable(at_a_time):
        found = el.observe(q, k, v, mask=mask, read=[el.Received("max"), el.Pooled(3, 2, "max")])
        loss = (found.received * torch.linspace(1, 2, 12)).sum() + (found.pooled * steep).sum()
        got = torch.autograd.grad(loss, (q, k))
    s = (q @ k.mT) / 3**0.5
    w = torch.softmax(s if mask is None else s.masked_fill(~torch.from_numpy(mask.dense(12)), -torch.inf), -1)
    cells = w.reshape(1, 2, 3, 4, 2, 6).transpose(3, 4)
    loss = (first_place(w.mT, 1) * torch.linspace(1, 2, 12)).sum() + (first_place(cells, 2) * steep).sum()
    for x, y in zip(got, torch.autograd.grad(loss, (q, k)), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-13)


def hides(score: float, b: int, h: int, i: int, j: int) -> float:
    return score if i >= j else -np.inf


def divides(score: float, b: int, h: int, i: int, j: int) -> float:
    return score / (i - j + 1)


def unknown(score: float, b: int, h: int, i: int, j: int) -> float:
    return score if i >= j else np.nan


CAUSAL = torch.arange(6)[:, None] >= torch.arange(6)


@pytest.mark.parametrize("way", ["kernels", *SMALL])
@pytest.mark.parametrize(
    ("function", "mask", "formula"),
    [
        (hides, None, lambda s: s),
        (hides, el.Window(9, 0), lambda s: s),
        (divides, el.Causal(), lambda s: s / torch.where(CAUSAL, torch.arange(6)[:, None] - torch.arange(6) + 1, 1)),
        (unknown, el.Causal(), lambda s: s),
    ],
)
@pytest.mark.parametrize("capped", [False, True])
def test_no_gradient_comes_of_what_a_function_hides_or_a_mask(function, mask, formula, capped, way):
    """Where the function's value, or its slope, is infinite or no number; and in the bias before it."""
    x, bias = numbers(1, 2, 6, 4, seed=6), numbers(6, 6, seed=7)
    changes = [el.Bias(bias), *([el.Softcap(3.0)] if capped else []), function]
    if way == "kernels":
        y = el.attention(x, x, x, mask=mask, scores=changes)
    else:
        with et.portable(way):
            y = el.attention(x, x, x, mask=mask, scores=changes)
    got = torch.autograd.grad(y.sin().sum(), (x, bias))
    s = x @ x.mT / 2 + bias
    s = formula(3 * torch.tanh(s / 3) if capped else s).masked_fill(~CAUSAL, -torch.inf)
    want = torch.autograd.grad((torch.softmax(s, -1) @ x).sin().sum(), (x, bias))
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("what", [torch.nan, torch.inf, -torch.inf])
def test_what_is_hidden_reaches_no_gradient_through_any_change_of_scores(what):
    """Of keys, values and queries that a mask hides, and of a key that a function hides."""

    def run(spoil):
        q, k, v = (numbers(1, 2, 6, 4, seed=seed).detach() for seed in (1, 2, 3))
        if spoil:
            k[:, :, 4:], v[:, :, 4:], q[:, :, 5:] = what, what, what
        leaves = [
            *(x.requires_grad_() for x in (q, k, v)),
            numbers(6, 6, seed=7),
            numbers(2, seed=8),
            numbers(8, 2, seed=9),
        ]
        changes = [el.Bias(leaves[3]), el.Alibi(leaves[4]), el.RelativeBias(leaves[5]), el.Softcap(2.0)]
        mask = el.Padding(queries=[5], keys=[4])
        found = []
        for more, hidden in ((mask, []), (el.Padding(queries=[5]), [lambda s, b, h, i, j: s if j < 4 else -np.inf])):
            with et.portable(70):
                seen_now = seen(
                    el.observe(
                        *leaves[:3],
                        mask=more,
                        scores=[*changes, *hidden],
                        dropout=0.2,
                        seed=1,
                        read=[el.TopK(2), el.Entropy(), el.Received("max")],
                    )
                )
            found += torch.autograd.grad(sum(x.sin().sum() for x in seen_now.values()), leaves)
        return found

    for x, y in zip(run(True), run(False), strict=True):
        assert torch.equal(x, y)


def test_a_dropped_value_takes_no_part():
    q, k, v = (numbers(1, 1, 5, 3, seed=seed).detach() for seed in (1, 2, 3))
    from eyeline.dropout import kept
    from eyeline.masks import AttentionShape

    places = kept(5, 0.5, AttentionShape((1,), 1, 5, 5))[0, 0]
    v[:, :, 2] = torch.nan
    with et.portable():
        got = el.attention(q, k, v, dropout=0.5, seed=5)[0, 0]
    np.testing.assert_array_equal(got.isnan().any(-1).numpy(), places[:, 2])


@pytest.mark.parametrize("way", ["kernels", "portable"])
def test_a_row_that_sees_nothing_gives_the_sink_its_whole_gradient(way):
    """lse is the sink's logit there, and its share 1."""
    logits = torch.randn(2000, generator=torch.Generator().manual_seed(0), requires_grad=True)
    q = torch.zeros(2000, 1, 2)
    for mask, rows in ((el.Padding([0]), 1), (el.Padding(queries=[1], keys=[1]), 0)):
        asked = {"mask": mask, "scores": el.Sinks(logits)}
        if way == "portable":
            with et.portable():
                found = el.observe(q, q, q, **asked)
        else:
            found = el.observe(q, q, q, **asked)
        [of_lse] = torch.autograd.grad(found.lse.sum(), logits, retain_graph=True)
        [of_sink] = torch.autograd.grad(found.sink.sum(), logits, retain_graph=True)
        if rows:
            assert torch.equal(of_lse, torch.ones(2000))
            assert not of_sink.any()
        else:  # q·k = 0: the sink's share is that of its logit against 0
            share = torch.sigmoid(logits.detach())
            torch.testing.assert_close(of_lse, share)
            torch.testing.assert_close(of_sink, share * (1 - share))


@given(st.data())
@settings(max_examples=20)
def test_blocks_take_in_any_readouts_of_any_sizes(data):
    """Also where there is no query, no key, or no batch."""
    from eyeline.masks import AttentionShape

    sizes = data.draw(st.sampled_from([(0, 2, 3, 4), (1, 0, 3, 4), (1, 2, 0, 4), (1, 2, 3, 0), (1, 1, 0, 0)]))
    problem = AttentionShape(sizes[:1], *sizes[1:])
    read = data.draw(readouts(problem))
    q, k, v = (numbers(*sizes[:2], tokens, 2) for tokens in (sizes[2], sizes[3], sizes[3]))
    with et.portable(data.draw(st.sampled_from(SMALL))):
        found = el.observe(q, k, v, read=read)
        sum(x.sum() for x in seen(found).values()).backward()
    want = numbers_of(reference.observe(*(x.detach().numpy() for x in (q, k, v)), read=read))
    for name, x in numbers_of(found).items():
        assert x.shape == want[name].shape
        np.testing.assert_array_equal(x, want[name])
    assert all(not x.grad.any() for x in (q, k))
