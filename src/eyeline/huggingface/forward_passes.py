"""Which forward pass of a model an attention call belongs to, and the padding that the pass was given.

Every model and attention module within has its `forward` wrapped while it is followed. A hook wouldn't do: hooks don't
run when `forward` is called directly, as by sentence-transformers.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from eyeline.huggingface.implementations import looks_like_attention
from eyeline.huggingface.structured_mask import StructuredMask
from eyeline.huggingface.watched_call import Kind

#: Arguments of models and of attention modules that tell of a pass.
_TELLING = ("decoder_attention_mask", "key_value_states", "encoder_hidden_states")
Enter = Callable[[nn.Module, dict[str, Any]], None]
Leave = Callable[[nn.Module], None]


class FollowedForward:
    """A module's `forward`, which reports its begin and its end."""

    def __init__(self, part: nn.Module, enter: Enter, leave: Leave) -> None:
        self._part, self._enter, self._leave = part, enter, leave
        self._own = part.__dict__.get("forward")
        self._active = True
        # Generation and training read the signature of a model's `forward`.
        self.__wrapped__ = part.forward
        self._places = _places_of(type(part)) if self._own is None else _places(part.forward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._active or in_backward():
            return self.__wrapped__(*args, **kwargs)
        self._enter(self._part, self._arguments(args, kwargs))
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            self._leave(self._part)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The copied module's own `forward`, which isn't followed."""
        if self._own is not None:
            return copy.deepcopy(self._own, memo)
        copied = memo.get(id(self._part), self._part)
        return type(copied).forward.__get__(copied)

    def release(self) -> None:
        """Stop following. Later wrappers around this one stay, and so does the function that it wraps."""
        self._active = False
        if self._part.__dict__.get("forward") is not self:
            return
        if self._own is None:
            del self._part.__dict__["forward"]
        else:
            self._part.__dict__["forward"] = self._own

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call that tell of the pass, by name, and others."""
        positional = {name: args[place] for name, place in self._places if place < len(args)}
        return {**kwargs, **positional} if positional else kwargs


def _places(forward: Callable[..., Any]) -> tuple[tuple[str, int], ...]:
    """The arguments that tell of a pass and may be passed by position, with their positions."""
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [name for name, one in inspect.signature(forward).parameters.items() if one.kind in by_position]
    return tuple((name, names.index(name)) for name in _TELLING if name in names)


#: By class: reading a signature takes 30 µs, and a model has hundreds of modules.
_KNOWN_PLACES: weakref.WeakKeyDictionary[type, tuple[tuple[str, int], ...]] = weakref.WeakKeyDictionary()


def _places_of(kind: type[nn.Module]) -> tuple[tuple[str, int], ...]:
    """As `_places`, of the methods of a class, without `self`."""
    known = _KNOWN_PLACES.get(kind)
    if known is None:
        known = _KNOWN_PLACES[kind] = tuple((name, place - 1) for name, place in _places(kind.forward))
    return known


@dataclass
class RunningModule:
    """A running attention module: whether it was given separate keys, and how often it called Eyeline."""

    module: nn.Module
    cross: bool
    calls: int = 0


@dataclass
class ForwardPass(threading.local):
    """One thread's pass through the model, as far as it has come.

    Attributes:
        number: the number of the pass, from 0.
        first_query: the position of the first query in its sequence.
        tokens: bool, (B, positions), which of its positions aren't padding; None if the model wasn't told.
        layers: the number of calls so far, by kind.
        running: the attention modules that are running, the innermost last.
        depth: the number of models that are running, one within another.
        alone: in a pass whose parts are called directly, the mask that each module was last given.
    """

    number: int = 0
    first_query: int = 0
    tokens: Tensor | None = None
    layers: Counter[Kind] = field(default_factory=Counter)
    running: list[RunningModule] = field(default_factory=list)
    depth: int = 0
    alone: dict[nn.Module, StructuredMask | None] | None = None


class ForwardPasses:
    """Follows a model through its passes.

    Attributes:
        current: this thread's pass.
        count: the number of passes begun.
        silent: modules that look like attention, ran, and never called Eyeline, in order.
    """

    def __init__(self) -> None:
        self.current = ForwardPass()
        self.count = 0
        self.silent: dict[nn.Module, None] = {}
        self._numbers = itertools.count()

    def follow(self, parts: Iterable[nn.Module], undo: ExitStack) -> None:
        """Wrap `forward` of the models and attention modules among a model's parts; `undo` unwraps them."""
        for part in parts:
            if isinstance(part, PreTrainedModel):
                self._wrap(part, self._enter_model, self._leave_model, undo)
            elif looks_like_attention(part):
                self._wrap(part, self._enter_attention, self._leave_attention, undo)

    def attention_called(self, module: nn.Module, mask: StructuredMask | None) -> ForwardPass:
        """The pass that a call of attention belongs to.

        Where no model is running, a part of one was called directly, and the earlier calls show where a pass ends: a
        module that is called again begins another pass, unless it is given the same mask as last time. A pass makes
        each of its masks once, and ALBERT calls one module for all its layers.
        """
        current = self.current
        if current.depth == 0:
            if current.alone is None or self._again(current.alone, module, mask):
                self._begin()
                current.alone = {}
            assert current.alone is not None
            current.alone[module] = mask
        for running in current.running:
            running.calls += 1
        return current

    @staticmethod
    def _again(called: dict[nn.Module, StructuredMask | None], module: nn.Module, mask: StructuredMask | None) -> bool:
        return module in called and (mask is None or called[module] is not mask)

    def _begin(self) -> None:
        current = self.current
        current.number, current.first_query, current.tokens, current.alone = next(self._numbers), 0, None, None
        current.layers.clear()
        self.count = max(self.count, current.number + 1)

    def _wrap(self, part: nn.Module, enter: Enter, leave: Leave, undo: ExitStack) -> None:
        if isinstance(part, torch.jit.ScriptModule):  # of code that can't be wrapped, nor call Eyeline
            return
        followed = FollowedForward(part, enter, leave)
        part.__dict__["forward"] = followed
        undo.callback(followed.release)

    def _enter_model(self, part: nn.Module, given: dict[str, Any]) -> None:
        current = self.current
        if current.depth == 0:
            self._begin()
            current.running.clear()
        tokens = given.get("decoder_attention_mask")
        if isinstance(tokens, Tensor) and tokens.ndim == 2:
            current.tokens = tokens.bool()
        current.depth += 1

    def _leave_model(self, part: nn.Module) -> None:
        self.current.depth -= 1

    def _enter_attention(self, part: nn.Module, given: dict[str, Any]) -> None:
        cross = any(given.get(name) is not None for name in ("key_value_states", "encoder_hidden_states"))
        self.current.running.append(RunningModule(part, cross))

    def _leave_attention(self, part: nn.Module) -> None:
        if not self.current.running.pop().calls:
            self.silent[part] = None


def in_backward() -> bool:
    """Whether autograd is running the current code: earlier calls are then being repeated."""
    return torch._C._current_graph_task_id() != -1
