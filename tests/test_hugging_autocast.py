"""Mixed precision: models of transformers on Eyeline under `torch.autocast`, beside sdpa and eager attention."""

from __future__ import annotations

import pytest
import torch
from hugging import SIZES, bert, llama, made, one_thread, padded, t5, text  # noqa: F401 - one_thread, for all tests here
from transformers import (
    GemmaConfig,
    GemmaForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    MistralConfig,
    MistralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

import eyeline as el

_DECODER = {**SIZES, "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None}
MODELS = {
    "Llama": llama,
    "Mistral": lambda: made(MistralForCausalLM, MistralConfig(**_DECODER, sliding_window=4)),
    "Qwen 3": lambda: made(Qwen3ForCausalLM, Qwen3Config(**_DECODER, head_dim=8)),
    "Gemma": lambda: made(GemmaForCausalLM, GemmaConfig(**_DECODER, head_dim=8)),
    "GPT-2": lambda: made(GPT2LMHeadModel, GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100)),
    "BERT": bert,
    "T5": t5,
}
HALVES = [torch.bfloat16, torch.float16]


def spread(model):
    """As spread as weights are after training: a fresh model's attention is near uniform, and hides its errors."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2:
                deviation = 1.0 if "embed" in name or "bias" in name else parameter.shape[1] ** -0.5
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * deviation)
    return model


def inputs_of(model):
    ids = text()
    given = {"input_ids": ids, "attention_mask": padded(ids, 3, "right")}  # no window is all padding
    return given | ({"decoder_input_ids": text(7, seed=1)} if model.config.is_encoder_decoder else {})


def output(model, attention, dtype):
    """The model's output where it isn't padding, in float64."""
    model.set_attn_implementation(attention)
    given = inputs_of(model)
    with torch.autocast("cpu", dtype=dtype, enabled=dtype is not None), torch.no_grad():
        found = model(**given)[0].double()
    return found if model.config.is_encoder_decoder else found[given["attention_mask"].bool()]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_no_worse_than_eagers(name, dtype):
    """Against the model in float64, at most twice the error of eager attention under autocast, or of sdpa."""
    model = spread(MODELS[name]())
    truth = output(spread(MODELS[name]()).double(), "eager", None)
    ours, eager, sdpa = (
        float((output(model, attention, dtype) - truth).square().mean().sqrt())
        for attention in ("eyeline", "eager", "sdpa")
    )
    assert 0 < ours <= 2 * min(eager, sdpa)


@pytest.mark.parametrize("name", ["Llama", "T5"])
def test_gradients_are_no_worse_than_sdpas(name):
    """A step of training in mixed precision, parameters in float32."""
    found = {}
    for attention in ("eyeline", "sdpa", "truth"):
        model = spread(MODELS[name]())
        model = model.double() if attention == "truth" else model
        model.set_attn_implementation("eager" if attention == "truth" else attention)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=attention != "truth"):
            loss = model(**inputs_of(model))[0].float().square().mean()
        loss.backward()
        found[attention] = {path: p.grad.double() for path, p in model.named_parameters() if p.grad is not None}
    assert found["eyeline"].keys() == found["sdpa"].keys()
    errors = [
        sum(float((found[one][path] - want).square().sum()) for path, want in found["truth"].items()) ** 0.5
        for one in ("eyeline", "sdpa")
    ]
    assert errors[0] <= 2 * errors[1]


def test_attention_is_computed_in_autocasts_type():
    """As by sdpa: rotary models give q and k in float32, and v in half."""
    model = el.attach(llama())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        weights = model(text(), output_attentions=True).attentions[0]
        assert weights.dtype == torch.bfloat16
        with el.watch(model, el.Weights()) as watched:
            model(text())
    torch.testing.assert_close(torch.from_numpy(watched[0].seen.weights).bfloat16(), weights, rtol=0, atol=0)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
        assert model(text()).logits.dtype == torch.float32


def test_float64_stays_as_sdpa_leaves_it():
    model, ids = llama().double(), text()
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        want = model(ids).logits
        got = el.attach(model)(ids).logits
    torch.testing.assert_close(got, want)


def test_watched_checkpointed_and_generating():
    model, ids = el.attach(llama()), text()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            want = model.generate(ids, max_new_tokens=3, do_sample=False)
            model.set_attn_implementation("sdpa")
            assert torch.equal(model.generate(ids, max_new_tokens=3, do_sample=False), want)
        el.attach(model).train().gradient_checkpointing_enable({"use_reentrant": False})
        with el.watch(model, [el.Entropy(), el.Received()]) as watched:
            model(ids, labels=ids, use_cache=False).loss.backward()
    assert [call.layer for call in watched] == [0, 1]


def test_compiled_whole():
    torch._dynamo.reset()
    model, ids = el.attach(llama(layers=1)), text()
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        want = model(ids).logits
        torch.testing.assert_close(torch.compile(model, fullgraph=True, backend="aot_eager")(ids).logits, want)
