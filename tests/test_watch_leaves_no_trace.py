"""A watched model computes what it computes unwatched, and is afterwards as it was."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
import torch
from hugging import SIZES, albert, bert, llama, one_thread, padded, t5, text  # noqa: F401 - one_thread, for all tests here
from transformers import CLIPConfig, CLIPModel, MPNetConfig, MPNetModel

import eyeline as el
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.observers import _FOLLOWERS

ALL = [
    el.TopK(2),
    el.Entropy(),
    el.Received(),
    el.MeanDistance(),
    el.OffsetMass([-1, 0, 1]),
    el.Pooled(3, 3),
    el.Weights(queries=-1),
]


def traces(model: torch.nn.Module) -> list[object]:
    """All that could be left on a model."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_forward_hooks_always_called")
    kept = [{name: len(getattr(part, name)) for name in hooks} for part in model.modules()]
    configs = [part.config._attn_implementation for part in model.modules() if hasattr(part, "config")]
    return [kept, configs, [sorted(vars(part)) for part in model.modules()], dict(_FOLLOWERS)]


def clip() -> CLIPModel:
    torch.manual_seed(0)
    vision = {**SIZES, "image_size": 16, "patch_size": 8}
    return CLIPModel(
        CLIPConfig(vision_config=vision, text_config={**SIZES, "eos_token_id": 2}, projection_dim=8)
    ).eval()


@pytest.mark.parametrize("side", [None, "left", "right"])
@pytest.mark.parametrize("make", [bert, albert, llama])
def test_the_output_is_the_same_to_the_bit(make, side):
    model, ids = el.attach(make()), text()
    tokens = None if side is None else padded(ids, 3, side)
    before = model(ids, attention_mask=tokens)[0]
    for heads in (None, [2]):
        with el.watch(model, ALL, heads=heads):
            during = model(ids, attention_mask=tokens)[0]
        assert torch.equal(before, during)
    assert torch.equal(before, model(ids, attention_mask=tokens)[0])


def test_gradients_are_the_same_to_the_bit():
    found = []
    for watched in (False, True):
        model, ids = el.attach(llama()).train(), text()
        if watched:
            with el.watch(model, ALL):
                model(ids, labels=ids).loss.backward()
        else:
            model(ids, labels=ids).loss.backward()
        found.append([parameter.grad for parameter in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("reentrant", [False, True])
def test_layers_that_are_run_again_are_seen_once(reentrant):
    """Gradient checkpointing: the same gradients, dropout and all."""
    found = []
    for checkpointed in (False, True):
        model, ids = llama(), text()
        for layer in model.model.layers:
            layer.self_attn.attention_dropout = 0.3
        model = el.attach(model).train()
        if checkpointed:
            model.gradient_checkpointing_enable({"use_reentrant": reentrant})
        torch.manual_seed(3)
        with el.watch(model, el.Entropy()) as seen:
            model(ids, labels=ids, use_cache=False).loss.backward()
        assert [call.layer for call in seen] == [0, 1]
        found.append([parameter.grad for parameter in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("make", [bert, llama, t5, clip])
def test_nothing_is_kept_on_the_model(make):
    model = make()
    before = traces(model)
    with el.watch(model, ALL):
        assert traces(model) != before
    assert traces(model) == before


def test_nothing_is_kept_after_an_error():
    model = llama()
    before = traces(model)

    def fail():
        with el.watch(model, ALL):
            model(text())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with pytest.raises(ValueError, match="groups must be one per key"), el.watch(model, el.GroupMass([0, 1])):
        model(text())
    assert traces(model) == before
    with el.watch(model, el.Entropy()) as seen:  # and the next block counts from the beginning
        model(text())
    assert [(call.forward, call.layer) for call in seen] == [(0, 0), (0, 1)]


def test_an_error_within_a_pass_does_not_count_in_the_next():
    model = llama()
    with el.watch(model, el.Entropy()) as seen:
        with pytest.raises(IndexError):
            model(torch.tensor([[10**6]]))
        model(text())
    assert [(call.forward, call.layer) for call in seen] == [(1, 0), (1, 1)]


def test_nothing_holds_the_model_afterwards():
    model = bert()
    gone = weakref.ref(model)
    with el.watch(model, el.Entropy()) as seen:
        model(text())
    del model
    gc.collect()
    assert gone() is None
    assert len(seen) == 2


def test_parts_of_a_model_keep_their_own_implementations():
    model = clip()
    model.set_attn_implementation({"vision_config": "eager", "text_config": "sdpa"})
    before = [part.config._attn_implementation for part in (model.vision_model, model.text_model)]
    with el.watch(model, el.Entropy()) as seen:
        model(input_ids=text(), pixel_values=torch.randn(2, 3, 16, 16))
    assert {call.kind for call in seen} == {"encoder self", "decoder self"}
    assert [part.config._attn_implementation for part in (model.vision_model, model.text_model)] == before


def test_a_model_is_watched_once_at_a_time():
    model = llama()
    with (
        el.watch(model, el.Entropy()),
        pytest.raises(HuggingFaceError, match="model must be watched once at a time"),
        el.watch(model.model),
    ):
        pass
    with el.watch(model, el.Entropy()) as one, el.watch(bert(), el.Entropy()) as other:
        model(text())
    assert (len(one), len(other)) == (2, 0)


def test_two_threads_in_one_watched_model():
    model, texts = llama(), [text(5 + n, seed=n) for n in range(4)]
    with torch.no_grad():
        with el.watch(model, el.Entropy()) as alone:
            for ids in texts:
                model(ids)
        with el.watch(model, el.Entropy()) as seen:
            threads = [threading.Thread(target=torch.no_grad()(model), args=(ids,)) for ids in texts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert sorted((call.forward, call.layer) for call in seen) == [(n, layer) for n in range(4) for layer in (0, 1)]
    for want in alone:
        (got,) = [call for call in seen if call.layer == want.layer and call.keys == want.keys]
        np.testing.assert_array_equal(got.seen.entropy, want.seen.entropy)


def test_a_model_that_never_calls_us_is_noticed():
    torch.manual_seed(0)
    model = MPNetModel(MPNetConfig(**SIZES)).eval()
    with pytest.raises(HuggingFaceError, match="got MPNetModel, which computes attention by itself"), el.watch(model):
        model(text())


def test_a_module_that_looks_without_us_is_named():
    """One part of the model with an attention of its own."""

    class OwnAttention(torch.nn.Module):
        def forward(self, hidden_states, *args, **kwargs):
            return hidden_states, None

    model = llama()
    model.model.layers[1].self_attn = OwnAttention()
    with (
        pytest.warns(UserWarning, match=r"model\.layers\.1\.self_attn in LlamaForCausalLM ran without"),
        el.watch(model, el.Entropy()) as seen,
    ):
        model(text())
    assert seen.missed == ("model.layers.1.self_attn",)
    assert len(seen) == 1


def test_a_model_that_has_lost_all_our_calls_is_noticed():
    class OwnAttention(torch.nn.Module):
        def forward(self, hidden_states, *args, **kwargs):
            return hidden_states, None

    model = llama()
    for layer in model.model.layers:
        layer.self_attn = OwnAttention()
    with pytest.raises(HuggingFaceError, match=r"ran \(2 × here\) and never did"), el.watch(model):
        [model(text()) for _ in range(2)]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"layers": 2}, "layers must be of this model, got 2, which was never called; called were numbers up to 1"),
        ({"layers": "encoder.*"}, r"layers must be of this model, got 'encoder\.\*'"),
        ({"layers": -1}, "layers must be numbers from 0, or paths of modules, got -1"),
        ({"layers": [True]}, "layers must be numbers from 0, or paths of modules, got True"),
        ({"heads": 4}, "heads must be from 0 to 3 in model.layers.0.self_attn, got 4"),
        ({"heads": [0, 0]}, "heads must be one or several, each once"),
        ({"heads": []}, "heads must be one or several, each once"),
        ({"heads": [1.0]}, "heads must be whole numbers from 0, got 1.0"),
        ({"read": [el.TopK(1), el.TopK(2)]}, "read must hold each kind of readout once"),
    ],
)
def test_what_cannot_be_watched_is_said(asked, message):
    model = llama()
    before = traces(model)
    with pytest.raises(ValueError, match=message), el.watch(model, **asked):
        model(text())
    assert traces(model) == before


def test_what_is_no_readout_is_said_before_the_model_runs():
    with pytest.raises(TypeError, match="read must hold readouts"), el.watch(llama(), ["entropy"]):
        raise AssertionError("the block must not run")
