"""Run a Hugging Face model's attention on Eyeline."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, TypeVar

from torch import nn
from transformers import PreTrainedModel

from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.implementations import out_of_reach, set_implementation
from eyeline.huggingface.import_hook import register_on_import
from eyeline.words import worded

Module = TypeVar("Module", bound=nn.Module)


def attach(model: Module) -> Module:
    """Run a loaded model's attention on Eyeline. The output stays the same, up to rounding.

    The same as loading it with `attn_implementation="eyeline"`. `model.set_attn_implementation("sdpa")` undoes it.

    Args:
        model: a model of transformers 5, or a module that holds such models (of PEFT, of sentence-transformers).

    Returns:
        The model.

    Raises:
        TypeError: if it holds no model of transformers.
        HuggingFaceError: if the model computes attention without calling transformers' attention interface, or is set
            to return all its attention weights (`config.output_attentions`); a ValueError.

    Warns:
        UserWarning: if some parts of the model compute attention without calling that interface; it names them.

    >>> import torch
    >>> from transformers import BertConfig, BertModel
    >>> _ = torch.manual_seed(0)
    >>> model = BertModel(BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32))
    >>> ids = torch.arange(10)[None]
    >>> before = model.eval()(ids).last_hidden_state
    >>> torch.allclose(attach(model)(ids).last_hidden_state, before, atol=1e-6)
    True
    """
    for root in set_on_eyeline(model):
        if missed := out_of_reach(root):
            warnings.warn(
                worded(
                    "{few} in {type} computes attention by itself; Eyeline can't reach it there",
                    few=few(missed),
                    type=type(root).__name__,
                ),
                stacklevel=2,
            )
    return model


def set_on_eyeline(model: nn.Module) -> list[PreTrainedModel]:
    """Run a model's attention on Eyeline wherever possible, as `attach` does, without its warning.

    Returns:
        The models of transformers that it is or contains.
    """
    register_on_import()
    found = check_attachable(model)
    for root in found:
        set_implementation(root)
    return found


def check_attachable(model: nn.Module) -> list[PreTrainedModel]:
    """Check that a model's attention can run on Eyeline; returns the models of transformers that it is or contains.

    Raises:
        TypeError, HuggingFaceError: as `attach`.
    """
    found = models_in(model)
    for root in found:
        _check(root)
    return found


def models_in(module: Any) -> list[PreTrainedModel]:
    """The models of transformers that a module is or contains; a model within another isn't listed.

    Raises:
        TypeError: if there is none.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(
            worded(
                "model must be a model of transformers, got {type}; load one with AutoModel", type=type(module).__name__
            )
        )
    found = list(_outermost(module))
    if not found:
        raise TypeError(
            worded(
                "model must be or hold a model of transformers, got {type}; for other modules there are "
                "eyeline.attention and eyeline.torch.MultiheadAttention",
                type=type(module).__name__,
            )
        )
    return found


def few(names: list[str]) -> str:
    """The first three names, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _outermost(module: nn.Module) -> Iterator[PreTrainedModel]:
    if isinstance(module, PreTrainedModel):
        yield module
        return
    for child in module.children():
        yield from _outermost(child)


def _check(root: PreTrainedModel) -> None:
    if not root._can_set_attn_implementation():
        raise HuggingFaceError(
            worded(
                "model must call transformers' attention interface, got {type}, which computes attention by "
                "itself or has none; Eyeline can't reach it (output_attentions=True, with "
                "attn_implementation='eager', may)",
                type=type(root).__name__,
            )
        )
    if getattr(root.config, "output_attentions", False):
        raise HuggingFaceError(
            worded(
                "config.output_attentions must be False, got True, which transformers has for eager "
                "attention alone; ask a single call for output_attentions=True, or read what you want to "
                "know with eyeline.watch"
            )
        )
