"""Sentences on the findings of a rollout."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eyeline.views.findings import set_aside_names
from eyeline.views.labels import layer_name, most, percent, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Rollout

_ENDS = 0.9  # share of the first token from which the rest is too small to interpret


Words = Callable[[str], str]


def heading(answer: Rollout) -> str:
    """The line that names the model and the layers."""
    question, model = answer.question, answer.model
    last = layer_name(question.layer)
    return worded("model {name} · attention rollout through L0 to {last}", name=printable(model.name), last=last)


def found(answer: Rollout, words: Words = printable) -> str:
    """The sentence below the picture."""
    question = answer.question
    if question.token is not None:
        return f"{words(question.token)} is made most of {most(answer.made_of or [], question.units, words)}."
    assert answer.matrix is not None
    top = max(answer.matrix.received, key=lambda entry: entry.share)
    return f"{words(top.text)} is in the others most, {percent(top.share)} of a row on average."


def basis(answer: Rollout, token: str) -> str:
    """The note below the picture: what its percentages are shares of, and how they are computed."""
    aside, unit = set_aside_names(answer.units), f"{answer.question.unit}s"
    row = f"% of what {token} is made of" if token else f"Each row is a {unit[:-1]}: % of what it is made of"
    text = row + (f" that comes from the {unit}." if aside else ".")
    if aside:
        given = f", {percent(answer.set_aside)} of it all" if answer.set_aside is not None else ""
        text += f" {aside} are set aside{given}; --special puts them back."
    made = answer.made_of
    if made and made[0].weight > _ENDS:
        text += " Heads that use the first token as a sink lead everything there: --layer goes through fewer layers."
    return text + (
        " In each layer half of a vector stays, and half is what the mean of the heads gathered (Abnar and Zuidema "
        "2020); values and feed-forward layers aren't in it."
    )
