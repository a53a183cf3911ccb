"""Masks, steps and readouts as text and tensors, which is all that an operator of PyTorch's can be told.

`Said` is filled while a call is made, also while `torch.compile` follows it: so its code is plain, and the text is put
together by hand. `decode` makes a `Request` of it again. The text is JSON; arrays are numbers of tensors: `parameters`
have gradients, `facts` haven't.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline import masks, readouts, scores
from eyeline.dropout import check_dropout
from eyeline.masks import Align, AttentionShape, Mask
from eyeline.masks.counts import whole
from eyeline.masks.documents import lists
from eyeline.scores import Score
from eyeline.torch.functions import name_of, named
from eyeline.torch.request import Request, default_scale

# Masks may be made inside a compiled function, of numbers that are written there.
for numbers in (whole, lists):
    torch.compiler.assume_constant_result(numbers)  # type: ignore[no-untyped-call]


class Said:
    """What is said in text, and the tensors that the text speaks of by number: parameters, which may have gradients,
    and facts, which have none."""

    def __init__(self) -> None:
        self.parameters: list[Tensor] = []
        self.facts: list[Tensor] = []

    def fact(self, array: Any) -> str:
        self.facts.append(_tensor(array))
        return str(len(self.facts) - 1)

    def seed(self, dropout: float, seed: int | Tensor | None) -> str:
        """The number of the seed among the facts, null without dropout."""
        if isinstance(seed, Tensor):
            if seed.ndim or seed.is_floating_point():
                raise ValueError(f"seed must be one whole number, got a tensor of {seed.dtype} of {tuple(seed.shape)}")
            check_dropout(dropout, 0)
            return self.fact(seed) if dropout else "null"
        share, number = check_dropout(dropout, seed)
        # A tensor's whole numbers are signed.
        return self.fact(torch.tensor(number - (1 << 64) if number >> 63 else number)) if share else "null"

    def _align(self, align: Align | None) -> str:
        """Where queries stand; a number is a fact, since it changes from one step of decoding to the next."""
        if align is None or isinstance(align, str):
            return _json(align)
        return _text("at", self.fact(torch.tensor(align)))

    def mask(self, mask: Mask) -> str:
        if isinstance(mask, masks.Causal):
            return _text("Causal", self._align(mask.align))
        if isinstance(mask, masks.Window):
            return _text("Window", _json(mask.before), _json(mask.after), self._align(mask.align))
        if isinstance(mask, masks.Padding):
            return _text("Padding", _json(mask.queries), _json(mask.keys), _json(mask.side))
        if isinstance(mask, masks.Documents):
            return _text("Documents", _json(mask.lengths), _json(mask.keys), self._align(mask.align))
        if isinstance(mask, masks.PrefixLM):
            return _text("PrefixLM", _json(mask.n), self._align(mask.align))
        if isinstance(mask, masks.Dense):
            return _text("Dense", self.fact(mask.allowed))
        if isinstance(mask, masks.Intervals):
            return _text("Intervals", self.fact(mask.bounds))
        if isinstance(mask, masks.MaskFunction):
            return _text("MaskFunction", _json(name_of(mask.function)))
        if isinstance(mask, masks.And):
            return _text("And", self.mask(mask.left), self.mask(mask.right))
        if isinstance(mask, masks.Or):
            return _text("Or", self.mask(mask.left), self.mask(mask.right))
        if isinstance(mask, masks.Not):
            return _text("Not", self.mask(mask.inner))
        raise TypeError(
            f"mask must be made of Eyeline's own masks for tensors, got {type(mask).__name__}; use MaskFunction"
        )

    def score(self, score: Score) -> str:
        if isinstance(score, scores.Softcap):
            return _text("Softcap", _json(score.cap))
        if isinstance(score, scores.ScoreFunction):
            derivative = None if score.derivative is None else name_of(score.derivative)
            return _text("ScoreFunction", _json(name_of(score.function)), _json(derivative))
        if isinstance(score, scores.Bias):
            return _text("Bias", self._parameter(score.array))
        if isinstance(score, scores.Sinks):
            return _text("Sinks", self._parameter(score.logits))
        if isinstance(score, scores.Alibi):
            slopes = "null" if score.slopes is None else self._parameter(score.slopes)
            return _text("Alibi", slopes, self._align(score.align))
        if isinstance(score, scores.RelativeBias):
            sides = "true" if score.bidirectional else "false"
            return _text(
                "RelativeBias", self._parameter(score.table), sides, _json(score.max_distance), self._align(score.align)
            )
        raise TypeError(f"scores must be Eyeline's own changes of scores, got {type(score).__name__}; use a function")

    def _parameter(self, array: Any) -> str:
        self.parameters.append(array if isinstance(array, Tensor) else _tensor(array))
        return str(len(self.parameters) - 1)

    def readout(self, readout: Any) -> str:
        if isinstance(readout, readouts.Entropy):
            return _text("Entropy")
        if isinstance(readout, readouts.TopK):
            return _text("TopK", _json(readout.k))
        if isinstance(readout, readouts.Received):
            return _text("Received", _json(readout.reduce))
        if isinstance(readout, readouts.MeanDistance):
            return _text("MeanDistance", self._align(readout.align))
        if isinstance(readout, readouts.Pooled):
            return _text("Pooled", _json(readout.rows), _json(readout.columns), _json(readout.reduce))
        if isinstance(readout, readouts.GroupMass):
            return _text("GroupMass", self.fact(readout.groups), _json(readout.count))
        if isinstance(readout, readouts.Weights):
            return _text("Weights", self._positions(readout.queries), self._positions(readout.keys))
        raise TypeError(f"read must hold readouts, such as eyeline.Weights(), got {type(readout).__name__}")

    def _positions(self, which: Any) -> str:
        if which is None or isinstance(which, int):
            return _json(which)
        if isinstance(which, slice):
            return _text("slice", _json(which.start), _json(which.stop), _json(which.step))
        if isinstance(which, (list, tuple)):
            return _text("list", *[_json(int(position)) for position in which])
        return _text("array", self.fact(np.asarray(which)))


def _tensor(array: Any) -> Tensor:
    if isinstance(array, Tensor):
        return array.detach()
    if not torch.compiler.is_compiling() and not (array.flags.writeable and min(array.strides, default=0) >= 0):
        array = array.copy()  # PyTorch shares memory only where it may write, forwards
    return torch.from_numpy(array)


def _text(*parts: str) -> str:
    """A list in JSON, of a name and of what is JSON already."""
    return f'["{parts[0]}"' + "".join([", " + part for part in parts[1:]]) + "]"


def _json(value: str | int | float | tuple[Any, ...] | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return "[" + ", ".join([_json(part) for part in value]) + "]"
    # Not repr, which isn't followed where a compiled function is for any number.
    return f"{value}"


def spec(
    *,
    lead: tuple[int, ...],
    scale: float | None,
    mask: str,
    changes: list[str],
    dropout: float,
    seed: str,
    read: list[str],
    portable: bool,
) -> str:
    """The text of a whole call; `seed` is the number of a fact, or null."""
    parts = [
        '"lead": ' + (_json(lead) if len(lead) != 1 else "null"),
        '"scale": ' + _json(scale),
        '"mask": ' + mask,
        '"scores": [' + ", ".join(changes) + "]",
        '"dropout": ' + _json(dropout),
        '"seed": ' + seed,
        '"read": [' + ", ".join(read) + "]",
        '"portable": ' + ("true" if portable else "false"),
    ]
    return "{" + ", ".join(parts) + "}"


def decode(
    text: str, q: Tensor, k: Tensor, parameters: Sequence[Tensor], facts: Sequence[Tensor], *, sizes_only: bool = False
) -> Request:
    """The call that `text` and its tensors speak of; q and k give its sizes.

    With `sizes_only`, what is in the tensors isn't looked at: the mask is left out, and numbers are zeros.
    """
    said = _parsed(text)
    B, H, N, D = q.shape
    problem = AttentionShape((B,) if said["lead"] is None else tuple(said["lead"]), H, N, k.shape[2])
    arrays = [np.zeros(tuple(x.shape), np.int64) if sizes_only else x.cpu().numpy() for x in facts]
    return Request(
        problem=problem,
        scale=default_scale(D) if said["scale"] is None else said["scale"],
        mask=None if said["mask"] is None or sizes_only else _mask(said["mask"], arrays),
        scores=tuple(_score(score, parameters, arrays) for score in said["scores"]),
        dropout=said["dropout"],
        seed=0 if said["seed"] is None else int(arrays[said["seed"]]),
        read=tuple(_readout(readout, arrays) for readout in said["read"]),
        portable=said["portable"],
    )


@lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(text)
    return said


def _mask(said: list[Any], arrays: Sequence[Any]) -> Mask:
    name, *rest = said
    match name:
        case "And" | "Or" | "Not":
            join: Any = getattr(masks, name)
            return join(*(_mask(part, arrays) for part in rest))  # type: ignore[no-any-return]
        case "Dense" | "Intervals":
            return getattr(masks, name)(arrays[rest[0]])  # type: ignore[no-any-return]
        case "MaskFunction":
            return masks.MaskFunction(named(rest[0]))
        case "Padding":
            return masks.Padding(queries=rest[0], keys=rest[1], side=rest[2])
        case "Documents":
            return masks.Documents(rest[0], keys=rest[1], align=_align(rest[2], arrays))
    kind: Any = getattr(masks, name)
    return kind(*rest[:-1], _align(rest[-1], arrays))  # type: ignore[no-any-return]


def _align(said: Any, arrays: Sequence[Any]) -> Align | None:
    return int(arrays[said[1]]) if isinstance(said, list) else said


def _score(said: list[Any], parameters: Sequence[Tensor], arrays: Sequence[Any]) -> Score:
    name, *rest = said
    match name:
        case "Softcap":
            return scores.Softcap(*rest)
        case "ScoreFunction":
            function, derivative = rest
            return scores.ScoreFunction(named(function), None if derivative is None else named(derivative))
        case "Alibi" | "RelativeBias":
            rest[-1] = _align(rest[-1], arrays)
    kind: Any = getattr(scores, name)
    number, *rest = rest
    return kind(None if number is None else parameters[number], *rest)  # type: ignore[no-any-return]


def _readout(said: list[Any], arrays: Sequence[Any]) -> Any:
    name, *rest = said
    if name == "Weights":
        return readouts.Weights(*(_positions(which, arrays) for which in rest))
    if name == "GroupMass":
        return readouts.GroupMass(arrays[rest[0]], rest[1])
    if name == "MeanDistance":
        return readouts.MeanDistance(_align(rest[0], arrays))
    kind: Any = getattr(readouts, name)
    return kind(*rest)


def _positions(said: Any, arrays: Sequence[Any]) -> Any:
    match said:
        case ["slice", start, stop, step]:
            return slice(start, stop, step)
        case ["list", *positions]:
            return positions
        case ["array", number]:
            return arrays[number]
    return said
