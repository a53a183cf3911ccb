"""Functions of the user's own, under a name by which an operator can be told of them."""

from __future__ import annotations

import itertools
import threading
import types
from collections.abc import Callable, Hashable
from typing import Any

import torch

_lock = threading.Lock()
_names: dict[Hashable, str] = {}
_functions: dict[str, Any] = {}
_count = itertools.count()


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def name_of(function: Callable[..., Any]) -> str:
    """The function's name in this process. Functions of the same code and the same values around it share one, so that
    a function written inside a loop is kept, and compiled, once."""
    key, kept = _frozen(function)
    with _lock:
        if key not in _names:
            name = f"{getattr(function, '__qualname__', type(function).__name__)}#{next(_count)}"
            _names[key], _functions[name] = name, kept
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


def _frozen(function: Callable[..., Any]) -> tuple[Hashable, Any]:
    """What a function depends on, and the function with that as it is now; itself where that can't be said."""
    if not isinstance(function, types.FunctionType):
        return function, function
    try:
        values = tuple((type(cell.cell_contents), cell.cell_contents) for cell in function.__closure__ or ())
        key = function.__code__, function.__defaults__, values
        hash(key)
    except (TypeError, ValueError):
        return function, function
    if function.__kwdefaults__ or function.__closure__ is None:
        return (function if function.__kwdefaults__ else key), function
    cells = tuple(types.CellType(value) for _, value in values)
    kept = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    return key, kept
