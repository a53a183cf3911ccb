"""What a model may ask of its attention: weights, masks of the user's own, dropout, half types, compilation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hugging import SIZES, bert, eager, llama, one_thread, padded, text  # noqa: F401 - one_thread, for all tests here
from transformers import MistralConfig, MistralForCausalLM

import eyeline as el
from eyeline import attach
from eyeline.huggingface import attention_interface
from eyeline.huggingface.errors import HuggingFaceError


@pytest.mark.parametrize("training", [False, True])
def test_all_weights_of_one_call_are_given(training):
    model, ids = attach(llama()), text()
    with torch.set_grad_enabled(training):
        got, want = model(ids, output_attentions=True), eager(model, ids)
    for ours, theirs in zip(got.attentions, want.attentions, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert model(ids).attentions is None


def test_all_weights_of_a_long_call_are_refused(monkeypatch):
    monkeypatch.setattr(attention_interface, "_LARGEST_WEIGHTS", 2 * 4 * 12 * 12 * 4 - 1)
    with pytest.raises(
        HuggingFaceError, match=r"output_attentions must be left out .*, got True for 12 queries and 12"
    ):
        attach(llama())(text(), output_attentions=True)


def test_all_weights_of_every_call_are_refused():
    model = llama()
    model.set_attn_implementation("eager")
    model.config.output_attentions = True
    with pytest.raises(HuggingFaceError, match=r"config\.output_attentions must be False, got True"):
        attach(model)
    with pytest.raises(HuggingFaceError, match=r"config\.output_attentions must be False"), el.watch(model):
        pass
    assert model.config._attn_implementation == "eager"


def four_d(kind: str) -> torch.Tensor:
    """A mask of the user's own, (1, 1 or H, N, N)."""
    allowed = torch.tril(torch.ones(1, 1, 12, 12, dtype=torch.bool))
    allowed[..., 3] = False
    allowed[..., 3, 3] = True
    least = torch.finfo(torch.float32).min
    if kind == "added":
        return torch.where(allowed, 0.0, least)
    if kind == "added, infinite":
        return torch.where(allowed, 0.0, -torch.inf)
    if kind == "bias":
        return torch.where(allowed, torch.randn(1, 4, 12, 12, generator=torch.Generator().manual_seed(0)), least)
    return allowed


@pytest.mark.parametrize("kind", ["booleans", "added", "added, infinite", "bias"])
def test_a_mask_of_the_users_own(kind):
    model, ids, mask = llama(), text(), four_d(kind)
    added = mask if mask.is_floating_point() else torch.where(mask, 0.0, torch.finfo(torch.float32).min)
    want = eager(model, ids, attention_mask=added)
    with el.watch(model, el.Weights(), heads=[1, 3]) as seen:
        got = model(ids, attention_mask=mask)
    torch.testing.assert_close(got.logits, want.logits)
    np.testing.assert_allclose(seen[1].seen.weights, want.attentions[1][:, [1, 3]].detach(), atol=1e-6)


def test_a_bias_of_the_users_own_has_a_gradient():
    found = []
    for implementation in ("eager", "eyeline"):
        model, bias = llama(), four_d("bias").requires_grad_()
        model.set_attn_implementation(implementation)
        model(text(), attention_mask=bias).logits.square().sum().backward()
        allowed = four_d("booleans").expand(1, 4, 12, 12)
        found.append(bias.grad[allowed])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)


def test_dropout_is_drawn_from_torchs_seed():
    model, ids = attach(llama()).train(), text()
    for layer in model.model.layers:
        layer.self_attn.attention_dropout = 0.5
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(model(ids).logits)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
    assert torch.equal(model.eval()(ids).logits, model(ids).logits)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_are_no_worse_than_eager(dtype):
    """Against the model in float64, at most twice the error of eager attention in the same type."""
    ids = text()
    truth = eager(llama().double(), ids).logits
    half = llama().to(dtype)
    theirs = (eager(half, ids).logits - truth).square().mean().sqrt()
    ours = (attach(half)(ids).logits - truth).square().mean().sqrt()
    assert ours <= 2 * theirs


def test_beams_are_those_of_eager():
    model, ids = llama(), text(6)
    asked = {"attention_mask": padded(ids, 2, "left"), "num_beams": 3, "max_new_tokens": 5, "do_sample": False}
    want = model.generate(ids, **asked)
    with el.watch(model, el.TopK(2)) as seen:
        assert torch.equal(model.generate(ids, **asked), want)
    assert {call.seen.lse.shape[0] for call in seen} == {6}


def test_compiled_whole():
    sizes = {**SIZES, "num_hidden_layers": 1, "num_key_value_heads": 2, "sliding_window": 4}
    torch.manual_seed(0)
    for make, tokens in (
        (lambda: llama(layers=1), None),
        (lambda: MistralForCausalLM(MistralConfig(**sizes)).eval(), "left"),
        (lambda: bert(layers=1), "right"),
    ):
        torch._dynamo.reset()
        model, ids = attach(make()), text()
        mask = torch.ones_like(ids) if tokens is None else padded(ids, 4, tokens)
        want = model(ids, attention_mask=mask)[0]
        got = torch.compile(model, fullgraph=True, backend="aot_eager")(ids, attention_mask=mask)[0]
        torch.testing.assert_close(got[mask.bool()], want[mask.bool()])


def test_generation_compiled_with_a_static_cache():
    torch._dynamo.reset()
    model, ids = attach(llama(layers=1)), text(6)
    asked = {"attention_mask": padded(ids, 2, "left"), "max_new_tokens": 5, "do_sample": False}
    want = model.generate(ids, **asked)
    model.forward = torch.compile(model.forward, fullgraph=True, backend="aot_eager")
    assert torch.equal(model.generate(ids, **asked, cache_implementation="static"), want)


@pytest.mark.parametrize("compile_", [torch.compile, lambda model: model.compile(backend="aot_eager") or model])
def test_a_compiled_model_is_watched_as_it_is_written(compile_):
    torch._dynamo.reset()
    model, ids = attach(llama()), text()
    with el.watch(model, el.Entropy()) as want:
        model(ids)
    compiled = compile_(model)
    with el.watch(compiled, el.Entropy()) as seen:
        compiled(ids)
    assert seen.modules == want.modules
    for got, call in zip(seen, want, strict=True):
        np.testing.assert_array_equal(got.seen.entropy, call.seen.entropy)


def test_compiled_steps_of_generation_are_seen():
    torch._dynamo.reset()
    model, ids = attach(llama()), text(6)
    model.forward = torch.compile(model.forward, backend="aot_eager")
    with el.watch(model, el.Entropy()) as seen:
        model.generate(ids, max_new_tokens=3, do_sample=False, cache_implementation="static")
    assert [(call.forward, call.layer) for call in seen] == [(n, layer) for n in range(3) for layer in (0, 1)]


@pytest.mark.filterwarnings("ignore")
def test_a_quantised_model():
    """Its projections are of int8, what attention is given is not."""
    model, ids = llama(), text()
    small = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    want = eager(small, ids).logits
    with el.watch(small, el.Entropy()) as seen:
        got = small(ids).logits
    torch.testing.assert_close(got, want)
    assert len(seen) == 2
