"""Training through edited attention: gradients, also into `by=`, and layers that are run again for them."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from eager_edits import ByHand, by_hand, with_heads
from edit_models import CASES, inputs_of, places, with_sharp_heads
from hugging import albert, bert, llama, one_thread, padded, text  # noqa: F401 - one_thread, for all tests here
from torch.utils.checkpoint import checkpoint

import eyeline as el
from eyeline import edits as ed
from eyeline.huggingface.errors import HuggingFaceError

HEAD = 2


def gradients(model, by):
    found = [by.grad.clone(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]
    by.grad = None
    model.zero_grad()
    return found


def loss_of(output):
    """The mean square would be the same for all outputs of a LayerNorm."""
    return (output.square() * torch.linspace(-1, 1, output.shape[-1])).mean()


def gate(case, given, by):
    queries, _ = places(case, given)

    def output(m):
        factor = torch.where(queries >= 0, by[queries.clamp(min=0)], 1.0)[..., None]
        m.y = with_heads(m.y, HEAD, m.y[:, :, HEAD] * factor, axis=2)

    return ed.Gate(layer=case.layer, head=HEAD, kind=case.kind, by=by), ByHand(output=output)


def reweight(case, given, by):
    queries, keys = places(case, given)
    where = (queries >= 1)[:, :, None] & (keys >= 0)[:, None] & (keys <= 2)[:, None]

    def weights(m):
        factor = by[queries.clamp(min=0)][..., None]
        m.w = with_heads(m.w, HEAD, torch.where(where, m.w[:, HEAD] * factor, m.w[:, HEAD]))

    edit = ed.Reweight(layer=case.layer, head=HEAD, kind=case.kind, queries=slice(1, None), keys=slice(3), by=by)
    return edit, ByHand(weights=weights)


@pytest.mark.parametrize("how", [gate, reweight])
@pytest.mark.parametrize("name", ["bert", "llama", "gpt2", "t5 cross", "bart decoder", "whisper encoder", "vit"])
def test_gradients_are_those_of_the_edited_matrix(name, how):
    case = CASES[name]
    model = with_sharp_heads(case.make())
    given = inputs_of(model, case.pads[-1])
    by = torch.linspace(0.2, 1.5, 20).requires_grad_()
    edit, change = how(case, given, by)
    ways = {"want": by_hand(model, {case.path: change}), "got": el.edit(model, edit)}
    found = {}
    for way, block in ways.items():
        with block:
            output = model(**given)[0]
            mask = given.get("decoder_attention_mask", given.get("attention_mask"))
            output = output if mask is None else output * mask[..., None]
            loss_of(output).backward()
        found[way] = gradients(model, by)
    assert found["want"][0].abs().max() > 1e-6
    for got, want in zip(found["got"], found["want"], strict=True):
        torch.testing.assert_close(got, want, atol=1e-5 * max(1, float(want.abs().max())), rtol=1e-4)


CHECKPOINTED = [(bert, False), (bert, True), (albert, False), (llama, False), (llama, True)]


@pytest.mark.parametrize(("make", "reentrant"), CHECKPOINTED)
def test_layers_that_are_run_again_are_edited_again(make, reentrant):
    """Of two batches, whose backward pass comes last, with paddings of their own."""
    found = []
    for checkpointed in (False, True):
        model, by = with_sharp_heads(make()).train(), torch.linspace(0, 1, 12).requires_grad_()
        for part in model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0
        if checkpointed and make is albert:  # which transformers doesn't do itself
            group = model.encoder.albert_layer_groups[0]
            group.forward = partial(checkpoint, group.forward, use_reentrant=reentrant)
        elif checkpointed:
            model.gradient_checkpointing_enable({"use_reentrant": reentrant})
        edits = [ed.Gate(layer=1, head=0, by=by), ed.Cut(layer=0, head=1, keys=[0, 2], queries=[3, 4])]
        with el.edit(model, edits):
            losses = []
            for batch, side in ((3, "right"), (2, "left")):
                ids = text(batch=batch, seed=batch)
                more = {"use_cache": False} if make is llama else {}
                losses.append(loss_of(model(ids, attention_mask=padded(ids, 3, side), **more)[0]))
            sum(losses).backward()
        found.append(gradients(model, by))
    assert found[0][0].abs().max() > 0
    for got, want in zip(*found, strict=True):
        torch.testing.assert_close(got, want, atol=1e-6 * max(1, float(want.abs().max())), rtol=1e-5)


@pytest.mark.parametrize("implementation", ["sdpa", "eyeline"])
def test_layers_that_would_be_run_again_unedited_are_an_error(implementation):
    model, ids = llama().train(), text()
    model.set_attn_implementation(implementation)
    model.gradient_checkpointing_enable()
    with el.edit(model, ed.Cut(layer=0, head=1, keys=0)):
        loss = model(ids, labels=ids, use_cache=False).loss
    with pytest.raises(HuggingFaceError, match=r"backward\(\) must run within the block of eyeline.edit"):
        loss.backward()


def test_a_pass_from_before_the_block_is_not_repeated_within_it():
    model, ids = el.attach(llama()).train(), text()
    model.gradient_checkpointing_enable()
    loss = model(ids, labels=ids, use_cache=False).loss
    with (
        pytest.raises(HuggingFaceError, match=r"backward\(\) must repeat calls that were made within the block"),
        el.edit(model, ed.Cut(layer=0, head=1, keys=0)),
    ):
        loss.backward()


@pytest.mark.parametrize("how", ["bfloat16", "float16", "autocast"])
@pytest.mark.parametrize("make", [bert, llama])
def test_16_bits_are_as_near_as_without_edits(make, how):
    model, ids = with_sharp_heads(make()), text()
    mask = padded(ids, 3, "left")
    (other,) = el.record({"input_ids": ids[:1].flip(1).numpy()}, model=model)
    edits = [
        ed.Cut(layer=0, head=1, queries=slice(-2, None), keys=[1]),
        ed.Uniform(layer=0, head=2),
        ed.Pattern(other, layer=0, head=0),
        ed.Patch(other, "v", layer=1, head=1),
        ed.Reweight(layer=1, head=3, keys=0, by=2.0),
        ed.Patch(other, "output", layer=1, head=2, positions=[2, 3]),
        ed.Gate(layer=1, head=0, by=torch.linspace(0, 1, 12)),
    ]

    def outputs(narrow):
        with torch.autocast("cpu", torch.bfloat16, enabled=narrow and how == "autocast"):
            plain = model(ids, attention_mask=mask)[0]
            with el.edit(model, edits):
                return plain[mask == 1].float(), model(ids, attention_mask=mask)[0][mask == 1].float()

    want = outputs(False)
    model = model if how == "autocast" else model.to(getattr(torch, how))
    got = outputs(True)
    off, edited_off = (float((a - b).detach().abs().max()) for a, b in zip(got, want, strict=True))
    assert edited_off <= 1.5 * off
    got[1].square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_a_gate_learns():
    model, ids = llama(), text()
    by = torch.ones((), requires_grad=True)
    with el.edit(model, ed.Gate(layer=0, head=1, by=by)):
        model(ids, labels=ids).loss.backward()
    with torch.no_grad():
        losses = []
        for step in (-1e-2, 1e-2):
            with el.edit(model.double(), ed.Gate(layer=0, head=1, by=1 + step)):
                losses.append(model(ids, labels=ids).loss.double())
    assert by.grad.item() == pytest.approx((losses[1] - losses[0]).item() / 2e-2, rel=1e-2)
