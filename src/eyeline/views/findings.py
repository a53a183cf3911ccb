"""Sentences that say what a picture shows, made from the numbers that are drawn, so that they can't disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eyeline.views.document import Comparison, Explanation, Run, Unit
from eyeline.views.labels import layer_name, listed, most, percent, place, printable
from eyeline.words import worded

Words = Callable[[str], str]


def heading(document: Explanation | Comparison) -> str:
    """The line that names the model, the layer and the heads."""
    question, model = document["question"], document["model"]
    where = place(question["layer"], question["head"], model["layers"], model["heads"])
    return worded("model {name} · {where}", name=printable(model["name"]), where=where)


def set_aside_names(units: Sequence[Unit], words: Words = printable) -> str:
    """The names of the tokens that are set aside, as a list in a sentence."""
    return listed(_set_aside(units, words))


def _set_aside(units: Sequence[Unit], words: Words) -> list[str]:
    names = {}  # each once, in order
    for unit in units:
        if unit["set_aside"] and unit["start"] is None:
            names[words(unit["text"])] = True
        elif unit["set_aside"]:
            names[_bare(unit, words)] = True
    return list(names)


def _bare(unit: Unit, words: Words) -> str:
    """The name of a set-aside unit of the text: a decoder's first, bare spaces, or control characters."""
    if not unit["text"].strip():
        return worded("bare spaces")
    return worded("control characters") if unit["index"] else worded("{word} (the first)", word=words(unit["text"]))


def _first(document: Explanation) -> Unit | None:
    """The first token's unit, where it is a decoder's attention sink and is set aside."""
    first = document["units"][0]
    return first if document["causal"] and first["set_aside"] else None


def basis(document: Explanation, token: str, words: Words = printable) -> str:
    """The note below a picture: what its percentages are shares of, and which tokens are set aside.

    Args:
        document: the explanation.
        token: the name of the token that looks; empty for the whole matrix.
        words: how words are written.
    """
    names = _set_aside(document["units"], words)
    aside, back = listed(names) if names else "", "it" if len(names) == 1 else "them"
    pieces = any(len(unit["tokens"]) > 1 for unit in document["units"]) and document["question"]["unit"] == "word"
    unit = f"{document['question']['unit']}s"
    if token:
        text = f"% of what {token} gives to the {unit}." if aside else f"% of all that {token} gives."
        if aside:
            shares = listed([percent(entry["set_aside"] or 0.0) for entry in document["runs"]])
            text += f" {aside}, set aside, took {shares} of it all; --special puts {back} back."
    else:
        text = (
            f"Each row is a {document['question']['unit']}: % of what it gives to the {unit}."
            if aside
            else "Each row is % of all that it gives."
        )
        if aside:
            text += f" {aside} {'is' if back == 'it' else 'are'} set aside; --special puts {back} back."
    if any(_dashes(document, run) for run in document["runs"]):
        text += " – is where it may not look."
    if _first(document) is not None:
        text += " What a head has no use for goes to the first token, whatever it says: an attention sink."
    return text + (" Pieces of a word: added up where looked at, averaged where looking." if pieces else "")


def _dashes(document: Explanation, run: Run) -> bool:
    """Whether the picture has a pair that the mask hides."""
    if run["looks_at"] is not None:
        return any(look["hidden"] and look["share"] is not None for look in run["looks_at"])
    return any(map(any, run["matrix"]["hidden"] or []))


def unchanged(document: Explanation) -> str:
    """The note that a requested causal mask changes nothing in a causal model; else empty."""
    if not document["causal"] or document["question"]["mask"] != "causal":
        return ""
    return f"{printable(document['model']['name'])} never looks ahead: a causal mask changes nothing."


def found(document: Explanation, words: Words = printable) -> str:
    """The sentence below the first run's picture."""
    question, run = document["question"], document["runs"][0]
    if question["token"] is not None:
        taken = f"{words(question['token'])} takes most from {most(run['looks_at'] or [], question['units'], words)}"
        first = _first(document)
        if first is None:
            return taken + "."
        given = (run["looks_at"] or [])[first["index"]]["weight"]
        return f"{taken}, after {words(first['text'])}, the first, which took {percent(given)} of it all."
    return _picture_found(document, run, words)


def changes(document: Explanation, words: Words = printable) -> str:
    """The sentence below the second run's picture."""
    question, run = document["question"], document["runs"][1]
    name = run["name"][0].upper() + run["name"][1:]
    if question["token"] is not None:
        return f"{name}: most from {most(run['looks_at'] or [], question['units'], words)}."
    return f"{name}: {_picture_found(document, run, words)}"


def _picture_found(document: Explanation, run: Run, words: Words) -> str:
    received = max(run["matrix"]["received"], key=lambda entry: entry["share"])
    shown, shares = document["shown"], run["matrix"]["shares"]
    pairs = [(share, i, j) for i, row in enumerate(shares) for j, share in enumerate(row) if i != j]
    text = f"{words(received['text'])} is looked at most, {percent(received['share'])} of a row on average"
    if pairs:
        share, i, j = max(pairs, key=lambda pair: pair[0])
        looker, seen = (words(document["units"][shown[place]]["text"]) for place in (i, j))
        text += f"; the hardest look at another is {looker} → {seen} ({percent(share)})"
    first = _first(document)
    if first is not None:
        weights = [run["matrix"]["weights"][index][first["index"]] for index in shown]
        text += f". {words(first['text'])}, the first, took {percent(sum(weights) / len(weights))} of a row on average"
    return text + "."


def compared(document: Comparison, words: Words = printable) -> list[str]:
    """The sentences below a comparison: how far the two vectors part, and which words each takes most from."""
    first, last = document["cosines"][0], document["cosines"][-1]
    lines = [
        worded(
            "From the embedding to after {layer} the cosine of the two goes from {first} to {last}.",
            layer=layer_name(last["layer"] or 0),
            first=f"{first['cosine']:.3f}",
            last=f"{last['cosine']:.3f}",
        )
    ]
    for side in document["sides"]:
        looked = most(side["looks_at"], side["token_units"], words)
        lines.append(f"In {side['name']}, {words(side['token'])} takes most from {looked}.")
    return lines


def hardest_title(layer: int) -> str:
    """The title of the list of heads that look hardest."""
    return worded("Heads of {layer} that look hardest at one word", layer=layer_name(layer))


def moved_means() -> str:
    """The note below the cosines of a token's vector with its own embedding."""
    return worded("cosine with its embedding, after each layer: the lower, the more the vector has been rewritten")
