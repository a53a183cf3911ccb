"""Masks, score modifiers and readouts encoded as text and tensors, the only arguments of a PyTorch operator.

`Telling` encodes a call, also while `torch.compile` traces it: so its code is simple, and the text is assembled by
hand. `decode` turns it into a `Request`. The text is JSON. Each mask, score modifier and readout is a list of its
class's name and its parts, which are

- numbers, strings, true, false and null as they are;
- `["list", ...]`: a tuple or a list of parts;
- `["fact", n]` and `["parameter", n]`: a tensor by its index; a parameter may have a gradient;
- `["at", n]`: a whole number stored as a fact, because it changes from one step of decoding to the next;
- `["function", name]`: a user's function, by its name in this process;
- `["slice", start, stop, step]`;
- a mask, or a mask's pairs, in a list of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.dropout import check_dropout
from eyeline.edits.lowered import Pairs
from eyeline.forks import ForkSafeLock
from eyeline.masks import AttentionShape, Mask
from eyeline.masks.counts import whole
from eyeline.masks.documents import lists
from eyeline.readouts import Readout
from eyeline.scores import Score
from eyeline.torch.functions import name_of, named
from eyeline.torch.request import Request, default_scale
from eyeline.words import worded

# Masks may be created inside a compiled function, from constants.
for numbers in (whole, lists):
    torch.compiler.assume_constant_result(numbers)  # type: ignore[no-untyped-call]


class Telling:
    """A call's text, and the tensors that it refers to by index: parameters may have gradients, facts have none."""

    def __init__(self) -> None:
        self.parameters: list[Tensor] = []
        self.facts: list[Tensor] = []

    def seed(self, dropout: float, seed: int | Tensor | None) -> str:
        """Store the seed; returns its index among the facts, null without dropout."""
        if isinstance(seed, Tensor):
            if seed.ndim or seed.is_floating_point():
                raise ValueError(
                    worded(
                        "seed must be one whole number, got a tensor of {dtype} of {shape}",
                        dtype=seed.dtype,
                        shape=tuple(seed.shape),
                    )
                )
            check_dropout(dropout, 0)
            return self._fact(seed) if dropout else "null"
        share, number = check_dropout(dropout, seed)
        # Tensors have signed int64 only.
        return self._fact(torch.tensor(number - (1 << 64) if number >> 63 else number)) if share else "null"

    def counted(self, counted: Tensor | None) -> str:
        """Store which queries count, bool, (B, N); returns its index among the facts, null if all do."""
        return "null" if counted is None else self._fact(counted)

    def value(self, value: Any) -> str:
        """The text of a mask, a score modifier or a readout. A score modifier's arrays are its parameters,
        but for its constants."""
        learns = isinstance(value, Score)
        items = [f'"{class_name(type(value))}"']
        for field in fields(value):
            has_gradient = learns and field.name not in value.constants
            items.append(self._part(field.name, getattr(value, field.name), has_gradient))
        return "[" + ", ".join(items) + "]"

    def _part(self, name: str, part: Any, learns: bool) -> str:
        if isinstance(part, (Mask, Pairs)):
            return self.value(part)
        if isinstance(part, (Tensor, np.ndarray)):
            return f'["parameter", {self._parameter(part)}]' if learns else f'["fact", {self._fact(part)}]'
        if isinstance(part, (tuple, list)):
            return '["list"' + "".join([", " + self._part("", one, learns) for one in part]) + "]"
        if part is None or isinstance(part, (bool, str, int, float, np.integer)):
            if name == "align" and part is not None and not isinstance(part, str):
                return f'["at", {self._fact(torch.tensor(part))}]'
            return _json(part)
        if isinstance(part, slice):
            return f'["slice", {_json(part.start)}, {_json(part.stop)}, {_json(part.step)}]'
        if callable(part):
            return f'["function", "{name_of(part, torch.compiler.is_compiling())}"]'
        return f'["fact", {self._fact(np.asarray(part))}]'

    def _fact(self, array: Any) -> str:
        self.facts.append(_tensor(array))
        return str(len(self.facts) - 1)

    def _parameter(self, array: Any) -> str:
        self.parameters.append(array if isinstance(array, Tensor) else _tensor(array))
        return str(len(self.parameters) - 1)


def _tensor(array: Any) -> Tensor:
    if isinstance(array, Tensor):
        return array.detach()
    if not torch.compiler.is_compiling() and not (array.flags.writeable and min(array.strides, default=0) >= 0):
        array = array.copy()  # PyTorch shares memory only where it may write, forwards
    return torch.from_numpy(array)


def _json(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join([_json(part) for part in value]) + "]"
    # Not repr, which torch.compile can't trace for symbolic numbers.
    text = f"{value}"
    return _NOT_FINITE.get(text, text)


#: How JSON in Python's dialect has what Python itself writes otherwise.
_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def spec(
    *,
    lead: tuple[int, ...],
    scale: float | None,
    mask: str,
    changes: list[str],
    dropout: float,
    seed: str,
    read: list[str],
    counted: str = "null",
    portable: bool | int,
) -> str:
    """The text of a whole call; `seed` and `counted` are indices of facts, or null; `portable` may be
    `Request.at_a_time`."""
    items = [
        '"lead": ' + (_json(lead) if len(lead) != 1 else "null"),
        '"scale": ' + _json(scale),
        '"mask": ' + mask,
        '"scores": [' + ", ".join(changes) + "]",
        '"dropout": ' + _json(dropout),
        '"seed": ' + seed,
        '"read": [' + ", ".join(read) + "]",
        '"counted": ' + counted,
        '"portable": ' + _json(portable),
    ]
    return "{" + ", ".join(items) + "}"


def decode(
    text: str, q: Tensor, k: Tensor, parameters: Sequence[Tensor], facts: Sequence[Tensor], *, sizes_only: bool = False
) -> Request:
    """The call that `text` and its tensors describe; q and k give its sizes.

    With `sizes_only`, the tensors' contents aren't read: the mask is left out, and numbers are zeros.
    """
    call = _parsed(text)
    B, H, N, D = q.shape
    shape = AttentionShape((B,) if call["lead"] is None else tuple(call["lead"]), H, N, k.shape[2])
    arrays = [np.zeros(tuple(x.shape), np.int64) if sizes_only else x.cpu().numpy() for x in facts]
    return Request(
        shape=shape,
        scale=default_scale(D) if call["scale"] is None else call["scale"],
        mask=None if call["mask"] is None or sizes_only else _value(call["mask"], parameters, arrays),
        scores=tuple(_value(score, parameters, arrays) for score in call["scores"]),
        dropout=call["dropout"],
        seed=0 if call["seed"] is None else int(arrays[call["seed"]]),
        read=tuple(_value(readout, parameters, arrays) for readout in call["read"]),
        counted=None if call["counted"] is None or sizes_only else np.ascontiguousarray(arrays[call["counted"]]),
        portable=call["portable"] is not False,
        at_a_time=None if isinstance(call["portable"], bool) else call["portable"],
    )


@lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    call: dict[str, Any] = json.loads(text, strict=False)
    return call


def _value(encoded: list[Any], parameters: Sequence[Tensor], arrays: Sequence[Any]) -> Any:
    """The mask, score modifier or readout given by a list of its class's name and its parts."""
    name, *encoded_parts = encoded
    kind = _kind(name)
    names = [field.name for field in fields(kind)]
    return kind(**{name: _part(part, parameters, arrays) for name, part in zip(names, encoded_parts, strict=True)})


def _part(encoded: Any, parameters: Sequence[Tensor], arrays: Sequence[Any]) -> Any:
    match encoded:
        case ["fact", number]:
            return arrays[number]
        case ["parameter", number]:
            return parameters[number]
        case ["at", number]:
            return int(arrays[number])
        case ["function", name]:
            return named(name)
        case ["slice", start, stop, step]:
            return slice(start, stop, step)
        case ["list", *several]:
            return [_part(one, parameters, arrays) for one in several]
        case [str(), *_]:
            return _value(encoded, parameters, arrays)
    return encoded


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def class_name(kind: type) -> str:
    """A name for the class of a mask, a score modifier or a readout: that of Eyeline's own, or that of a user's with
    its module; of two classes of one such name (made by a function, or in a cell that ran again), each its own."""
    if _is_own(kind):
        return kind.__qualname__
    with _lock:
        if kind not in _names:
            name = f"{kind.__module__}:{kind.__qualname__}"
            _names[kind] = name if name not in _classes else f"{name}#{len(_names)}"
            _classes[_names[kind]] = kind
        return _names[kind]


def _kind(name: str) -> Any:
    """The class of this name, also in a process that hasn't named it yet."""
    if name not in _classes:
        for kind in [kind for root in (Mask, Score, Readout) for kind in _descendants(root)] + [Pairs]:
            _classes.setdefault(class_name(kind), kind)
    return _classes[name]


def _is_own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "eyeline"


_lock = ForkSafeLock()
_names: dict[type, str] = {}
_classes: dict[str, Any] = {}


def _descendants(root: type) -> list[type]:
    below: list[type] = root.__subclasses__()
    return [*below, *(one for each in below for one in _descendants(each))]
