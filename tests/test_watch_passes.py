"""What counts as one pass through a watched model, however it is called."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest
import torch
from hugging import SIZES, albert, bert, eager, llama, made, one_thread, padded, t5, text  # noqa: F401 - one_thread, for all tests here
from transformers import BertConfig, BertLMHeadModel, EncoderDecoderModel

import eyeline as el


def translator():
    """An encoder-decoder put together in memory of two models."""
    parts = bert(), made(BertLMHeadModel, BertConfig(**SIZES, is_decoder=True, add_cross_attention=True))
    return EncoderDecoderModel(encoder=parts[0], decoder=parts[1]).eval()


def inputs_of(model, batch=2):
    ids = text(batch=batch)
    given = {"input_ids": ids, "attention_mask": padded(ids, 4, "right")}
    if not model.config.is_encoder_decoder:
        return given
    target = text(7, batch=batch, seed=1)
    return {**given, "decoder_input_ids": target, "decoder_attention_mask": padded(target, 2, "right")}


def places(watched):
    return [(call.forward, call.module, call.kind, call.layer, call.first_query) for call in watched]


def same(got, want):
    assert places(got) == places(want)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one.real, other.real)
        np.testing.assert_array_equal(one.real_keys, other.real_keys)
        np.testing.assert_array_equal(one.seen.entropy, other.seen.entropy)


EVERY = pytest.mark.parametrize("make", [bert, albert, llama, t5, translator])


@EVERY
def test_forward_called_directly_is_a_pass(make):
    """As sentence-transformers calls it: no hook runs."""
    model = make()
    given = inputs_of(model)
    with el.watch(model, el.Entropy()) as want:
        [model(**given) for _ in range(3)]
    with el.watch(model, el.Entropy()) as watched:
        [model.forward(**given) for _ in range(3)]
    same(watched, want)
    assert {call.forward for call in watched} == {0, 1, 2}
    with el.watch(model, el.Entropy()) as watched:
        model(**given), model.forward(**given), model(**given)
    same(watched, want)


def test_arguments_by_position_are_known_too():
    model = t5()
    given = inputs_of(model)
    with el.watch(model, el.Entropy()) as want:
        model(**given)
    with el.watch(model, el.Entropy()) as watched:
        model.forward(*given.values())
    same(watched, want)
    assert watched.of(kind="cross")[0].real is not None


@pytest.mark.parametrize("make", [bert, albert, llama])
def test_one_layer_of_many_batches_is_kept_of_each(make):
    model = make()
    with el.watch(model, el.Entropy(), layers=[0]) as watched:
        for batch in (2, 2, 1):
            model.forward(**inputs_of(model, batch))
    assert [(call.forward, call.layer, len(call.seen.lse)) for call in watched] == [(0, 0, 2), (1, 0, 2), (2, 0, 1)]


@pytest.mark.parametrize("make", [bert, albert, llama])
def test_a_forward_that_was_taken_before_counts_too(make):
    """Bound earlier, it isn't followed: a new mask given to a module that was called before begins a pass."""
    model = make()
    forward, given = model.forward, inputs_of(model)
    with el.watch(model, el.Entropy()) as want:
        model(**given), model(**given)
    with el.watch(model, el.Entropy()) as watched:
        forward(**given), forward(**given)
    same(watched, want)


def test_parts_that_are_called_by_themselves_count_as_passes():
    model = el.attach(bert())
    hidden = torch.randn(2, 5, 32, generator=torch.Generator().manual_seed(0))
    with el.watch(model, el.Entropy()) as watched:
        model(text())
        [model.encoder(hidden) for _ in range(2)]
        model(text())
        [model.encoder.layer[1](hidden) for _ in range(2)]
    layers = [(call.forward, call.module[:15], call.layer) for call in watched]
    whole = [(n, f"encoder.layer.{layer}", layer) for n in range(4) for layer in (0, 1)]
    assert layers == [*whole, (4, "encoder.layer.1", 0), (5, "encoder.layer.1", 0)]


def test_an_error_within_forward_does_not_count_in_the_next():
    model = llama()
    with el.watch(model, el.Entropy()) as watched:
        with pytest.raises(IndexError):
            model.forward(torch.tensor([[10**6]]))
        model.forward(text())
    assert [(call.forward, call.layer) for call in watched] == [(1, 0), (1, 1)]


def test_threads_that_call_forward_count_apart():
    model, texts = llama(), [text(5 + n, seed=n) for n in range(4)]
    with el.watch(model, el.Entropy()) as watched:
        threads = [threading.Thread(target=torch.no_grad()(model.forward), args=(ids,)) for ids in texts]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert sorted((call.forward, call.layer) for call in watched) == [(n, layer) for n in range(4) for layer in (0, 1)]


@pytest.mark.parametrize("reentrant", [False, True])
def test_layers_that_are_run_again_in_a_forward_are_seen_once(reentrant):
    model, ids = llama().train(), text()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    with el.watch(model, el.Entropy()) as watched:
        for _ in range(2):
            model.forward(ids, labels=ids, use_cache=False).loss.backward()
    assert [(call.forward, call.layer) for call in watched] == [(n, layer) for n in (0, 1) for layer in (0, 1)]


def test_a_copy_made_while_watched_is_a_model_of_its_own():
    model, ids = llama(), text()
    with el.watch(model, el.Entropy()) as watched:
        other = copy.deepcopy(model)
        with torch.no_grad():
            other.lm_head.weight.zero_()
        assert not other(ids).logits.any()
        assert model(ids).logits.any()
    assert len(watched) == 2
    assert not other.forward(ids).logits.any()


def test_what_is_wrapped_around_forward_meanwhile_stays():
    model, ids, called = llama(), text(), []
    with el.watch(model, el.Entropy()) as watched:
        inner = model.forward

        def outer(*args, **kwargs):
            called.append(args)
            return inner(*args, **kwargs)

        model.forward = outer
        model(ids)
    model(ids)
    assert len(called) == 2
    assert len(watched) == 2


def test_a_forward_of_the_models_own_is_put_back():
    model, ids = llama(), text()
    model.forward = own = torch.compile(model.forward, backend="aot_eager")
    with el.watch(model, el.Entropy()) as watched:
        model(ids), model.forward(ids)
    assert model.forward is own
    assert [call.forward for call in watched] == [0, 0, 1, 1]


def test_an_encoder_decoder_put_together_in_memory_runs_on_eyeline_whole():
    """Its parts are given configurations that their own modules don't hold."""
    model = translator()
    given = inputs_of(model)
    # Not even transformers' own eager attention reaches the encoder within: by itself it is the same model.
    want = eager(bert(), given["input_ids"], attention_mask=given["attention_mask"])
    with el.watch(model, el.Weights()) as watched:
        model(**given)
    assert [(call.kind, call.layer) for call in watched.of(kind="encoder self")] == [
        ("encoder self", n) for n in (0, 1)
    ]
    assert len(watched.of(kind="decoder self")) == len(watched.of(kind="cross")) == 2
    assert not watched.missed
    real = given["attention_mask"].bool()
    for call, weights in zip(watched.of(kind="encoder self"), want.attentions, strict=True):
        got = call.seen.weights.swapaxes(1, 2)[real]
        np.testing.assert_allclose(got, weights.detach().transpose(1, 2)[real], atol=1e-6)
    configs = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}.values()
    assert {config._attn_implementation for config in configs} == {"sdpa"}
    el.attach(model)
    assert {config._attn_implementation for config in configs} == {"eyeline"}
    assert len(configs) > 3


def test_an_encoder_decoder_put_together_in_memory_is_recorded_whole():
    model = translator()
    traces = el.record({"input_ids": text(7, batch=1), "decoder_input_ids": text(4, batch=1, seed=1)}, model=model)
    assert [trace.kind for trace in traces] == ["encoder", "decoder", "cross"]
    assert [len(trace.layers) for trace in traces] == [2, 2, 2]


def test_generation_of_an_encoder_decoder_put_together_counts_steps():
    model = translator()
    with el.watch(model, el.Entropy()) as watched:
        model.generate(text(), max_new_tokens=3, do_sample=False, decoder_start_token_id=1)
    assert [call.forward for call in watched.of(kind="cross", layer=1)] == [1, 2, 3]
    assert [call.first_query for call in watched.of(kind="decoder self", layer=0)] == [0, 1, 2]
