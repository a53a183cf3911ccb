"""Sentences on the findings of a rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.views.advice import ask
from eyeline.views.drawn import drawn_matrix, drawn_row
from eyeline.views.findings import Words, quantity_note
from eyeline.views.labels import most, percent, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Rollout

_ENDS = 0.9  # share of the first token from which the rest is too small to interpret


def found(answer: Rollout, words: Words = printable) -> str:
    """The sentence below the picture."""
    question = answer.question
    if question.token is not None:
        row = drawn_row(answer.made_of or (), question.shares)
        return worded(
            "{word} is made most of {words}.", word=words(question.token), words=most(row, question.units, words)
        )
    assert answer.matrix is not None
    received = drawn_matrix(answer.matrix, answer.shown, question.shares).numbers.mean(axis=0)
    top = int(received.argmax())
    return worded(
        "{word} is in the others most, {number} of a row on average.",
        word=words(answer.units[answer.shown[top]].text),
        number=percent(received[top]),
    )


def basis(answer: Rollout, words: Words = printable) -> str:
    """The note below the picture: its quantity, and how it is computed."""
    shares = answer.question.shares
    taken = [answer.set_aside] if shares and answer.set_aside is not None else []
    parts = [quantity_note(answer.units, shares, taken, words, weights=worded("Shares of the whole vector"))]
    made = answer.made_of
    if made and made[0].weight > _ENDS:
        parts.append(
            worded(
                "Heads that use the first token as a sink lead everything there: {layer} goes through fewer layers.",
                layer=ask("layer", 0),
            )
        )
    parts.append(
        worded(
            "In each layer half of a vector stays, and half is what the mean of the heads gathered (Abnar and Zuidema "
            "2020); values and feed-forward layers aren't in it."
        )
    )
    return " ".join(parts)
