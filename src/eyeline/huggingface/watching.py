"""Watching a model's attention while a block of code runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from eyeline.huggingface.attaching import attach, models_in
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.watched import Watched
from eyeline.huggingface.watcher import Watcher
from eyeline.readouts import Readout, several

Layers = int | str | Sequence[int | str] | None


@contextmanager
def watch(
    model: nn.Module,
    read: Readout | Sequence[Readout] = (),
    *,
    layers: Layers = None,
    heads: int | Sequence[int] | None = None,
) -> Iterator[Watched]:
    """Look into a Hugging Face model while it runs, without changing what it computes.

    Within the block the model's attention runs on Eyeline, and of every call of every attention module the readouts
    are kept, never the weights: in memory that grows with the text. After it, also after an exception, the model is as
    it was. Padding never counts: padded queries and keys are left out of all that is read. Calls that are made again in
    a backward pass (gradient checkpointing) aren't counted again. What is compiled runs uncompiled within the block.

    Args:
        model: a model of transformers 5, or a module that holds one.
        read: what to read of the weights, as for `eyeline.observe`. `MeanDistance` isn't read of cross-attention, whose
            queries stand at no key.
        layers: which layers to keep: numbers from 0, as `WatchedCall.layer`, or paths of modules, with * and ?; all if
            None.
        heads: which heads, from 0; all if None. Nothing is kept, or read, of the others.

    Yields:
        `Watched`, which grows as the model runs.

    Raises:
        TypeError: if the model, or what is to be read, is none.
        HuggingFaceError: at once if the model can't be watched (see `attach`), or is being watched; at the end if it
            ran and never called Eyeline, or if one of the layers isn't there. A ValueError.

    Warns:
        UserWarning: at the end, if some of its modules looked at something without calling Eyeline; `Watched.missed`.

    >>> import torch
    >>> from eyeline import Entropy, TopK
    >>> from transformers import BertConfig, BertModel
    >>> model = BertModel(BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32))
    >>> with watch(model, [TopK(3), Entropy()]) as seen:
    ...     _ = model(torch.arange(10)[None])
    >>> seen
    <Watched: 2 calls of 2 modules in 1 pass>
    >>> seen[1].module, seen[1].seen.top_k.keys.shape
    ('encoder.layer.1.attention.self', (1, 2, 10, 3))
    """
    name = type(models_in(model)[0]).__name__
    watcher = Watcher(model, name, several(read), _listed(layers), _heads(heads))
    with following(model, watcher):
        yield watcher.seen
    watcher.finish()


@contextmanager
def following(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    """Have a model's attention come by a watcher within the block; after it the model is as it was."""
    with ExitStack() as undo:
        # What is compiled runs as it is written, so that every call comes by.
        undo.enter_context(torch.compiler.set_stance("force_eager"))
        undo.callback(_restore, _implementations(model))
        attach(model)
        watcher.install(undo)
        yield


def _listed(layers: Layers) -> tuple[int | str, ...] | None:
    if layers is None:
        return None
    given = (layers,) if isinstance(layers, (int, str)) else tuple(layers)
    for layer in given:
        if not isinstance(layer, str) and (isinstance(layer, bool) or not isinstance(layer, int) or layer < 0):
            raise HuggingFaceError(f"layers must be numbers from 0, or paths of modules, got {layer!r}")
    return given


def _heads(heads: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if heads is None:
        return None
    given = (heads,) if isinstance(heads, int) else tuple(heads)
    for head in given:
        if isinstance(head, bool) or not isinstance(head, int) or head < 0:
            raise HuggingFaceError(f"heads must be whole numbers from 0, got {head!r}")
    if not given or len(set(given)) < len(given):
        raise HuggingFaceError(f"heads must be one or several, each once, got {heads!r}")
    return given


def _configs(model: nn.Module) -> list[Any]:
    """The configuration of every part that has its own."""
    found: dict[int, Any] = {}
    waiting: list[Any] = [part.config for part in model.modules() if isinstance(part, PreTrainedModel)]
    while waiting:
        config = waiting.pop()
        if config is not None and id(config) not in found:
            found[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(found.values())


def _implementations(model: nn.Module) -> list[tuple[Any, Any]]:
    return [(config, config._attn_implementation_internal) for config in _configs(model)]


def _restore(before: list[tuple[Any, Any]]) -> None:
    for config, implementation in before:
        config._attn_implementation_internal = implementation
