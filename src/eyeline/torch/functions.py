"""Functions of the user's own, under a name by which an operator can be told of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import Any

import torch

from eyeline.forks import ForkSafeLock
from eyeline.masks import function_key, snapshot

_lock = ForkSafeLock()
_names: dict[Hashable, str] = {}
_functions: dict[str, Any] = {}
_count = itertools.count()


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def name_of(function: Callable[..., Any], live: bool = False) -> str:
    """The function's name in this process. Functions that would compute the same now share one, so that a function
    written inside a loop is kept, and compiled, once; the name stands for what is computed now, whatever changes
    later (a backward pass computes what its forward pass did).

    A `live` name stands for the function itself, and what it computes when it is asked: a compiled program keeps the
    name from its first run.
    """
    key = ("live", id(function)) if live else function_key(function)
    with _lock:
        if key not in _names:
            name = f"{getattr(function, '__qualname__', type(function).__name__)}#{next(_count)}"
            _names[key], _functions[name] = name, function if live else snapshot(function)
        return _names[key]


def named(name: str) -> Any:
    """The function of this name."""
    try:
        return _functions[name]
    except KeyError:
        raise ValueError(
            f"function must be one that this process has seen, got {name!r}; a program exported with a function of "
            f"your own runs in the process that exported it"
        ) from None
