"""Attention rollout in a terminal: how much of each word is in a token's vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars
from eyeline.views.document import Rollout
from eyeline.views.findings import set_aside_names
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt, layer_name, most, percent, printable
from eyeline.views.matrix import matrix
from eyeline.views.scale import shade_ceiling
from eyeline.views.terminal import note, say
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text

_ENDS = 0.9  # of all in the first token: the rest is too little to be read
Words = Callable[[str], str]


def heading(document: Rollout) -> str:
    """The line that names the model and the layers."""
    question, model = document["question"], document["model"]
    last = layer_name(question["layer"])
    return worded("model {name} · attention rollout through L0 to {last}", name=printable(model["name"]), last=last)


def found(document: Rollout, words: Words = printable) -> str:
    """The sentence below the picture."""
    question = document["question"]
    if question["token"] is not None:
        return (
            f"{words(question['token'])} is made most of {most(document['made_of'] or [], question['units'], words)}."
        )
    assert document["matrix"] is not None
    top = max(document["matrix"]["received"], key=lambda entry: entry["share"])
    return f"{words(top['text'])} is in the others most, {percent(top['share'])} of a row on average."


def basis(document: Rollout, token: str) -> str:
    """The note below the picture: what its percentages are shares of, and how they are computed."""
    aside, unit = set_aside_names(document["units"]), f"{document['question']['unit']}s"
    row = f"% of what {token} is made of" if token else f"Each row is a {unit[:-1]}: % of what it is made of"
    text = row + (f" that comes from the {unit}." if aside else ".")
    if aside:
        given = f", {percent(document['set_aside'])} of it all" if document["set_aside"] is not None else ""
        text += f" {aside} are set aside{given}; --special puts them back."
    made = document["made_of"]
    if made and made[0]["weight"] > _ENDS:
        text += " Heads that use the first token as a sink lead everything there: --layer goes through fewer layers."
    return text + (
        " In each layer half of a vector stays, and half is what the mean of the heads gathered (Abnar and Zuidema "
        "2020); values and feed-forward layers aren't in it."
    )


def rollout(document: Rollout, ink: Ink, most: int = MOST) -> Iterator[Text]:
    """The lines of a drawing: bars for one token, words × words for all."""
    question, units = document["question"], document["units"]
    before, inside, after = excerpt(document["text"], None, max(ink.width * 2 - 20, 40))
    yield say(ink.sentence(before + inside + after), ink)
    yield note(heading(document), ink, indent=0)
    yield say("", ink)
    if question["token"] is not None:
        name = ink.words(question["token"])
        yield say(f"{name} is made of", ink)
        lines, cut = bars([Chart("", document["made_of"] or [])], units, question["units"], ink, most)
        yield from lines
        yield note(basis(document, name) + (" A bar that ends in » is longer than it is drawn." if cut else ""), ink)
    else:
        assert document["matrix"] is not None
        yield say("Who is made of whom", ink)
        shown = [units[index] for index in document["shown"]]
        heavy = [place for place, unit in enumerate(shown) if unit["set_aside"] or unit["start"] is None]
        ceiling, _ = shade_ceiling([document["matrix"]["shares"]], heavy)
        lines, fits = matrix(document["matrix"]["shares"], shown, document["matrix"]["hidden"], ceiling, ink)
        yield from lines
        yield say("", ink)
        yield note(f"{basis(document, '')} {ink.shade_legend(ceiling)}", ink)
        if fits < len(shown):
            yield note(f"{fits} of {len(shown)} words fit here: a wider terminal or --json shows all.", ink)
    yield say("", ink)
    yield say(found(document, ink.words), ink)
