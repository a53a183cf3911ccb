"""What is recorded of a model of transformers in one pass: states, logits, scores, and a text's tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hugging import SIZES, albert, bert, llama, made, one_thread, t5, text  # noqa: F401 - one_thread, for all tests here
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import Gemma2Config, Gemma2ForCausalLM, GptOssConfig, GptOssForCausalLM, PreTrainedTokenizerFast

import eyeline as el
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.model_inputs import tokenized
from eyeline.huggingface.recording import record_pass

WORDS = ["[UNK]", "[CLS]", "[SEP]", "time", "flies", "like"]


def recorded(model, inputs, **asked):
    return record_pass(model, inputs, lambda module: None, **asked)


@pytest.mark.parametrize("make", [bert, albert, llama])
def test_states_and_logits_are_transformers_own(make):
    model, ids = make(), text(7, batch=1)
    want = model(ids, output_hidden_states=True)
    found = recorded(model, {"input_ids": ids}, hidden_states=True, logits=True)
    states = found.hidden_states(found.calls[0].kind)
    assert len(states) == len(want.hidden_states) == len(found.calls) + 1
    theirs = list(want.hidden_states)
    if make is llama:  # whose last is normed in transformers
        states = [*states[:-1], model.model.norm(torch.from_numpy(states[-1])).detach().numpy()]
    for got, expected in zip(states, theirs, strict=True):
        np.testing.assert_allclose(got, expected[0].detach(), atol=2e-6)
    for earlier, later in zip(found.calls, found.calls[1:], strict=False):
        np.testing.assert_array_equal(earlier.state_after, later.state_before)
    if make is llama:
        np.testing.assert_allclose(found.logits, want.logits[0].detach(), atol=2e-6)
    else:
        assert found.logits is None


def test_an_encoder_decoders_layers_have_their_own_states():
    model, ids, answer = t5(), text(7, batch=1), text(4, batch=1, seed=1)
    asked = {"input_ids": ids, "decoder_input_ids": answer}
    found = recorded(model, asked, changed_scores=True, hidden_states=True)
    want = model(**asked, output_hidden_states=True)
    for kind, theirs in (("encoder self", want.encoder_hidden_states), ("decoder self", want.decoder_hidden_states)):
        for got, expected in zip(found.hidden_states(kind)[:-1], theirs[:-1], strict=True):
            np.testing.assert_allclose(got, expected[0].detach(), atol=2e-6)
    of_self, of_cross = ([call for call in found.calls if call.kind == kind] for kind in ("decoder self", "cross"))
    for one, other in zip(of_self, of_cross, strict=True):
        assert one.state_before is other.state_before
        assert one.layer == other.layer


def test_states_that_were_not_asked_for_are_not_there():
    found = recorded(bert(), {"input_ids": text(5, batch=1)})
    assert found.logits is found.calls[0].state_before is found.calls[0].state_after is None
    with pytest.raises(
        ValueError, match="kind must be of layers whose hidden states were recorded, got 'encoder self'"
    ):
        found.hidden_states("encoder self")
    found = recorded(bert(), {"input_ids": text(5, batch=1)}, hidden_states=True)
    with pytest.raises(ValueError, match="got 'cross'"):
        found.hidden_states("cross")


def gemma():
    config = Gemma2Config(**SIZES, num_key_value_heads=2, head_dim=8, attn_logit_softcapping=0.5, sliding_window=4)
    return made(Gemma2ForCausalLM, config)


def gpt_oss():
    sizes = {**SIZES, "num_key_value_heads": 2, "head_dim": 8}
    model = made(GptOssForCausalLM, GptOssConfig(**sizes, num_local_experts=2, num_experts_per_tok=1))
    for layer in model.model.layers:
        torch.nn.init.normal_(layer.self_attn.sinks)
    return model


@pytest.mark.parametrize("make", [bert, llama, t5, gemma, gpt_oss])
def test_what_is_recorded_gives_the_weights_and_lse_again(make):
    """q, k, mask, scale and the changes of scores are all that attention is computed from."""
    model, inputs = make(), {"input_ids": text(9, batch=1)}
    if make is t5:
        inputs["decoder_input_ids"] = text(6, batch=1, seed=1)
    found = recorded(model, inputs, changed_scores=True)
    with el.watch(model, el.Weights()) as watched:
        model(**inputs)
    assert len(found.calls) == len(watched)
    for call, want in zip(found.calls, watched, strict=True):
        scores = [] if call.softcap is None else [el.Softcap(call.softcap)]
        scores += [] if call.bias is None else [el.Bias(call.bias)]
        scores += [] if call.sinks is None else [el.Sinks(call.sinks)]
        seen = el.observe(call.q, call.k, call.v, mask=call.mask, scale=call.scale, scores=scores, read=el.Weights())
        assert (call.module, call.kind, call.layer) == (want.module, want.kind, want.layer)
        np.testing.assert_allclose(seen.weights, want.seen.weights[0], atol=1e-6)
        np.testing.assert_allclose(seen.lse, call.lse, atol=1e-5)
    assert [call.bias is None for call in found.calls] == [
        make is not t5 or call.kind == "cross" for call in found.calls
    ]
    assert (found.calls[0].softcap is None) == (make is not gemma)
    assert (found.calls[0].sinks is None) == (make is not gpt_oss)


def fast():
    backend = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, "[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing("[CLS] $0 [SEP]", None, [("[CLS]", 1), ("[SEP]", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]", pad_token="[UNK]"
    )


def test_a_fast_tokenizer_says_all():
    found = tokenized("time flies", fast())
    assert found.ids == [1, 3, 4, 2]
    assert found.pieces == ["[CLS]", "time", "flies", "[SEP]"]
    assert found.offsets == [(0, 0), (0, 4), (5, 10), (0, 0)]
    assert found.special == [True, False, False, True]
    assert found.inputs["input_ids"] == [[1, 3, 4, 2]]
    assert "special_tokens_mask" not in found.inputs


class Users:
    """A user's own tokenizer: it takes no options and gives a batch of one."""

    def __init__(self, **more):
        vars(self).update(more)

    def __call__(self, text):
        return {"input_ids": [[1, *map(WORDS.index, text.split()), 2]]}


@pytest.mark.parametrize(
    ("tokenizer", "pieces", "special"),
    [
        (Users(), ["1", "3", "4", "2"], [False] * 4),
        (
            Users(all_special_ids=[1, 2], convert_ids_to_tokens=lambda ids: [WORDS[id] for id in ids]),
            ["[CLS]", "time", "flies", "[SEP]"],
            [True, False, False, True],
        ),
        (lambda text, **options: {"input_ids": torch.tensor([[1, 3, 4, 2]])}, ["1", "3", "4", "2"], [False] * 4),
    ],
)
def test_a_users_tokenizer_may_say_less(tokenizer, pieces, special):
    found = tokenized("time flies", tokenizer)
    assert (found.ids, found.pieces, found.offsets, found.special) == ([1, 3, 4, 2], pieces, None, special)
    model = made(type(bert()), type(bert().config)(**{**SIZES, "vocab_size": len(WORDS)}))
    (trace,) = el.record("time flies", model=model, tokenizer=tokenizer)
    assert len(trace.queries) == 4


def test_what_is_no_tokenizer_is_said():
    with pytest.raises(HuggingFaceError, match="tokenizer must give a mapping with input_ids, got list"):
        tokenized("time", lambda text: [1, 2])
    with pytest.raises(HuggingFaceError, match="text must be one at a time, got 2 of them from the tokenizer"):
        tokenized("time", lambda text: {"input_ids": [[1], [2]]})
