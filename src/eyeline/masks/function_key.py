"""The cache key of a user's function: its code, and the current values that it reads."""

from __future__ import annotations

import hashlib
import itertools
import sys
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from eyeline.words import worded

#: Modules whose attributes are taken as constant, and which Numba knows by identity.
_FIXED = {*sys.stdlib_module_names, "numpy", "numba"}


def function_key(function: Callable[..., Any]) -> Hashable:
    """A hashable key, equal for two functions exactly where they have the same code and read the same values.

    The values are those of defaults, variables of enclosing functions, globals and attributes of modules, read by the
    function, by functions written inside it and by functions that it calls, as they are now. So a function that is
    defined again with the same values has the same key, and one that reads a global has another key once the global has
    changed. 1, 1.0 and True are different. Values other than numbers, text, arrays, tuples and functions are compared
    by identity.

    >>> def within(reach):
    ...     return lambda b, h, i, j: abs(i - j) <= reach
    >>> function_key(within(1)) == function_key(within(1)), function_key(within(1)) == function_key(within(2))
    (True, False)
    """
    return _function(function, ())


def plain_function(function: Any) -> Any:
    """The Python function inside one that Numba has wrapped; any other value as it is."""
    return getattr(function, "py_func", function)


def check_function(name: str, given: Any, takes: Callable[[], str]) -> None:
    """Check that `given` is a function that Numba could compile; `takes` says in errors what it takes and gives.

    Raises:
        TypeError: if it isn't a Python function, or one that Numba has wrapped.
    """
    if isinstance(given, types.FunctionType) or isinstance(plain_function(given), types.FunctionType):
        return
    hint = ""
    if callable(given):
        hint = worded("; only a def or a lambda can be compiled: write one that has the values it needs beside it")
    raise TypeError(
        worded(
            "{name} must be a function {takes}, got {given!r}{hint}", name=name, takes=takes(), given=given, hint=hint
        )
    )


def snapshot(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function that is bound to the current values of its variables; it has the same key."""
    function = plain_function(function)
    return (
        _copied(function, names_read(function.__code__), {}) if isinstance(function, types.FunctionType) else function
    )


def names_read(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals and attributes in a function's code and in the code of functions inside it."""
    inside = [names_read(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return tuple(dict.fromkeys([*code.co_names, *itertools.chain.from_iterable(inside)]))


class _Same:
    """A value compared by identity; it is kept alive, so that its id isn't reused."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __hash__(self) -> int:
        return id(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value


def _function(function: Any, inside: tuple[Any, ...]) -> Hashable:
    """A function's key; `inside` are the functions and modules around it, outermost first, for recursive functions."""
    function = plain_function(function)
    if not isinstance(function, types.FunctionType):
        return _Same(function)
    if id(function) in map(id, inside):
        return "again", list(map(id, inside)).index(id(function))
    inside = (*inside, function)
    names = names_read(function.__code__)
    found = function.__globals__
    return (
        function.__code__,
        _value(function.__defaults__, names, inside),
        tuple((name, _value(value, names, inside)) for name, value in sorted((function.__kwdefaults__ or {}).items())),
        tuple(_cell(cell, names, inside) for cell in function.__closure__ or ()),
        tuple((name, _value(found[name], names, inside)) for name in names if name in found),
    )


def _cell(cell: types.CellType, names: tuple[str, ...], inside: tuple[Any, ...]) -> Hashable:
    try:
        value = cell.cell_contents
    except ValueError:
        return "nothing yet"
    return _value(value, names, inside)


def _value(value: Any, names: tuple[str, ...], inside: tuple[Any, ...]) -> Hashable:
    """A value's type and content; for a module, its attributes among `names`."""
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return type(value), value
    if isinstance(value, (float, complex)):
        return type(value), repr(value)  # -0.0 equals 0.0, and NaN doesn't equal itself
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        content = hashlib.blake2b(np.ascontiguousarray(value).tobytes()).digest()
        return type(value), str(value.dtype), value.shape, content
    if isinstance(value, tuple):
        return type(value), tuple(_value(part, names, inside) for part in value)
    if isinstance(value, types.ModuleType):
        held = vars(value)
        if id(value) in map(id, inside):  # a module may hold itself
            return "again", list(map(id, inside)).index(id(value))
        read = tuple((name, _value(held[name], names, (*inside, value))) for name in names if name in held)
        return "module", value.__name__, read
    if isinstance(plain_function(value), types.FunctionType):
        return _function(value, inside)
    return _Same(value)


def _copied(value: Any, names: tuple[str, ...], done: dict[int, Any]) -> Any:
    """A deep copy of a value; `done` maps the id of each value copied so far to its copy."""
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_copied(part, names, done) for part in value)
    if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] not in _FIXED:
        copy: Any = types.ModuleType(value.__name__)
        done[id(value)] = copy
        vars(copy).update({name: _copied(vars(value)[name], names, done) for name in names if name in vars(value)})
        return copy
    if not isinstance(value, types.FunctionType):
        return value
    read, globals_ = names_read(value.__code__), dict[str, Any]()
    cells = tuple(types.CellType() for _ in value.__closure__ or ())
    copy = types.FunctionType(value.__code__, globals_, value.__name__, value.__defaults__, cells)
    done[id(value)] = copy
    copy.__defaults__ = _copied(value.__defaults__, read, done)
    copy.__kwdefaults__ = value.__kwdefaults__ and {
        name: _copied(one, read, done) for name, one in value.__kwdefaults__.items()
    }
    globals_.update({name: _copied(value.__globals__[name], read, done) for name in read if name in value.__globals__})
    for cell, old in zip(cells, value.__closure__ or (), strict=True):
        try:
            cell.cell_contents = _copied(old.cell_contents, read, done)
        except ValueError:  # nothing in it yet
            continue
    return copy
