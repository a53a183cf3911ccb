"""Projections of Hugging Face models, where their layers have the usual names; and that others are left out."""

from __future__ import annotations

import numpy as np
import pytest
from hugging import albert, bert, llama, made, one_thread, text  # noqa: F401
from test_projections import check_all
from transformers import GPT2Config, GPT2Model, Qwen3Config, Qwen3ForCausalLM, ViTConfig, ViTModel

from eyeline.traces import TraceError, record

TEXT = {"input_ids": text(batch=1)}
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}


def qwen3():
    config = Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=8, vocab_size=100)
    return made(Qwen3ForCausalLM, config)


@pytest.mark.parametrize(
    ("make", "before", "after"),
    [
        (bert, None, "LayerNorm"),
        (llama, "LlamaRMSNorm", None),
        (qwen3, "Qwen3RMSNorm", None),
    ],
)
def test_numbers_are_the_traces(make, before, after):
    (trace,) = record(TEXT, model=make(), keep=["input"])
    check_all(trace)
    found = trace.projections(1, 3)
    assert (found.norm_before, found.norm_after) == (before, after)
    assert (found.residual is found.x) == (before is None)


@pytest.mark.parametrize("name", ["L2H0", "L0H4"])
def test_a_head_beyond_its_heads_is_refused(name):
    with pytest.raises(TraceError, match=f"keep must name heads from L0H0 to L1H3, got '{name}'"):
        record(TEXT, model=qwen3(), keep=[name])
    assert list(record(TEXT, model=qwen3(), keep=["L1H3"])[0].inputs.stored) == [(1, 3)]


def test_a_pictures_patches_have_them_too():
    import torch

    model = made(ViTModel, ViTConfig(**SMALL, image_size=16, patch_size=8))
    (trace,) = record({"pixel_values": torch.randn(1, 3, 16, 16)}, model=model, keep=["input"])
    check_all(trace)


def test_what_is_added_is_what_comes_between_two_states():
    model = llama()
    (trace,) = record(TEXT, model=model, keep=["input"])
    found = trace.projections(0, 0)
    layer = model.model.layers[0]
    import torch

    with torch.no_grad():
        middle = torch.tensor(found.residual + found.added)[None]
        after = middle + layer.mlp(layer.post_attention_layernorm(middle))
    np.testing.assert_allclose(after[0], trace.projections(1, 0).residual, rtol=1e-4, atol=1e-5)


def test_vectors_are_kept_where_they_are_asked_for():
    model = llama()
    (trace,) = record(TEXT, model=model, keep=["vectors", "input"])
    assert trace.has_vectors
    for layer in range(2):
        np.testing.assert_array_equal(trace.vectors[layer], trace.projections(layer, 0).residual)
    assert record(TEXT, model=model)[0].vectors is None


def gpt2():
    return made(GPT2Model, GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100))


@pytest.mark.parametrize("make", [gpt2, albert])  # one layer for all three; a name of its own after the heads
def test_a_model_whose_projections_have_other_names_says_so(make):
    (trace,) = record(TEXT, model=make(), keep=["input"])
    with pytest.raises(TraceError, match="by a model whose projections Eyeline finds"):
        trace.projections(0, 0)
