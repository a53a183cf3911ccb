"""Traces of Hugging Face models: their weights are those of the model's own eager attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from answers import weights_of
from hugging import SIZES, albert, bert, eager, llama, made, t5, text
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    Gemma2Config,
    Gemma2ForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
    MarianConfig,
    MarianMTModel,
    ViTConfig,
    ViTModel,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

import eyeline as el
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.models import load
from eyeline.traces import Cancelled, Keep, TraceError, record, text_model
from eyeline.views.answer_pages import explanation_page
from eyeline.views.page import Page

SEQ2SEQ = {
    "vocab_size": 100,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 3,
}


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(load("minilm").source)


def bart(**changes):
    config = BartConfig(**SEQ2SEQ, forced_eos_token_id=None, max_position_embeddings=64)
    config.update(changes)
    return made(BartForConditionalGeneration, config)


def whisper():
    sizes = {**SEQ2SEQ, "num_mel_bins": 4, "max_source_positions": 15, "max_target_positions": 20}
    return made(WhisperForConditionalGeneration, WhisperConfig(**sizes))


def close(trace, attentions):
    """All weights of a trace are what transformers gives, (1, H, N, M) of each layer."""
    assert len(trace.layers) == len(attentions)
    page = Page([trace])
    for layer, want in enumerate(attentions):
        for head in range(trace.model.heads):
            expected = want[0, head].detach().double().numpy()
            np.testing.assert_allclose(trace.weights(layer, head), expected, atol=1e-5)
            np.testing.assert_allclose(weights_of(page, 0, layer, head), expected, atol=1e-5)


@pytest.mark.parametrize(("make", "kind"), [(bert, "encoder"), (albert, "encoder"), (llama, "decoder")])
def test_a_model_of_one_part_gives_one_trace(make, kind):
    model, ids = make(), text(9, batch=1)
    (trace,) = record({"input_ids": ids}, model=model)
    assert (trace.kind, trace.name, trace.keys) == (kind, "as trained", None)
    assert trace.queries.ids == tuple(ids[0].tolist())
    assert trace.model.key_heads == (2 if make is llama else 4)
    close(trace, eager(model, ids).attentions)


def marian():
    return made(MarianMTModel, MarianConfig(**SEQ2SEQ, max_position_embeddings=64))


@pytest.mark.parametrize("make", [bart, marian])
def test_an_encoder_decoder_gives_three(make):
    model, ids, answer = make(), text(7, batch=1), torch.tensor([[3, 17, 9, 40, 2]])
    traces = record({"input_ids": ids, "decoder_input_ids": answer}, model=model)
    assert [trace.kind for trace in traces] == [trace.name for trace in traces] == ["encoder", "decoder", "cross"]
    assert [len(trace.layers) for trace in traces] == [2, 3, 3]
    encoder, decoder, cross = traces
    assert (encoder.queries.ids, decoder.queries.ids) == (tuple(ids[0].tolist()), tuple(answer[0].tolist()))
    assert (cross.queries, cross.keys) == (decoder.queries, encoder.queries)
    assert decoder.layers[0].allowed.kind == "causal"
    assert cross.measures.distance is None
    want = eager(model, ids, decoder_input_ids=answer)
    close(encoder, want.encoder_attentions)
    close(decoder, want.decoder_attentions)
    close(cross, want.cross_attentions)


def test_sounds_and_pictures_are_numbered():
    model = whisper()
    sound, answer = torch.randn(1, 4, 30, generator=torch.Generator().manual_seed(0)), torch.tensor([[3, 8, 5]])
    encoder, decoder, cross = record({"input_features": sound, "decoder_input_ids": answer}, model=model)
    assert encoder.queries.pieces == cross.keys.pieces == tuple(map(str, range(15)))
    assert decoder.queries.pieces == ("3", "8", "5")
    close(cross, eager(model, sound, decoder_input_ids=answer).cross_attentions)
    sizes = {name: value for name, value in SIZES.items() if name != "vocab_size"}
    model = made(ViTModel, ViTConfig(**sizes, image_size=16, patch_size=4))
    (trace,) = record({"pixel_values": torch.zeros(1, 3, 16, 16)}, model=model)
    assert trace.queries.pieces == tuple(map(str, range(17)))


def test_without_an_answer_the_models_own_is_taken():
    model, ids = bart(), text(7, batch=1)
    model.generation_config.max_new_tokens = 9
    made_ids = model.generate(ids, do_sample=False, num_beams=1, max_new_tokens=9)[0].tolist()
    _, decoder, _ = record({"input_ids": ids}, model=model)
    assert decoder.queries.ids == tuple(made_ids[:-1])


def test_a_text_comes_through_its_tokenizer(tokenizer):
    model = made(type(bert()), type(bert().config)(**{**SIZES, "vocab_size": len(tokenizer)}))
    (trace,) = record("Time flies, naïve 👍🏽!", model=model, tokenizer=tokenizer)
    line, minilm = trace.queries, load("minilm")
    assert line == record("Time flies, naïve 👍🏽!", model=minilm).queries
    assert [line.text[slice(*word.span)] for word in line.words if word.span][:3] == ["Time", "flies", ","]
    page = el.view([trace])
    assert page.header()["traces"][0]["queries"]["text"] == "Time flies, naïve 👍🏽!"


def test_a_target_is_what_the_decoder_is_given(tokenizer):
    model = bart(vocab_size=len(tokenizer))
    model = made(BartForConditionalGeneration, model.config)
    traces = record("time flies", model=model, tokenizer=tokenizer, target="fruit flies")
    _, decoder, cross = traces
    ids = tokenizer("fruit flies")["input_ids"]
    assert decoder.queries.ids == (3, *ids[:-1])
    assert decoder.queries.text.split()[-2:] == ["fruit", "flies"]
    assert cross.keys.text == "time flies"


@pytest.mark.parametrize("what", ["text", "target"])
def test_what_is_too_long_for_the_parts_of_an_encoder_decoder_is_refused(tokenizer, what):
    model = made(BartForConditionalGeneration, bart(vocab_size=len(tokenizer)).config)
    asked = {"text": "time flies", "target": "x", what: "word " * 100}
    with pytest.raises(TraceError, match=f"^{what} must fit the 64 positions of BartForConditionalGeneration, got 102"):
        el.explain(asked.pop("text"), model=model, tokenizer=tokenizer, kind="cross", **asked)


def test_scores_that_are_more_than_products_are_refused_by_name():
    with pytest.raises(HuggingFaceError, match=r"biases added to them in encoder.block.0.layer.0.SelfAttention"):
        record({"input_ids": text(5, batch=1)}, model=t5())
    sizes = {**SIZES, "num_key_value_heads": 2, "head_dim": 8}
    gemma = made(Gemma2ForCausalLM, Gemma2Config(**sizes, attn_logit_softcapping=10.0))
    with pytest.raises(HuggingFaceError, match=r"got a cap in model.layers.0.self_attn"):
        record({"input_ids": text(5, batch=1)}, model=gemma)
    oss = made(GptOssForCausalLM, GptOssConfig(**sizes, num_local_experts=2, num_experts_per_tok=1))
    with pytest.raises(HuggingFaceError, match=r"got sinks in model.layers.0.self_attn"):
        record({"input_ids": text(5, batch=1)}, model=oss)


def test_sinks_take_their_share_of_weights_that_are_neither_saved_nor_shown(tokenizer, tmp_path):
    sizes = {**SIZES, "vocab_size": len(tokenizer), "num_key_value_heads": 2, "head_dim": 8}
    oss = made(GptOssForCausalLM, GptOssConfig(**sizes, num_local_experts=2, num_experts_per_tok=1))
    for layer in oss.model.layers:
        torch.nn.init.normal_(layer.self_attn.sinks)
    asked = text_model(oss, tokenizer)
    trace = asked.record(asked.read("time flies like an arrow"), Keep(changed_scores=True))
    for number, layer in enumerate(trace.layers):
        np.testing.assert_array_equal(layer.sinks, oss.model.layers[number].self_attn.sinks.detach().numpy())
        shares = np.exp(layer.sinks[:, None] - layer.lse)
        assert (shares > 0.01).all()
        np.testing.assert_allclose(layer.weights.sum(axis=2), 1 - shares, atol=1e-6)
        for head in range(4):
            np.testing.assert_allclose(trace.weights(number, head), layer.weights[head], atol=1e-6)
            np.testing.assert_allclose(trace.pooled(number, head, rows=1, columns=1), layer.weights[head].mean(), 1e-5)
    # A file that held q, k and lse alone would give rows that sum to 1 when all heads are read at once.
    says = "^weights must sum to 1 for a trace to be {}, got GptOssForCausalLM, whose attention sinks take a share"
    with pytest.raises(TraceError, match=says.format("saved")):
        trace.save(tmp_path / "oss.safetensors")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TraceError, match=says.format("shown on a page")):
        el.view(trace)
    found = el.explain("time flies", "flies", model=oss, tokenizer=tokenizer)
    with pytest.raises(TraceError, match=says.format("shown on a page")):
        explanation_page(found)


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"text": "time flies"}, TraceError, "^tokenizer must be given with a model of transformers and a text"),
        ({"target": "x"}, TraceError, "^target must be left out with a model that isn't an encoder-decoder"),
        ({"mask": "causal"}, TraceError, "^mask and scale must be left out with a model of transformers"),
        ({"text": {"input_ids": text(5, batch=2)}}, HuggingFaceError, "^text must be one at a time, got 2 of them"),
        ({"model": bert().train()}, HuggingFaceError, "^model must be in evaluation mode"),
        ({"model": torch.nn.Linear(1, 1)}, TypeError, "^model must be or hold a model of transformers, got Linear"),
    ],
)
def test_what_cannot_be_recorded_is_said(asked, error, says):
    given = {"text": {"input_ids": text(5, batch=1)}, "model": bert(), **asked}
    with pytest.raises(error, match=says):
        record(given.pop("text"), **given)


def test_a_model_is_afterwards_as_it_was():
    model = bert()
    before = model.config._attn_implementation
    record({"input_ids": text(5, batch=1)}, model=model)
    with pytest.raises(Cancelled):
        record({"input_ids": text(5, batch=1)}, model=model, cancelled=lambda: True)
    assert model.config._attn_implementation == before
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def test_a_view_of_texts_says_how_such_models_are_recorded():
    with pytest.raises(TraceError, match="record them with"):
        el.view("time flies", model=bert())


def test_our_own_models_take_no_tokenizer():
    with pytest.raises(TraceError, match="tokenizer must be left out"):
        record("time flies", tokenizer=object())
