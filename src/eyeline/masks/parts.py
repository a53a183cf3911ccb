"""The parts of a mask, a score modifier or a readout: its fields, by name.

`type(value)(**parts(value))` equals `value`. Cache keys and the text of PyTorch's operator are made of the parts, so
that their code names no class.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def parts(value: Any) -> dict[str, Any]:
    """The fields of a dataclass instance, by name: numbers, strings, tuples of these, arrays, functions, or masks.

    >>> from eyeline import Window
    >>> parts(Window(2))
    {'before': 2, 'after': 2, 'align': None}
    """
    return {field.name: getattr(value, field.name) for field in fields(value)}


def is_plain(part: Any) -> bool:
    """Whether a part is an immutable value: it neither is nor contains an array or a function.

    >>> is_plain((1, "end", None)), is_plain(len)
    (True, False)
    """
    if isinstance(part, tuple):
        return all(is_plain(one) for one in part)
    return part is None or isinstance(part, (bool, int, float, str)) or getattr(part, "is_plain", False) is True
