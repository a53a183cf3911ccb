"""Small models of transformers with random weights, for the tests of `eyeline.huggingface`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

VOCABULARY = 100
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "vocab_size": VOCABULARY,
}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Products this small are slower on several threads. A test module takes this by importing it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def made(model: type[PreTrainedModel], config: Any) -> Any:
    """A model in evaluation mode, always with the same weights."""
    torch.manual_seed(0)
    return model(config).eval()


def bert(layers: int = 2) -> BertModel:
    return made(BertModel, BertConfig(**{**SIZES, "num_hidden_layers": layers}))


def albert() -> AlbertModel:
    return made(AlbertModel, AlbertConfig(**{**SIZES, "num_hidden_layers": 5}, embedding_size=16))


def llama(layers: int = 2) -> LlamaForCausalLM:
    sizes = {**SIZES, "num_hidden_layers": layers}
    config = LlamaConfig(**sizes, num_key_value_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=None)
    return made(LlamaForCausalLM, config)


def t5() -> T5ForConditionalGeneration:
    sizes = {"d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 32, "vocab_size": VOCABULARY}
    return made(T5ForConditionalGeneration, T5Config(**sizes, decoder_start_token_id=0))


def text(tokens: int = 12, batch: int = 2, seed: int = 0) -> torch.Tensor:
    """Token ids."""
    return torch.randint(5, VOCABULARY, (batch, tokens), generator=torch.Generator().manual_seed(seed))


def padded(ids: torch.Tensor, count: int, side: str) -> torch.Tensor:
    """An attention mask for a batch whose last text has `count` tokens of padding."""
    tokens = torch.ones_like(ids)
    tokens[-1, slice(None, count) if side == "left" else slice(ids.shape[1] - count, None)] = 0
    return tokens


def eager(model: PreTrainedModel, *args: Any, **kwargs: Any) -> Any:
    """What the model gives with its own attention, and all its weights."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        return model(*args, **kwargs, output_attentions=True)
    finally:
        model.set_attn_implementation(before)
