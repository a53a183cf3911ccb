"""What a picture shows, in plain sentences: made from the very numbers that are drawn, so that they can't disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eyeline.views.document import Comparison, Explanation, Run, Unit
from eyeline.views.labels import listed, most, percent, printable

Words = Callable[[str], str]


def heading(document: Explanation | Comparison) -> str:
    """Which model, layer and heads the picture is of."""
    question, model = document["question"], document["model"]
    heads = (
        f"mean of its {model['heads']} heads"
        if question["head"] is None
        else f"head {question['head']} of {model['heads']}"
    )
    return f"model {printable(model['name'])} · layer {question['layer']} of {model['layers']} · {heads}"


def set_aside_names(units: Sequence[Unit], words: Words = printable) -> str:
    """The tokens that stand outside the picture, by name."""
    return listed(_set_aside(units, words))


def _set_aside(units: Sequence[Unit], words: Words) -> list[str]:
    names = {}  # each once, in order
    for unit in units:
        if unit["set_aside"] and unit["start"] is None:
            names[words(unit["text"])] = True
        elif unit["set_aside"]:
            names["bare spaces" if not unit["text"].strip() else f"{words(unit['text'])} (the first)"] = True
    return list(names)


def _first(document: Explanation) -> Unit | None:
    """The unit of the first token, where that one takes what a head has no other use for and is set aside."""
    first = document["units"][0]
    return first if document["causal"] and first["set_aside"] else None


def basis(document: Explanation, token: str, words: Words = printable) -> str:
    """What the percentages are of, and what was set aside; `token` and what `words` makes of others stand in it."""
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
    """Whether anything in the picture may not be looked at."""
    if run["looks_at"] is not None:
        return any(look["hidden"] and look["share"] is not None for look in run["looks_at"])
    return any(map(any, run["matrix"]["hidden"] or []))


def unchanged(document: Explanation) -> str:
    """What there is to say of a mask that was asked for and changes nothing; nothing if there is none."""
    if not document["causal"] or document["question"]["mask"] != "causal":
        return ""
    return f"{printable(document['model']['name'])} never looks ahead: a causal mask changes nothing."


def found(document: Explanation, words: Words = printable) -> str:
    """What the first run's picture shows."""
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
    """What the second run's picture shows, where there is one."""
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
    """What a comparison shows: how far the two vectors part, and from whom each takes most."""
    first, last = document["cosines"][0], document["cosines"][-1]
    layers = f"From the embedding to layer {last['layer']}"
    lines = [f"{layers} the cosine of the two goes from {first['cosine']:.3f} to {last['cosine']:.3f}."]
    for side in document["sides"]:
        looked = most(side["looks_at"], side["token_units"], words)
        lines.append(f"In {side['name']}, {words(side['token'])} takes most from {looked}.")
    return lines
