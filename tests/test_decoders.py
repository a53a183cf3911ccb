"""Decoders against transformers (eager attention), a tiny one of each family; what a cache and a choice promise."""

from __future__ import annotations

import numpy as np
import pytest
import tokenizers

from eyeline.models import load
from eyeline.models.decoder_config import DECODERS
from eyeline.models.rotary import SCALINGS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {
    "vocab_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 32,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "eos_token_id": 0,
}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
TINY = {
    "llama": {},
    "llama tied": {"tie_word_embeddings": True},
    "llama of one key head": {"num_key_value_heads": 1},
    "llama of as many key heads": {"num_key_value_heads": 4},
    "llama of wide heads": {"head_dim": 16, "hidden_act": "gelu_pytorch_tanh"},
    "llama with biases": {"attention_bias": True, "mlp_bias": True, "rms_norm_eps": 1e-3},
    "llama turning slower": {"rope_theta": 1e5, "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    "llama turning as llama3": {"rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", **LLAMA3}},
    "mistral": {"sliding_window": 5},
    "mistral without a window": {"sliding_window": None},
    "qwen2": {},
    "qwen2 with windows": {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    "qwen3": {"head_dim": 8, "tie_word_embeddings": True},
    "qwen3 with biases": {"head_dim": 16, "attention_bias": True},
}


def save_tiny(folder, kind, **changes):
    """A tiny model with random weights, as transformers saves it, and a tokenizer; gives transformers' model."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind.split()[0], **{**SIZES, **TINY[kind], **changes})
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    vocabulary = {f"w{number}": number for number in range(40)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, "w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return model


def random_ids(*shape):
    return np.random.default_rng(1).integers(1, 40, shape)


def assert_same(model, twin, ids, lengths=None, tolerance=1e-5):
    """Hidden states, weights and logits are those of transformers' model, where tokens are real."""
    ids = np.asarray(ids)
    real = np.arange(ids.shape[1]) < np.array(lengths or [ids.shape[1]] * len(ids))[:, None]
    with torch.no_grad():
        seen = twin(
            torch.tensor(ids), attention_mask=torch.tensor(real), output_hidden_states=True, output_attentions=True
        )
    run = model.run(ids, lengths=lengths, weights=True)
    assert len(run.layers) == len(seen.attentions) == model.config.layers
    # transformers' last hidden state is normed already.
    for ours, theirs in zip(run.hidden_states[:-1], seen.hidden_states[:-1], strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours[real], theirs.numpy()[real], rtol=tolerance, atol=tolerance)
    for layer, theirs in zip(run.layers, seen.attentions, strict=True):
        rows = np.broadcast_to(real[:, None, :], theirs.shape[:3])
        np.testing.assert_allclose(layer.weights[rows], theirs.numpy()[rows], rtol=0, atol=tolerance)
    logits = model.logits(run.hidden_states[-1][real])
    np.testing.assert_allclose(logits, seen.logits.numpy()[real], rtol=tolerance, atol=3 * tolerance)


@pytest.mark.parametrize("kind", TINY)
def test_every_family_agrees_with_transformers(tmp_path, kind):
    twin = save_tiny(tmp_path, kind)
    model = load(tmp_path)
    assert_same(model, twin, random_ids(3, 12), [12, 3, 7])
    assert_same(model, twin, random_ids(1, model.config.positions))


def test_every_family_and_every_turning_is_tested():
    assert {kind.split()[0] for kind in TINY} == set(DECODERS)
    asked = {tiny.get("rope_scaling", {}).get("rope_type", "default") for tiny in TINY.values()}
    assert asked == set(SCALINGS)
