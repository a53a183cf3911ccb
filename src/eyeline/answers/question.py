"""Checks of a question before a model runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np

from eyeline.masks import Causal, Mask
from eyeline.models import Tokens
from eyeline.traces import ReadText, TextModel, text_model
from eyeline.traces.errors import QuestionError as QuestionError
from eyeline.traces.text_model import AnyModel
from eyeline.words import worded


@dataclass(frozen=True)
class Selection:
    """The chosen layer and head, both counted from 0; `head` is None for the mean of all."""

    layer: int
    head: int | None

    @property
    def heads(self) -> slice:
        """The chosen heads."""
        return slice(None) if self.head is None else slice(self.head, self.head + 1)


def asked_model(
    model: AnyModel | TextModel,
    tokenizer: Any = None,
    kind: str | None = None,
    target: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> TextModel:
    """Make the question's `TextModel`; see `eyeline.traces.text_model`. A `TextModel` is returned unchanged."""
    if hasattr(model, "go_on") and hasattr(model, "record"):
        return cast(TextModel, model)
    return text_model(model, tokenizer, kind=kind, target=target, progress=progress)


class Sized(Protocol):
    """An object with a name, layers and heads: a model, or a trace's entry of its model."""

    @property
    def name(self) -> str: ...
    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...


def where(model: Sized, layer: int | None, head: int | None) -> Selection:
    """The chosen layer and head, checked; by default the last layer and the mean of its heads."""
    chosen = model.layers - 1 if layer is None else counted("layer", layer, model.layers, model.name)
    return Selection(chosen, None if head is None else counted("head", head, model.heads, model.name))


def counted(name: str, value: int, count: int, model: str) -> int:
    """A layer or a head of a model, counted from 0, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < count:
        last = count - 1
        line = worded(
            "{name} must be from 0 to {last} in {model}, got {value!r}", name=name, last=last, model=model, value=value
        )
        raise QuestionError(line, worded("the last is {last}", last=last) if value == count else "")
    return int(value)


def positive(name: str, value: int | None) -> int | None:
    """A count of 1 or more, or None, checked."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1):
        raise QuestionError(worded("{name} must be a whole number, 1 or more, got {value!r}", name=name, value=value))
    return None if value is None else int(value)


def check_special(special: bool, shares: bool) -> None:
    """
    Raises:
        QuestionError: if special tokens are both to be drawn and to be left out.
    """
    if special and shares:
        raise QuestionError(
            worded("special and shares can't both be given: special tokens are drawn one by one, or left out"),
            worded("leave out one of them"),
            worded("leave out {first} or {second}", first="--special", second="--shares"),
        )


def read_text(model: TextModel, text: str, name: str = "text") -> ReadText:
    """Tokenize a text for the model, checked to be neither empty nor too long."""
    read = read_any_length(model, text, name)
    if model.positions is not None and len(read.tokens) > model.positions:
        raise too_long(model, len(read.tokens), name, worded("give it a shorter text, or another model"))
    return read


def too_long(model: TextModel, count: int, name: str, advice: str, command: str = "") -> QuestionError:
    """Make the error that a text has more tokens than the model has positions."""
    room = model.positions
    message = worded(
        "{name} must fit the {room} positions of {model}, got {count} tokens (special ones too)",
        name=name,
        room=room,
        model=model.name,
        count=count,
    )
    return QuestionError(message, advice, command)


def read_any_length(model: TextModel, text: str, name: str = "text") -> ReadText:
    """Tokenize a text for the model, checked not to be empty."""
    if not isinstance(text, str):
        raise QuestionError(worded("{name} must be a string, got {type}", name=name, type=type(text).__name__))
    if not text.strip():
        raise QuestionError(worded("{name} must have at least one word, got {text!r}", name=name, text=text[:20]))
    read = model.read(text)
    check_words(read.tokens, text, name)
    return read


def check_words(tokens: Tokens, text: str, name: str = "text") -> None:
    """Check that a text's tokens are not special ones alone."""
    if not tokens.has_words:
        raise QuestionError(
            worded("{name} must have at least one word, got {text!r}, which has none", name=name, text=text[:20])
        )


def named_mask(mask: Mask | Literal["causal"] | None) -> tuple[Mask | None, str | None]:
    """A mask and its name, from the argument `mask`."""
    if mask is None or isinstance(mask, Mask):
        return mask, None if mask is None else "causal" if mask == Causal() else repr(mask)
    if mask != "causal":
        raise QuestionError(worded("mask must be 'causal' or a mask of eyeline, got {mask!r}", mask=mask))
    return Causal(), "causal"
