"""Going on with a text: the new tokens, and whom the token that chose each of them looked at."""

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
    """One token, and whether it is a piece of a word that goes on before it, or after it."""

    token: int
    text: str
    joins_before: bool
    joins_after: bool


@dataclass(frozen=True)
class NewToken:
    """One new token.

    Attributes:
        new: the token.
        probability: what the model gave it, among all tokens, before temperature and cuts.
        by: the token before it, which chose it.
        looks_at: that token's weight on each unit; 0 on those after it.
        set_aside: its total weight on the units that are set aside.
    """

    new: PieceEntry
    probability: float
    by: PieceEntry
    looks_at: tuple[Look, ...]
    set_aside: float


@dataclass(frozen=True)
class Generated:
    """How a text went on.

    Attributes:
        count: how many tokens were asked for.
        temperature, top_p, seed: how they were chosen.
        prompt_tokens: how many tokens were there before.
        prompt_end: where the new text begins, in characters.
        ended: whether the last is a token that ends a text.
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
    """How many tokens are to be generated, and how they are chosen."""

    count: int
    choice: Choice


def asked(
    generate: int | None, temperature: float | None, top_p: float | None, seed: int | None
) -> GenerationRequest | None:
    """The request to generate, checked; None if there is none.

    Raises:
        QuestionError: if one of them is out of its range.
    """
    if generate is None:
        for name, value in (("temperature", temperature), ("top_p", top_p), ("seed", seed)):
            if value is not None:
                raise QuestionError(f"{name} must be given with generate", "add generate=...", "add --generate N")
        return None
    if isinstance(generate, bool) or not isinstance(generate, (int, np.integer)) or generate < 1:
        raise QuestionError(f"generate must be a whole number of tokens, 1 or more, got {generate!r}")
    try:
        choice = Choice(0.0 if temperature is None else temperature, None, top_p, seed)
    except ValueError as error:
        raise QuestionError(str(error)) from None
    return GenerationRequest(int(generate), choice)


def check_room(model: TextModel, tokens: Tokens, count: int) -> None:
    """Whether the model is one that goes on with a text, and has positions for so many tokens more."""
    if not model.generates():
        what = "encoder" if model.kind is None else "encoder-decoder"
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
            f"generate must be at most {room} after {len(tokens)} tokens, since {model.name} has "
            f"{model.positions} positions, got {count}; ask for fewer, or give it a shorter text"
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
    """What was generated after the tokens `before`, in words of the whole text.

    Args:
        before: the prompt.
        continued: the text that was gone on with.
        weights: of the layer that was asked for, over the whole text, (H, N, N).
        units: of the whole text.
        shown: those that are drawn.
        where: the layer and head that were asked for.
        wanted: the request.
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
