"""Sentences on a picture's findings, made from the drawn numbers, so that they can't disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eyeline.views.labels import layer_name, listed, listed_in_english, most, percent, place, printable
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Comparison, Explanation
    from eyeline.answers.entries import UnitEntry, UnknownText
    from eyeline.answers.explanation import ExplainedRun

Words = Callable[[str], str]
_NAMED = 12  # the largest number of unknown texts named


def heading(answer: Explanation | Comparison) -> str:
    """The line that names the model, the layer and the heads."""
    question, model = answer.question, answer.model
    where = place(question.layer, question.head, model.layers, model.heads)
    return worded("model {name} · {where}", name=printable(model.name), where=where)


def set_aside_names(units: Sequence[UnitEntry], words: Words = printable) -> str:
    """The names of the tokens that are set aside, as a list in a sentence."""
    return listed_in_english(_set_aside(units, words))


def _set_aside(units: Sequence[UnitEntry], words: Words) -> list[str]:
    names = {}  # each once, in order
    for unit in units:
        if unit.set_aside and unit.start is None:
            names[words(unit.text)] = True
        elif unit.set_aside:
            names[_bare(unit, words)] = True
    return list(names)


def _bare(unit: UnitEntry, words: Words) -> str:
    """The name of a set-aside unit of the text: a decoder's first, bare spaces, or control characters."""
    if not unit.text.strip():
        return "bare spaces"
    return "control characters" if unit.index else f"{words(unit.text)} (the first)"


def _first(answer: Explanation) -> UnitEntry | None:
    """The first token's unit, where it is a decoder's attention sink and is set aside."""
    first = answer.units[0]
    return first if answer.causal and first.set_aside else None


def basis(answer: Explanation, token: str, words: Words = printable) -> str:
    """The note below a picture: the total of its percentages, and the tokens that are set aside.

    Args:
        answer: the explanation.
        token: the name of the query token; empty for the whole matrix.
        words: formats the user's words.
    """
    names = _set_aside(answer.units, words)
    aside, back = listed_in_english(names) if names else "", "it" if len(names) == 1 else "them"
    pieces = any(len(unit.tokens) > 1 for unit in answer.units) and answer.question.unit == "word"
    unit = f"{answer.question.unit}s"
    if token:
        text = f"% of what {token} gives to the {unit}." if aside else f"% of all that {token} gives."
        if aside:
            shares = listed_in_english([percent(entry.set_aside or 0.0) for entry in answer.runs])
            text += f" {aside}, set aside, took {shares} of it all; --special puts {back} back."
    else:
        text = (
            f"Each row is a {answer.question.unit}: % of what it gives to the {unit}."
            if aside
            else "Each row is % of all that it gives."
        )
        if aside:
            text += f" {aside} {'is' if back == 'it' else 'are'} set aside; --special puts {back} back."
    if any(_dashes(answer, run) for run in answer.runs):
        text += " – is where it may not look."
    if _first(answer) is not None:
        text += " What a head has no use for goes to the first token, whatever it says: an attention sink."
    return text + (" Pieces of a word: added up where looked at, averaged where looking." if pieces else "")


def _dashes(answer: Explanation, run: ExplainedRun) -> bool:
    """Whether the picture has a pair that the mask hides."""
    if run.looks_at is not None:
        return any(look.hidden and look.share is not None for look in run.looks_at)
    return run.matrix.hidden is not None and bool(run.matrix.hidden.any())


def unchanged(answer: Explanation) -> str:
    """The note that a requested causal mask changes nothing in a causal model; else empty."""
    if not answer.causal or answer.question.mask != "causal":
        return ""
    return f"{printable(answer.model.name)} never looks ahead: a causal mask changes nothing."


def unknown(found: UnknownText | None, words: Words = printable) -> str:
    """The note on text that the model's vocabulary lacks; empty where it lacks nothing."""
    if found is None:
        return ""
    named = [words(text) for text in found.texts[:_NAMED]]
    more = len(found.texts) - len(named)
    return worded(
        "Read as {piece}, since the vocabulary has no pieces for it: {texts}.",
        piece=words(found.piece),
        texts=listed(named) if not more else worded("{texts} and {count} more", texts=", ".join(named), count=more),
    )


def found(answer: Explanation, words: Words = printable) -> str:
    """The sentence below the first run's picture."""
    question, run = answer.question, answer.runs[0]
    if question.token is not None:
        taken = f"{words(question.token)} takes most from {most(run.looks_at or [], question.units, words)}"
        first = _first(answer)
        if first is None:
            return taken + "."
        given = (run.looks_at or [])[first.index].weight
        return f"{taken}, after {words(first.text)}, the first, which took {percent(given)} of it all."
    return _picture_found(answer, run, words)


def changes(answer: Explanation, words: Words = printable) -> str:
    """The sentence below the second run's picture."""
    question, run = answer.question, answer.runs[1]
    name = run.name[0].upper() + run.name[1:]
    if question.token is not None:
        return f"{name}: most from {most(run.looks_at or [], question.units, words)}."
    return f"{name}: {_picture_found(answer, run, words)}"


def _picture_found(answer: Explanation, run: ExplainedRun, words: Words) -> str:
    received = max(run.matrix.received, key=lambda entry: entry.share)
    shown, shares = answer.shown, run.matrix.shares.tolist()
    pairs = [(share, i, j) for i, row in enumerate(shares) for j, share in enumerate(row) if i != j]
    text = f"{words(received.text)} is looked at most, {percent(received.share)} of a row on average"
    if pairs:
        share, i, j = max(pairs, key=lambda pair: pair[0])
        looker, seen = (words(answer.units[shown[place]].text) for place in (i, j))
        text += f"; the hardest look at another is {looker} → {seen} ({percent(share)})"
    first = _first(answer)
    if first is not None:
        weights = [run.matrix.weights[index][first.index] for index in shown]
        text += f". {words(first.text)}, the first, took {percent(sum(weights) / len(weights))} of a row on average"
    return text + "."


def compared(answer: Comparison, words: Words = printable) -> list[str]:
    """The sentences below a comparison: how much the two vectors differ, and the words that each takes most from."""
    first, last = answer.cosines[0], answer.cosines[-1]
    lines = [
        worded(
            "From the embedding to after {layer} the cosine of the two goes from {first} to {last}.",
            layer=layer_name(last.layer or 0),
            first=f"{first.cosine:.3f}",
            last=f"{last.cosine:.3f}",
        )
    ]
    for side in answer.sides:
        looked = most(side.looks_at, side.token_units, words)
        lines.append(f"In {side.name}, {words(side.token)} takes most from {looked}.")
    return lines


def hardest_title(layer: int) -> str:
    """The title of the list of heads that look hardest."""
    return worded("Heads of {layer} that look hardest at one word", layer=layer_name(layer))


def moved_means() -> str:
    """The note below the cosines of a token's vector with its own embedding."""
    return worded("cosine with its embedding, after each layer: the lower, the more the vector has been rewritten")
