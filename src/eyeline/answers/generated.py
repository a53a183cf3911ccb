"""Going on with a text: the new tokens, and whom the token that chose each of them looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.numbers import Array
from eyeline.answers.question import QuestionError, Selection
from eyeline.models.decoder_config import DecoderConfig
from eyeline.models.generating import Choice
from eyeline.models.units import Unit
from eyeline.readouts import Weights

if TYPE_CHECKING:
    from eyeline.models import Model, Tokens


@dataclass(frozen=True)
class NewToken:
    """One new token.

    Attributes:
        token: its position; the token before it chose it.
        probability: what the model gave it, among all tokens, before temperature and cuts.
        weights: what the token before it gave to each unit, (U,); to itself and to those before it alone.
    """

    token: int
    probability: float
    weights: Array


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
class Asked:
    """How many tokens are to be generated, and how they are chosen."""

    count: int
    choice: Choice


def asked(generate: int | None, temperature: float | None, top_p: float | None, seed: int | None) -> Asked | None:
    """What is to be generated, checked; None if nothing is.

    Raises:
        QuestionError: if one of them isn't what it should be.
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
    return Asked(int(generate), choice)


def check_room(model: Model, tokens: Tokens, count: int) -> None:
    """Whether the model is one that goes on with a text, and has positions for so many tokens more."""
    if not model.config.causal:
        raise QuestionError(
            f"model must be a decoder to go on with a text, got {model.name}, an encoder ({model.config.model_type})",
            'take one such as model="smollm2"',
            "take one such as --model smollm2",
        )
    room = model.config.positions - len(tokens)
    if count > room:
        raise QuestionError(
            f"generate must be at most {room} after {len(tokens)} tokens, since {model.name} has "
            f"{model.config.positions} positions, got {count}; ask for fewer, or give it a shorter text"
        )


def go_on(
    model: Model, tokens: Tokens, layer: int, wanted: Asked, said: Callable[[str], None] | None
) -> tuple[Tokens, list[tuple[float, NDArray[Any]]]]:
    """Generate.

    Returns:
        The tokens of the whole text; and for each new one its probability, and what each head of the layer gave from
        the token before it to each up to that one, (H, position).
    """
    continuation, choice, found = model.continuation(tokens), wanted.choice, []
    for step in model.generate(
        tokens.ids,
        wanted.count,
        temperature=choice.temperature,
        top_p=choice.top_p,
        seed=choice.seed,
        read=Weights(),
    ):
        weights = step.layers[layer - 1].weights
        assert weights is not None
        found.append((step.probability, weights[0, :, 0]))
        text = continuation.add(step.id)
        if said is not None:
            said(text)
    return continuation.tokens, found


def generated(
    model: Model,
    before: Tokens,
    after: Tokens,
    found: Sequence[tuple[float, NDArray[Any]]],
    units: Sequence[Unit],
    where: Selection,
    wanted: Asked,
) -> Generated:
    """What was generated after the tokens `before`, in words of the whole text."""
    heads = slice(None) if where.head is None else slice(where.head - 1, where.head)
    steps = []
    for position, (probability, rows) in enumerate(found, len(before)):
        row = np.zeros(len(after))
        row[:position] = rows[heads].mean(axis=0, dtype=np.float64)
        weights = np.array([row[list(unit.tokens)].sum() for unit in units])
        steps.append(NewToken(position, probability, weights))
    assert isinstance(model.config, DecoderConfig)
    return Generated(
        wanted.count,
        wanted.choice.temperature,
        wanted.choice.top_p,
        wanted.choice.seed,
        len(before),
        len(before.text),
        after.ids[-1] in model.config.ends,
        tuple(steps),
    )
