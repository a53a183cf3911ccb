"""Checking what is asked, before anything is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eyeline.masks import Causal, Mask

if TYPE_CHECKING:
    from eyeline.models import Model, Tokens


class QuestionError(ValueError):
    """A question that can't be answered: one line that says what was asked, what could be, and what to do.

    Args:
        message: what is wrong.
        advice: what to do, in Python.
        command: what to do on the command line, where it is written differently.
    """

    def __init__(self, message: str, advice: str = "", command: str = "") -> None:
        super().__init__("; ".join(filter(None, (message, advice))))
        self.command_line = "; ".join(filter(None, (message, command or advice)))

    def about(self, subject: str) -> QuestionError:
        """The same error, which begins with what it is about."""
        error = QuestionError(f"{subject}: {self}")
        error.command_line = f"{subject}: {self.command_line}"
        return error


@dataclass(frozen=True)
class Selection:
    """Which layer and heads are looked at: `layer` from 1, `head` from 1, None for the mean of all."""

    layer: int
    head: int | None


def loaded(model: str | os.PathLike[str] | Model, progress: Callable[[str], None] | None) -> Model:
    """The model itself, loaded if it was named."""
    if isinstance(model, (str, os.PathLike)):
        from eyeline.models import load

        return load(model, progress=progress)
    return model


def sizes_of(model: Model) -> dict[str, int]:
    """What an answer says of its model's size."""
    names = ("layers", "heads", "key_heads", "head_dim", "positions")
    return {name: getattr(model.config, name) for name in names}


def where(model: Model, layer: int | None, head: int | None) -> Selection:
    """The layer and head that were asked for, checked: the last layer and the mean of its heads by default."""
    layers, heads = model.config.layers, model.config.heads
    chosen = (
        layers
        if layer is None
        else counted("layer", layer, layers, model.name, "0 is the embedding, which has no attention")
    )
    return Selection(
        chosen, None if head is None else counted("head", head, heads, model.name, "heads are counted from 1")
    )


def counted(name: str, value: int, most: int, model: str, hint: str) -> int:
    """A layer or a head of a model, counted from 1, checked."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise QuestionError(
            f"{name} must be from 1 to {most} in {model}, got {value!r}" + (f"; {hint}" if value == 0 else "")
        )
    return value


def tokens_of(model: Model, text: str, name: str = "text") -> Tokens:
    """The text as the model's tokens, checked to be neither empty nor too long."""
    tokens = tokens_of_any_length(model, text, name)
    if len(tokens) > model.config.positions:
        raise too_long(model, len(tokens), name, "give it a shorter text, or another model")
    return tokens


def too_long(model: Model, count: int, name: str, advice: str, command: str = "") -> QuestionError:
    """The error that a text has more tokens than the model has positions."""
    room = model.config.positions
    message = f"{name} must fit the {room} positions of {model.name}, got {count} tokens (special ones too)"
    return QuestionError(message, advice, command)


def tokens_of_any_length(model: Model, text: str, name: str = "text") -> Tokens:
    """The text as the model's tokens, checked not to be empty."""
    if not isinstance(text, str):
        raise QuestionError(f"{name} must be a string, got {type(text).__name__}")
    if not text.strip():
        raise QuestionError(f"{name} must have at least one word, got {text[:20]!r}")
    tokens = model.tokens(text)
    if all(special or word is None for special, word in zip(tokens.special, tokens.words, strict=True)):
        raise QuestionError(f"{name} must have at least one word, got {text[:20]!r}, of which the tokenizer makes none")
    return tokens


def seen_through(mask: Mask | Literal["causal"] | None) -> tuple[Mask | None, str | None]:
    """A mask and its name."""
    if mask is None or isinstance(mask, Mask):
        return mask, None if mask is None else "causal" if mask == Causal() else repr(mask)
    if mask != "causal":
        raise QuestionError(f"mask must be 'causal' or a mask of eyeline, got {mask!r}")
    return Causal(), "causal"
