"""Models that compute attention by themselves: attach and watch say so, and never give less in silence."""

from __future__ import annotations

import re
import warnings

import pytest
import torch
import transformers
from families.tiny_models import BART, BERT, VIT, WORDS, words
from transformers import PreTrainedModel

import eyeline as el
from eyeline.huggingface.attention_interface import attend
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.mask_interface import mask

_GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": WORDS}
_GPT_NEO = {
    "hidden_size": 32,
    "num_layers": 2,
    "num_heads": 4,
    "vocab_size": WORDS,
    "attention_types": [[["global", "local"], 1]],
    "window_size": 4,
}
_XLNET = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48, "vocab_size": WORDS}
_MPT = {"d_model": 32, "n_layers": 2, "n_heads": 4, "vocab_size": WORDS, "max_seq_len": 64}
_LONG = {**BERT, "attention_window": 4, "pad_token_id": 1}
APART = {
    "MPNetModel": BERT,
    "DebertaModel": BERT,
    "DebertaV2Model": BERT,
    "GPTNeoModel": _GPT_NEO,
    "BloomModel": {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": WORDS},
    "FalconModel": BERT,
    "XLNetModel": _XLNET,
    "LongformerModel": _LONG,
    "MptModel": _MPT,
    "OpenAIGPTModel": _GPT,
}
EVERY = pytest.mark.parametrize("name", APART)


def made(name: str, attention: str | None = None, **settings: object) -> PreTrainedModel:
    of = getattr(transformers, name)
    config = of.config_class(**(APART.get(name, {}) | settings))
    torch.manual_seed(0)
    return of._from_config(config, attn_implementation=attention).eval()


def says(name: str) -> str:
    return re.escape(
        f"model must call transformers' attention interface, got {name}, which computes attention by itself"
    )


@EVERY
def test_attaching_is_refused_by_the_models_name(name):
    model = made(name)
    before = model.config._attn_implementation
    with pytest.raises(HuggingFaceError, match=says(name) + r".*output_attentions=True"):
        el.attach(model)
    assert model.config._attn_implementation == before


@EVERY
def test_watching_is_refused_before_anything_runs(name):
    model = made(name)
    with pytest.raises(HuggingFaceError, match=says(name)), el.watch(model, el.Entropy()):
        pytest.fail("the block began")
    model(words(1))


@EVERY
def test_loaded_with_eyeline_it_is_refused_by_transformers_or_by_watch(name):
    try:
        model = made(name, "eyeline")
    except (ValueError, KeyError) as refused:
        assert "eyeline" in str(refused)  # noqa: PT017 - transformers' own words
        return
    with pytest.raises(HuggingFaceError, match=says(name)), el.watch(model, el.Entropy()):
        pytest.fail("the block began")


def reader(decoder: str, **settings: object) -> PreTrainedModel:
    """A ViT whose pictures are read aloud by a decoder."""
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        transformers.ViTConfig(**VIT), getattr(transformers, decoder)(**settings)
    )
    torch.manual_seed(0)
    return transformers.VisionEncoderDecoderModel(config).eval()


def test_a_part_out_of_reach_is_warned_of_and_listed_as_missed():
    model = reader("TrOCRConfig", **BART)
    pixels = torch.randn(2, 3, 16, 16)
    before = model(pixel_values=pixels, decoder_input_ids=words(1)).logits
    with (
        pytest.warns(UserWarning, match=r"^decoder\.model\.decoder\.layers\.0\.self_attn.*nothing was read of it$"),
        el.watch(model, el.Entropy()) as seen,
    ):
        during = model(pixel_values=pixels, decoder_input_ids=words(1)).logits
    torch.testing.assert_close(during, before, rtol=0, atol=1e-5)
    parts = [
        f"decoder.model.decoder.layers.{layer}.{part}" for layer in (0, 1) for part in ("self_attn", "encoder_attn")
    ]
    assert list(seen.missed) == parts
    assert {call.module.split(".")[0] for call in seen} == {"encoder"}
    assert len(seen) == 2


def test_attaching_names_the_parts_that_stay_elsewhere():
    model = reader("TrOCRConfig", **BART)
    first = (
        r"^decoder\.model\.decoder\.layers\.0\.self_attn, decoder.* and 1 more in VisionEncoderDecoderModel computes"
    )
    with pytest.warns(UserWarning, match=first):
        el.attach(model)
    model = transformers.SiglipVisionModel(transformers.SiglipVisionConfig(**VIT))
    with pytest.warns(UserWarning, match=r"^head\.attention in SiglipVisionModel computes attention by itself"):
        el.attach(model)


def test_parts_that_are_all_within_reach_are_not_warned_of():
    model = reader("BertConfig", **BERT, is_decoder=True, add_cross_attention=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with el.watch(model, el.Entropy()) as seen:
            model(pixel_values=torch.randn(2, 3, 16, 16), decoder_input_ids=words(1))
    assert [call.kind for call in seen] == ["encoder self"] * 2 + ["decoder self", "cross"] * 2
    assert not seen.missed


def test_pytorchs_own_attention_within_a_model_is_missed():
    config = transformers.SiglipVisionConfig(**VIT)
    model = transformers.SiglipVisionModel(config).eval()
    with pytest.warns(UserWarning, match="nothing was read of it"), el.watch(model, el.Entropy()) as seen:
        model(torch.randn(2, 3, 16, 16))
    assert "head.attention" in seen.missed
    assert len(seen) == 2


def padded() -> dict[str, torch.Tensor]:
    tokens = torch.ones_like(words(1))
    tokens[1, 8:] = 0
    return {"input_ids": words(1), "attention_mask": tokens}


def beside_eager(model: PreTrainedModel) -> tuple[torch.Tensor, torch.Tensor]:
    """The model's output on Eyeline, and on eager attention, of tokens that aren't padding."""
    given = padded()
    found = []
    for attention in ("eyeline", "eager"):
        model.set_attn_implementation(attention)
        with torch.no_grad():
            found.append(model(**given).last_hidden_state[given["attention_mask"].bool()])
    return found[0], found[1]


def test_a_model_that_looks_into_its_mask_gets_the_tensor():
    settings = {**BERT, "num_key_value_heads": 2, "keep_window_size": 4, "pad_token_id": 0}
    model = made("DogeModel", "eager", **settings)
    ours, eager = beside_eager(model)
    torch.testing.assert_close(ours, eager, rtol=0, atol=1e-5)


def test_a_part_that_adds_the_mask_to_scores_of_its_own_runs_as_ever_and_is_missed():
    settings = {**BART, "attention_type": "original_full", "max_position_embeddings": 64}
    model = made("BigBirdPegasusModel", "eager", **settings)
    ours, eager = beside_eager(model)
    torch.testing.assert_close(ours, eager, rtol=0, atol=1e-5)
    with pytest.warns(UserWarning, match="nothing was read of it"), el.watch(model, el.Entropy()) as seen:
        model(**padded())
    assert [call.kind for call in seen] == ["decoder self", "cross"] * 2
    assert {path.split(".")[0] for path in seen.missed} == {"encoder"}


def test_masks_that_a_model_joins_are_tensors_joined():
    one, other = (
        mask(2, 12, length, attention_mask=padded()["attention_mask"].bool()[:, :length]) for length in (12, 6)
    )
    joined = torch.cat([one, other], dim=-1)
    assert torch.equal(joined, torch.cat([one.dense(), other.dense()], dim=-1))
    assert joined.shape == (2, 1, 12, 18)


@pytest.mark.parametrize("dtype", [torch.bool, torch.long])
def test_a_mask_of_three_axes_is_refused(dtype):
    model = el.attach(transformers.BertModel(transformers.BertConfig(**BERT)))
    three = torch.ones(2, 12, 12).tril().to(dtype)
    with pytest.raises(HuggingFaceError, match=r"attention_mask must be \(texts, tokens\).*, got 2 × 12 × 12"):
        model(words(1), attention_mask=three)


def test_sinks_of_each_query_are_refused_not_left_out():
    q = torch.ones(1, 2, 3, 4)
    with pytest.raises(HuggingFaceError, match="one number per head, got one per query in Module"):
        attend(torch.nn.Module(), q, q, q, None, sinks=torch.zeros(1, 2, 3, 1))
