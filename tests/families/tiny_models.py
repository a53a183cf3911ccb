"""Tiny random models of many families, with every feature of their attention turned on, and what each is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from eyeline.models import load
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.copies import find

WORDS, TEXTS, LENGTH = 100, 2, 12
SENTENCES = ["The quick brown fox jumps over the lazy dog, twice.", "Time flies like an arrow."]
#: How many tokens of the second text are padding.
PADDED = 4
PAIR = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
BERT = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": WORDS,
}
LLAMA = {**BERT, **PAIR, "num_key_value_heads": 2, "max_position_embeddings": 64}
BART = {
    **PAIR,
    "vocab_size": WORDS,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "decoder_start_token_id": 3,
    "forced_eos_token_id": None,
}
PICTURE = {"image_size": 16, "patch_size": 4, "num_channels": 3}
VIT = {**{name: value for name, value in BERT.items() if name != "vocab_size"}, **PICTURE}
LAYER_TYPES = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 4}


@dataclass(frozen=True)
class Given:
    """What a model is called with, and which tokens aren't padding, by what looks; None if all are."""

    inputs: dict[str, Any]
    real: dict[str, Tensor | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """What models of a kind are given, and give.

    Attributes:
        given: by kind of padding.
        outputs: the outputs that are compared, each with the kind of attention whose queries it follows.
        attentions: by kind of attention, where eager's weights of every layer are found in the output.
        paddings: those that the kind takes.
        cases: what else is run.
    """

    given: Callable[[str], Given]
    outputs: dict[str, str]
    attentions: dict[str, str]
    paddings: tuple[str, ...] = ("no padding", "left padding", "right padding")
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Family:
    """One family.

    Attributes:
        name: as its authors write it.
        model: the class of transformers; or a model of the catalogue, whose weights are real.
        kind: what it is given and gives.
        settings: of its configuration.
        features: what its attention has beside q, k and v.
        layers: how many attention layers there are, by kind.
        without: cases of its kind that it doesn't take.
    """

    name: str
    model: str
    kind: Kind
    settings: dict[str, Any]
    features: str
    layers: dict[str, int]
    without: tuple[str, ...] = ()

    def build(self) -> PreTrainedModel:
        """The model, the same every time."""
        if self.model in CATALOGUE:
            return self._real()
        made = getattr(transformers, self.model)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model: PreTrainedModel = made(without_dropout(made.config_class(**self.settings)))
            spread(model)
        if model.can_generate():
            model.generation_config.eos_token_id = None
        return model.eval()

    def _real(self) -> PreTrainedModel:
        config = without_dropout(AutoConfig.from_pretrained(folder(self.model)))
        auto = AutoModelForCausalLM if "decoder self" in self.layers else AutoModel
        model: PreTrainedModel = auto.from_pretrained(folder(self.model), config=config, dtype=torch.float32)
        if model.can_generate():
            model.generation_config.eos_token_id = None
        return model.eval()

    def cases(self) -> list[str]:
        """All that is run."""
        every = [*self.kind.paddings, *self.kind.cases, "bfloat16", "gradients", "weights"]
        return [case for case in every if case not in self.without]


def without_dropout(config: Any) -> Any:
    """A configuration whose model is the same in training."""
    for name, value in vars(config).items():
        if name in config.sub_configs and value is not None:
            without_dropout(value)
        elif "drop" in name and isinstance(value, float):
            setattr(config, name, 0.0)
    return config


@torch.no_grad()
def spread(model: PreTrainedModel) -> None:
    """As spread as weights are after training. A fresh model's attention is near uniform, its sinks and biases 0."""
    for name, parameter in model.named_parameters():
        if parameter.ndim < 2:
            parameter += 0.3 * torch.randn_like(parameter)
        else:
            near = "embed" in name or "relative_attention_bias" in name
            parameter.copy_(torch.randn_like(parameter) * (1.0 if near else parameter[0].numel() ** -0.5))


def words(seed: int, length: int = LENGTH) -> Tensor:
    return torch.randint(5, WORDS, (TEXTS, length), generator=torch.Generator().manual_seed(seed))


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def padding(kind: str, length: int, padded: int = PADDED) -> Tensor | None:
    """Which tokens are real, (TEXTS, length); the last text is padded."""
    if kind == "no padding":
        return None
    real = torch.ones(TEXTS, length, dtype=torch.bool)
    real[-1, slice(padded) if kind == "left padding" else slice(length - padded, None)] = False
    return real


def _masked(**real: Tensor | None) -> dict[str, Tensor]:
    return {name: tokens.long() for name, tokens in real.items() if tokens is not None}


def _text(kind: str, looks: str, length: int = LENGTH) -> Given:
    real = padding(kind, length)
    return Given({"input_ids": words(1, length), **_masked(attention_mask=real)}, {looks: real})


def _two_texts(kind: str) -> Given:
    source, target = padding(kind, LENGTH), padding(kind, 7, 2)
    inputs = {"input_ids": words(1), "decoder_input_ids": words(2, 7)}
    masks = _masked(attention_mask=source, decoder_attention_mask=target)
    return Given(inputs | masks, {"encoder self": source, "decoder self": target, "cross": target})


def _sound_and_text(kind: str) -> Given:
    target = padding(kind, 7, 2)
    inputs = {"input_features": numbers(1, TEXTS, 8, 30), "decoder_input_ids": words(2, 7)}
    return Given(inputs | _masked(decoder_attention_mask=target), {"decoder self": target, "cross": target})


def _picture(kind: str) -> Given:
    return Given({"pixel_values": numbers(1, TEXTS, 3, 16, 16)})


def _picture_and_text(kind: str, looks: str) -> Given:
    text = _text(kind, looks)
    return Given(_picture(kind).inputs | text.inputs, text.real)


@lru_cache
def folder(model: str) -> str:
    """Where the files of a model of the catalogue are."""
    load(model)  # which fetches it where it isn't here
    found = find(CATALOGUE[model])
    assert found is not None
    return str(found.folder)


def _sentences(kind: str, model: str) -> Given:
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{folder(model)}/tokenizer.json", pad_token="[PAD]")
    tokenizer.padding_side = "left" if kind == "left padding" else "right"
    texts = SENTENCES[:1] if kind == "no padding" else SENTENCES
    given = tokenizer(texts, padding=True, truncation=False, return_tensors="pt")
    inputs = {name: given[name] for name in ("input_ids", "attention_mask")}
    return Given(inputs, {"encoder self": given["attention_mask"].bool()})


def _wave(kind: str) -> Given:
    if kind == "no padding":
        return Given({"input_values": numbers(1, TEXTS, 60)})
    samples = padding(kind, 60, 24)
    tokens = padding(kind, 14, 6)
    return Given({"input_values": numbers(1, TEXTS, 60), **_masked(attention_mask=samples)}, {"encoder self": tokens})


def _block_of_picture(kind: str) -> Given:
    """A picture of four tokens amid a text; the padding is before or behind both."""
    text = _text(kind, "decoder self")
    first = PADDED + 1
    text.inputs["input_ids"][:, first : first + 4] = 4
    types = torch.zeros_like(text.inputs["input_ids"])
    types[:, first : first + 4] = 1
    pixels = _picture(kind).inputs
    return Given({**text.inputs, **pixels, "token_type_ids": types}, text.real)


def _prefix(kind: str) -> Given:
    """A picture of 16 tokens and a text whose first half all see; the padding is before or behind both."""
    text = _text(kind, "decoder self", 16 + LENGTH)
    at = slice(PADDED, PADDED + 16)
    text.inputs["input_ids"][:, at] = 4
    types = torch.zeros_like(text.inputs["input_ids"])
    types[:, PADDED + 16 + 4 :] = 1
    return Given({**text.inputs, **_picture(kind).inputs, "token_type_ids": types}, text.real)


ENCODER = Kind(
    lambda padding: _text(padding, "encoder self"),
    {"last_hidden_state": "encoder self"},
    {"encoder self": "attentions"},
)
DECODER = Kind(
    lambda padding: _text(padding, "decoder self"),
    {"logits": "decoder self"},
    {"decoder self": "attentions"},
    cases=("generate", "static cache", "in two parts", "packed"),
)
TRANSLATOR = Kind(
    _two_texts,
    {"logits": "decoder self", "encoder_last_hidden_state": "encoder self"},
    {"encoder self": "encoder_attentions", "decoder self": "decoder_attentions", "cross": "cross_attentions"},
    cases=("generate", "static cache"),
)
LISTENER = Kind(_sound_and_text, TRANSLATOR.outputs, TRANSLATOR.attentions, cases=("generate", "static cache"))
VISION = Kind(_picture, ENCODER.outputs, ENCODER.attentions, paddings=("no padding",))
SOUND = Kind(_wave, ENCODER.outputs, ENCODER.attentions, paddings=("no padding", "right padding"))
CLIP = Kind(
    lambda padding: _picture_and_text(padding, "decoder self"),
    {
        "image_embeds": "",
        "text_embeds": "",
        "text_model_output.last_hidden_state": "decoder self",
        "vision_model_output.last_hidden_state": "encoder self",
    },
    {"decoder self": "text_model_output.attentions", "encoder self": "vision_model_output.attentions"},
)
READER = Kind(_block_of_picture, DECODER.outputs, DECODER.attentions, cases=("generate", "static cache"))
PREFIX = replace(READER, given=_prefix)


def real_encoder(name: str, model: str, features: str, layers: int) -> Family:
    """A real checkpoint of the catalogue, an encoder of text."""
    kind = replace(ENCODER, given=lambda padding: _sentences(padding, model))
    return Family(name, model, kind, {}, features, {"encoder self": layers})


def real_decoder(name: str, model: str, features: str, layers: int) -> Family:
    """A real checkpoint of the catalogue, a decoder. Gradients through so many layers differ by rounding alone."""
    return Family(name, model, DECODER, {}, features, {"decoder self": layers}, ("gradients",))


def decoder(name: str, model: str, features: str, without: Sequence[str] = (), **settings: Any) -> Family:
    """A family of decoders."""
    layers = {"decoder self": settings.get("num_hidden_layers", 2)}
    return Family(name, model, DECODER, {**LLAMA, **settings}, features, layers, tuple(without))


def encoder(name: str, model: str, features: str, **settings: Any) -> Family:
    """A family of encoders of text."""
    return Family(name, model, ENCODER, {**BERT, "pad_token_id": 0, **settings}, features, {"encoder self": 2})


def translator(name: str, model: str, features: str, **settings: Any) -> Family:
    """A family of encoders with decoders, both of text."""
    layers = {"encoder self": 2, "decoder self": 2, "cross": 2}
    return Family(name, model, TRANSLATOR, settings or BART, features, layers)
