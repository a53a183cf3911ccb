"""A registry of the user's functions by name, since a PyTorch operator can take a name but not a function."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import Any

import torch

from eyeline.forks import ForkSafeLock
from eyeline.masks import function_key, snapshot
from eyeline.words import worded

_lock = ForkSafeLock()
_names: dict[Hashable, str] = {}
_functions: dict[str, Any] = {}
_count = itertools.count()


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def name_of(function: Callable[..., Any], live: bool = False) -> str:
    """The function's name in this process. Functions with the same code and values share a name, so that a function
    defined inside a loop is stored, and compiled, once. The name means the function with its current values, whatever
    changes later (so a backward pass computes the same as its forward pass).

    A `live` name means the function itself, with its values at each call: a compiled program keeps the name from its
    first run.
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
            worded(
                "function must be one that this process has seen, got {name!r}; a program exported with a "
                "function of your own runs in the process that exported it",
                name=name,
            )
        ) from None
