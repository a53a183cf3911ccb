"""The next token that is measured, and its rival: found in the model's vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.mattering.answer import NextChoice
from eyeline.answers.mattering.measure import log_probabilities
from eyeline.answers.question import QuestionError
from eyeline.models import Tokens
from eyeline.traces import TextModel
from eyeline.traces.own_model import OwnModel
from eyeline.traces.transformers_model import TransformersModel
from eyeline.words import worded


def token_after(model: TextModel, before: Tokens, word: object, name: str) -> tuple[int, str]:
    """The first token of a word that goes on with a text: its id and its text.

    Args:
        model: the model.
        before: the text.
        word: what comes next, with the space before it.
        name: the argument, for errors.

    Raises:
        QuestionError: if it isn't a text, or has no token.
    """
    if not isinstance(word, str) or not word:
        raise QuestionError(
            worded("{name} must be what comes next, such as ' Paris', got {word!r}", name=name, word=word)
        )
    whole = model.read(before.text + word).tokens
    count = len(before)
    if whole.ids[:count] == before.ids and len(whole) > count:
        first, last = whole.offsets[count]
        return whole.ids[count], whole.text[first:last]
    # The text's last token and the word's first would be one: the word by itself.
    alone = model.read(word).tokens
    for id, special, (first, last) in zip(alone.ids, alone.special, alone.offsets, strict=True):
        if not special:
            return id, word[first:last]
    raise QuestionError(
        worded("{name} must have a token in {model}, got {word!r}", name=name, model=model.name, word=word)
    )


def likeliest(model: TextModel, logits: NDArray[Any]) -> tuple[int, str]:
    """The likeliest next token: its id and its text."""
    assert isinstance(model, OwnModel | TransformersModel)
    id = int(logits.argmax())
    return id, model.text_of(id)


def choice(id: int, text: str, given: str | None, logits: NDArray[Any]) -> NextChoice:
    """A next token with its probability, of the run's own logits, (vocabulary,)."""
    return NextChoice(id, text, given, float(np.exp(log_probabilities(logits)[id])))


def notes_on(model: TextModel, before: Tokens, chosen: NextChoice, name: str, logits: NDArray[Any]) -> list[str]:
    """What a reader has to know of a next token: it is the first of several, or a space before it would change it."""
    given, notes = chosen.given, []
    if given is None:
        return [
            worded(
                "No next token was named: {token!r} is measured, the likeliest.",
                token=chosen.text,
            )
        ]
    if chosen.text != given:
        notes.append(
            worded(
                "{name}={given!r} is several tokens: the first, {token!r}, is measured.",
                name=name,
                given=given,
                token=chosen.text,
            )
        )
    if not given[0].isspace():
        id, _ = token_after(model, before, f" {given}", name)
        other = choice(id, f" {given}", given, logits)
        if id != chosen.id and other.probability > chosen.probability:
            notes.append(
                worded(
                    "{given!r} has no space before it; {spaced!r} is likelier here ({more} instead of {less}).",
                    given=given,
                    spaced=f" {given}",
                    more=f"{other.probability:.1%}",
                    less=f"{chosen.probability:.1%}",
                )
            )
    return notes
