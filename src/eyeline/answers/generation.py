"""Generated tokens, and the weights of the token that predicted each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.entries import Look, given_aside, looks
from eyeline.answers.question import QuestionError, Selection
from eyeline.models import Tokens
from eyeline.models.generating import Choice
from eyeline.models.units import Unit, units_of
from eyeline.traces import TextModel
from eyeline.traces.text_model import Continued
from eyeline.words import worded


@dataclass(frozen=True)
class PieceEntry:
    """One token, and whether its word has pieces before it or after it."""

    token: int
    text: str
    joins_before: bool
    joins_after: bool


@dataclass(frozen=True)
class NewToken:
    """One new token.

    Attributes:
        new: the token.
        probability: its probability among all tokens, before temperature and top-p.
        by: the token before it, which predicted it.
        looks_at: the weight of `by` on each unit; 0 on later units.
        set_aside: the total weight of `by` on the units that are set aside.
    """

    new: PieceEntry
    probability: float
    by: PieceEntry
    looks_at: tuple[Look, ...]
    set_aside: float


@dataclass(frozen=True)
class Generated:
    """The generated continuation of a text.

    Attributes:
        count: the requested number of tokens.
        temperature, top_p, seed: the sampling settings.
        prompt_tokens: the number of prompt tokens.
        prompt_end: the start of the new text, in characters.
        ended: whether the last token is an end-of-text token.
        steps: the new tokens.
    """

    count: int
    temperature: float
    top_p: float | None
    seed: int | None
    prompt_tokens: int
    prompt_end: int
    ended: bool
    steps: tuple[NewToken, ...]


@dataclass(frozen=True)
class GenerationRequest:
    """The number of tokens to generate, and the sampling settings."""

    count: int
    choice: Choice


def asked(
    generate: int | None, temperature: float | None, top_p: float | None, seed: int | None
) -> GenerationRequest | None:
    """Make the request to generate, checked; None if there is none.

    Raises:
        QuestionError: if an argument is out of its range.
    """
    if generate is None:
        for name, value in (("temperature", temperature), ("top_p", top_p), ("seed", seed)):
            if value is not None:
                raise QuestionError(
                    worded("{name} must be given with generate", name=name),
                    worded("add generate=..."),
                    worded("add --generate N"),
                )
        return None
    if isinstance(generate, bool) or not isinstance(generate, (int, np.integer)) or generate < 1:
        raise QuestionError(
            worded("generate must be a whole number of tokens, 1 or more, got {generate!r}", generate=generate)
        )
    try:
        choice = Choice(0.0 if temperature is None else temperature, None, top_p, seed)
    except ValueError as error:
        raise QuestionError(str(error)) from None
    return GenerationRequest(int(generate), choice)


def check_room(model: TextModel, tokens: Tokens, count: int) -> None:
    """Check that the model generates text, and has positions for `count` more tokens."""
    if not model.generates():
        what = worded("encoder") if model.kind is None else worded("encoder-decoder")
        raise QuestionError(
            worded(
                "model must be a decoder to go on with a text, got {model}, an {what} ({family})",
                model=model.name,
                what=what,
                family=model.family,
            ),
            worded("take one such as {choice}", choice='model="smollm2"'),
            worded("take one such as {choice}", choice="--model smollm2"),
        )
    if model.positions is None:
        return
    room = model.positions - len(tokens)
    if count > room:
        raise QuestionError(
            worded(
                "generate must be at most {room} after {count} tokens, since {model} has {positions} "
                "positions, got {got}; ask for fewer, or give it a shorter text",
                room=room,
                count=len(tokens),
                model=model.name,
                positions=model.positions,
                got=count,
            )
        )


def generated(
    before: Tokens,
    continued: Continued,
    weights: NDArray[Any],
    units: Sequence[Unit],
    shown: Sequence[int],
    where: Selection,
    wanted: GenerationRequest,
) -> Generated:
    """Describe the tokens generated after the prompt `before`, in units of the whole text.

    Args:
        before: the prompt's tokens.
        continued: the prompt with its continuation.
        weights: the weights of the chosen layer over the whole text, (H, N, N).
        units: the units of the whole text.
        shown: the indices of the units that are drawn.
        where: the chosen layer and head.
        wanted: the request to generate.
    """
    after = continued.text.tokens
    pieces = {unit.tokens[0]: unit for unit in units_of(after, pieces=True)}

    def piece(token: int) -> PieceEntry:
        return PieceEntry(token, pieces[token].text, *pieces[token].joins)

    first = [min(unit.tokens) for unit in units]
    steps = []
    for position, probability in enumerate(continued.probabilities, len(before)):
        row = np.zeros(len(after))
        row[:position] = weights[where.heads, position - 1, :position].mean(axis=0, dtype=np.float64)
        given = np.array([row[list(unit.tokens)].sum() for unit in units])
        unseen = [place >= position for place in first]
        seen = looks(given, units, shown, unseen)
        steps.append(NewToken(piece(position), probability, piece(position - 1), seen, given_aside(given, shown)))
    choice = wanted.choice
    return Generated(
        wanted.count,
        choice.temperature,
        choice.top_p,
        choice.seed,
        len(before),
        len(before.text),
        continued.ended,
        tuple(steps),
    )
