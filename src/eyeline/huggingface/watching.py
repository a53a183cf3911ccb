"""Watching a model's attention while a block of code runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

import numpy as np
import torch
from torch import nn

from eyeline.huggingface.attaching import check_attachable, set_on_eyeline
from eyeline.huggingface.call_observer import CallObserver
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.implementations import implementations, restore
from eyeline.huggingface.import_hook import NAME
from eyeline.huggingface.watched_calls import Watched
from eyeline.readouts import Readout, several
from eyeline.words import worded

Layers = int | str | Sequence[int | str] | None


@contextmanager
def watch(
    model: nn.Module,
    read: Readout | Sequence[Readout] = (),
    *,
    layers: Layers = None,
    heads: int | Sequence[int] | None = None,
) -> Iterator[Watched]:
    """Watch a Hugging Face model's attention while it runs, without changing its output.

    Within the block the model's attention runs on Eyeline, and the readouts of every call of every attention module are
    kept, but not the weights, in memory linear in the length of the text. After the block, also after an exception, the
    model is restored. Padding never counts: padded queries and keys are left out of every readout. Calls that a
    backward pass repeats (gradient checkpointing) aren't counted again. A compiled model runs uncompiled within the
    block.

    Args:
        model: a model of transformers 5, or a module that holds one.
        read: the readouts, as for `eyeline.observe`. `MeanDistance` and `OffsetMass` aren't computed for
            cross-attention, whose queries have no position among the keys.
        layers: the layers to keep: numbers from 0, as `WatchedCall.layer`, or paths of modules, with * and ?; all if
            None.
        heads: the heads to read, from 0; all if None.

    Yields:
        `Watched`, which grows as the model runs.

    Raises:
        TypeError: if `model` isn't a model, or an element of `read` isn't a readout.
        HuggingFaceError: a ValueError; at once if the model can't be watched (see `attach`) or is already being
            watched; at the end if it ran without ever calling Eyeline, or one of the layers doesn't exist.

    Warns:
        UserWarning: at the end, if some of its attention modules ran without calling Eyeline; `Watched.missed` lists
            them.

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
    observer = CallObserver(model, several(read), _checked_layers(layers), _checked_heads(heads))
    with followed(model, observer):
        yield observer.watched
    observer.finish()


class Follower(Protocol):
    """One who follows a model's calls: an observer or an editor.

    Attributes:
        parts: the model's modules, itself among them.
    """

    parts: tuple[nn.Module, ...]

    def install(self, undo: ExitStack) -> None:
        """Follow the model's calls from now on, until `undo` is closed."""


@contextmanager
def followed(model: nn.Module, follower: Follower) -> Iterator[None]:
    """Show a follower every attention call of a model within the block; afterwards restore the model."""
    with ExitStack() as undo:
        # A compiled model runs uncompiled, so that the follower sees every call.
        undo.enter_context(torch.compiler.set_stance("force_eager"))
        before = implementations(follower.parts)
        undo.callback(restore, before)
        if any(implementation != NAME for _, implementation in before):
            set_on_eyeline(model)
        else:
            check_attachable(model)
        follower.install(undo)
        yield


def _checked_layers(layers: Layers) -> tuple[int | str, ...] | None:
    if layers is None:
        return None
    given = (layers,) if isinstance(layers, (int, np.integer, str)) else tuple(layers)
    for layer in given:
        if not isinstance(layer, str) and (
            isinstance(layer, bool) or not isinstance(layer, (int, np.integer)) or layer < 0
        ):
            raise HuggingFaceError(
                worded("layers must be numbers from 0, or paths of modules, got {layer!r}", layer=layer)
            )
    return tuple(layer if isinstance(layer, str) else int(layer) for layer in given)


def _checked_heads(heads: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if heads is None:
        return None
    given = (heads,) if isinstance(heads, (int, np.integer)) else tuple(heads)
    for head in given:
        if isinstance(head, bool) or not isinstance(head, (int, np.integer)) or head < 0:
            raise HuggingFaceError(worded("heads must be whole numbers from 0, got {head!r}", head=head))
    if not given or len(set(given)) < len(given):
        raise HuggingFaceError(worded("heads must be one or several, each once, got {heads!r}", heads=heads))
    return tuple(map(int, given))
