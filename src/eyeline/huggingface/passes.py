"""Following a model through its passes: which attention modules run, and what a pass is told, by hooks."""

from __future__ import annotations

import inspect
import itertools
import threading
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from eyeline.huggingface.watched import Kind


@dataclass
class Inside:
    """An attention module that is running: whether it was given keys of its own, and how often Eyeline was called."""

    module: nn.Module
    cross: bool
    calls: int = 0


@dataclass
class Pass(threading.local):
    """Where one thread is in its pass through the model.

    Attributes:
        forward: the number of the pass.
        first_query: the position of the first query in the sequence that looks.
        tokens: bool, (B, positions), which of its positions aren't padding, where the model was told.
        layers: how many calls there were of each kind.
        inside: the attention modules that are running, the innermost last.
        depth: how many models are running, one in another.
    """

    forward: int = 0
    first_query: int = 0
    tokens: Tensor | None = None
    layers: Counter[Kind] = field(default_factory=Counter)
    inside: list[Inside] = field(default_factory=list)
    depth: int = 0


class Passes:
    """Hooks on a model.

    Attributes:
        now: the pass of this thread.
        count: how many passes began.
        silent: modules that look like attention, ran, and never called Eyeline, in order.
    """

    def __init__(self) -> None:
        self.now = Pass()
        self.count = 0
        self.silent: dict[nn.Module, None] = {}
        self._numbers = itertools.count()

    def follow(self, model: nn.Module, undo: ExitStack) -> None:
        """Hang on to the model; `undo` lets go of it."""
        for part in model.modules():
            if isinstance(part, PreTrainedModel):
                before, after = self._enter_model, self._leave_model
            elif "attention" in type(part).__name__.lower():
                before, after = self._enter_attention, self._leave_attention
            else:
                continue
            undo.callback(part.register_forward_pre_hook(before, with_kwargs=True).remove)
            undo.callback(part.register_forward_hook(after, always_call=True).remove)

    def _enter_model(self, part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if in_backward():
            return
        now = self.now
        if now.depth == 0:
            now.forward, now.first_query, now.tokens = next(self._numbers), 0, None
            now.layers.clear()
            now.inside.clear()
            self.count = max(self.count, now.forward + 1)
        tokens = kwargs.get("decoder_attention_mask")
        if isinstance(tokens, Tensor) and tokens.ndim == 2:
            now.tokens = tokens.bool()
        now.depth += 1

    def _leave_model(self, part: nn.Module, args: Any, output: Any) -> None:
        if not in_backward():
            self.now.depth -= 1

    def _enter_attention(self, part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not in_backward():
            self.now.inside.append(Inside(part, _is_given_keys(part, args, kwargs)))

    def _leave_attention(self, part: nn.Module, args: Any, output: Any) -> None:
        if in_backward():
            return
        inside = self.now.inside
        while inside and inside[-1].module is not part:  # those that an error left
            inside.pop()
        if inside and not inside.pop().calls:
            self.silent[part] = None


def in_backward() -> bool:
    """Whether autograd is running what is run: what was called before is being called again."""
    return torch._C._current_graph_task_id() != -1


def _is_given_keys(part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an attention module is given the tokens of another sequence to look at."""
    try:
        given = inspect.signature(part.forward).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = kwargs
    given = {**given, **given.get("kwargs", {})}
    return any(given.get(name) is not None for name in ("key_value_states", "encoder_hidden_states"))
