"""What a user's function would compute now, as a value that can be compared: the key of whatever is compiled for it."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np


def function_key(function: Callable[..., Any]) -> Hashable:
    """A hashable key, equal for two functions exactly where they have the same code and read the same values.

    The values are those of now: of defaults, of variables of enclosing functions, of globals, and of attributes of
    modules, in the function, in functions written inside it and in functions that it calls. So a function that is
    defined again with the same values has the same key, and one that reads a global has another key once the global has
    changed. 1, 1.0 and True count as different. Values that are neither plain numbers, text, arrays, tuples nor
    functions are compared by identity.

    >>> def within(reach):
    ...     return lambda b, h, i, j: abs(i - j) <= reach
    >>> function_key(within(1)) == function_key(within(1)), function_key(within(1)) == function_key(within(2))
    (True, False)
    """
    return _function(function, ())


def plain_function(function: Any) -> Any:
    """The Python function that Numba has wrapped, where it has; else what was given."""
    return getattr(function, "py_func", function)


def names_read(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function's code and in that of functions written inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_read(constant)


class _Same:
    """A value that is equal to itself alone; it is kept, so that its identity isn't used again."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __hash__(self) -> int:
        return id(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._value is other._value


def _function(function: Any, inside: tuple[Any, ...]) -> Hashable:
    """`inside` are the functions whose keys are being made, outermost first: a function may call itself."""
    function = plain_function(function)
    if not isinstance(function, types.FunctionType):
        return _Same(function)
    if any(function is other for other in inside):
        return "itself", [function is other for other in inside].index(True)
    inside = (*inside, function)
    names = tuple(dict.fromkeys(names_read(function.__code__)))
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
    """A value's type and content; of a module, the attributes among `names`."""
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
        # A module may hold itself, or one that holds it.
        if any(value is other for other in inside):
            return _Same(value)
        read = tuple((name, _value(held[name], names, (*inside, value))) for name in names if name in held)
        return _Same(value), read
    if isinstance(plain_function(value), types.FunctionType):
        return _function(value, inside)
    return _Same(value)
