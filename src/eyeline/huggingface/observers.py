"""The observers of attention calls, by module."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Protocol

from torch import Tensor, nn

from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.errors import HuggingFaceError


class Observer(Protocol):
    """An object that observes the attention calls of a watched model, and computes their outputs."""

    def observe(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the output of a call."""


#: By the module's id, which stays valid because an observer holds its model.
_OBSERVERS: dict[int, Observer] = {}


def observer_of(module: nn.Module) -> Observer | None:
    """The observer of a module's calls, if it is watched."""
    return _OBSERVERS.get(id(module))


def check_unobserved(modules: Iterable[int]) -> None:
    """
    Raises:
        HuggingFaceError: if one of these modules, by id, is observed already.
    """
    if any(module in _OBSERVERS for module in modules):
        raise HuggingFaceError("model must be watched once at a time, got one that is being watched already")


def observe_modules(modules: Iterable[int], observer: Observer, undo: ExitStack) -> None:
    """Show an observer the calls of these modules, by id, until `undo` is closed."""
    observed = dict.fromkeys(modules, observer)
    undo.callback(_forget, observed)
    _OBSERVERS.update(observed)


def _forget(observed: Iterable[int]) -> None:
    for module in observed:
        _OBSERVERS.pop(module, None)
