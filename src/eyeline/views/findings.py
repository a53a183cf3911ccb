"""Sentences on a picture's findings, made from the drawn numbers, so that they can't disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from eyeline.views.advice import ask
from eyeline.views.drawn import drawn_matrix, drawn_row
from eyeline.views.labels import layer_name, listed, most, percent, printable
from eyeline.views.provenance import run_name
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import Comparison, Explanation
    from eyeline.answers.entries import UnitEntry
    from eyeline.answers.explanation import ExplainedRun

Words = Callable[[str], str]


def set_aside_names(units: Sequence[UnitEntry], words: Words = printable) -> list[str]:
    """The names of the units that are set aside, each once, in order."""
    names = {}
    for unit in units:
        if unit.set_aside:
            names[words(unit.text) if unit.start is None else _bare(unit, words)] = True
    return list(names)


def _bare(unit: UnitEntry, words: Words) -> str:
    """The name of a set-aside unit of the text: a decoder's first, bare spaces, or control characters."""
    if not unit.text.strip():
        return worded("bare spaces")
    return worded("control characters") if unit.index else worded("{word} (the first)", word=words(unit.text))


def aside_name(units: Sequence[UnitEntry], words: Words = printable) -> str:
    """The label of the part of a row that is set aside: special tokens, or a decoder's first token."""
    aside = [unit for unit in units if unit.set_aside and unit.text.strip()]
    if all(unit.start is None for unit in aside):
        return worded("special tokens") if aside else worded("bare spaces")
    names = set_aside_names(aside, words)
    return names[0] if len(names) == 1 else worded("set aside")


def quantity_note(
    units: Sequence[UnitEntry],
    shares: bool,
    taken: Sequence[float] = (),
    words: Words = printable,
    *,
    weights: str | None = None,
) -> str:
    """The note on the drawn quantity: what a row's numbers add up to, and what is done with the units set aside.

    Args:
        units: all units of the text.
        shares: whether the numbers are shares of the words alone.
        taken: with shares, the total weight on the units that are set aside, of each run.
        words: formats the user's words.
        weights: the name of the numbers of whole rows; "Weights" if not given.
    """
    names = set_aside_names(units, words)
    weights = worded("Weights") if weights is None else weights
    if not names:
        return worded("{weights}: a row adds up to 100%.", weights=weights)
    listed_names = listed(names)
    if not shares:
        return worded(
            "{weights}: a row adds up to 100%, with the part of {names}, which {special} draws one by one and {shares} "
            "leaves out.",
            weights=weights,
            names=listed_names,
            special=ask("special"),
            shares=ask("shares"),
        )
    text = worded("Shares of the words: a row adds up to 100% without {names}.", names=listed_names)
    if taken:
        text += " " + worded("These took {shares} of the whole row.", shares=listed([percent(part) for part in taken]))
    return text


def basis(answer: Explanation, words: Words = printable) -> str:
    """The note below a picture: its quantity, and how to read what isn't a plain number."""
    shares = answer.question.shares
    taken = [run.set_aside for run in answer.runs if run.set_aside is not None] if shares else []
    parts = [quantity_note(answer.units, shares, taken, words)]
    if any(one.startswith(("reweight", "pattern")) for run in answer.runs for one in run.edits):
        parts.append(worded("Weights that were multiplied or taken from another run needn't add up."))
    if any(_dashes(run) for run in answer.runs):
        parts.append(worded("– is where it may not look."))
    if _first(answer) is not None:
        parts.append(worded("What a head has no use for goes to the first token, whatever it says: an attention sink."))
    if answer.question.unit == "word" and any(len(unit.tokens) > 1 for unit in answer.units):
        parts.append(worded("Pieces of a word: added up where looked at, averaged where looking."))
    return " ".join(parts)


def _first(answer: Explanation) -> UnitEntry | None:
    """The first token's unit, where it is a decoder's attention sink and is set aside."""
    first = answer.units[0]
    return first if answer.causal and first.set_aside else None


def _dashes(run: ExplainedRun) -> bool:
    """Whether the picture has a pair that the mask hides."""
    if run.looks_at is not None:
        return any(look.hidden and look.share is not None for look in run.looks_at)
    return run.matrix.hidden is not None and bool(run.matrix.hidden.any())


def unchanged(answer: Explanation) -> str:
    """The note that a requested causal mask changes nothing in a causal model; else empty."""
    if not answer.causal or answer.question.mask != "causal":
        return ""
    return worded("{model} never looks ahead: a causal mask changes nothing.", model=printable(answer.model.name))


def found(answer: Explanation, words: Words = printable) -> str:
    """The sentence below the first run's picture."""
    run, token = answer.runs[0], answer.question.token
    if token is None:
        return _picture_found(answer, run, words)
    text = worded("{word} takes most from {words}.", word=words(token), words=_most(answer, run, words))
    first = _first(answer)
    if first is not None:
        given = (run.looks_at or [])[first.index].weight
        text += " " + _first_took(words(first.text), given)
    return text


def changes(answer: Explanation, words: Words = printable) -> str:
    """The sentence below the second run's picture."""
    run = answer.runs[1]
    name = run_name(run.name)
    if answer.question.token is not None:
        said = worded("most from {words}.", words=_most(answer, run, words))
    else:
        said = _picture_found(answer, run, words)
    return f"{name[0].upper()}{name[1:]}: {said}"


def _most(answer: Explanation, run: ExplainedRun, words: Words) -> str:
    question = answer.question
    return most(drawn_row(run.looks_at or (), question.shares), question.units, words)


def _first_took(word: str, weight: float) -> str:
    return worded("{word}, the first token, took {weight}.", word=word, weight=percent(weight))


def _picture_found(answer: Explanation, run: ExplainedRun, words: Words) -> str:
    shown = answer.shown
    numbers = drawn_matrix(run.matrix, shown, answer.question.shares).numbers
    received = numbers.mean(axis=0)
    top = int(received.argmax())
    text = worded(
        "{word} is looked at most, {number} of a row on average.",
        word=words(answer.units[shown[top]].text),
        number=percent(received[top]),
    )
    pairs = [(number, i, j) for i, row in enumerate(numbers.tolist()) for j, number in enumerate(row) if i != j]
    if pairs:
        number, i, j = max(pairs, key=lambda pair: pair[0])
        looker, seen = (words(answer.units[shown[index]].text) for index in (i, j))
        text += " " + worded(
            "The hardest look at another is {looker} → {seen} ({number}).",
            looker=looker,
            seen=seen,
            number=percent(number),
        )
    first = _first(answer)
    if first is not None:
        text += " " + _first_took(words(first.text), float(run.matrix.weights[list(shown), first.index].mean()))
    return text


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
        looked = most(drawn_row(side.looks_at, answer.question.shares), side.token_units, words)
        lines.append(
            worded("In {name}, {word} takes most from {words}.", name=side.name, word=words(side.token), words=looked)
        )
    return lines


def hardest_title(layer: int) -> str:
    """The title of the list of heads that look hardest."""
    return worded("Heads of {layer} that look hardest at one word", layer=layer_name(layer))


def moved_means() -> str:
    """The note below the cosines of a token's vector with its own embedding."""
    return worded("cosine with its embedding, after each layer: the lower, the more the vector has been rewritten")


def weights_of_heads() -> str:
    """The note below the list of heads that look hardest."""
    return worded("weights: each head's row adds up to 100%, with the special tokens")
