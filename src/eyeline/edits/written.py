"""Edits in words: the form of `--edit`, of a trace's file, of the page's list and of its links.

    cut L5H3 flies>time            queries > keys, before the softmax; `flies>` and `>time` for all of a side
    reweight L5H3 flies>#1,#4 0.5  after the softmax; 0 if no factor is given
    uniform L5H3
    gate L5H3 0.5                  0 if no factor is given
    mean L5H3

Heads are L5H3, all of a layer L5, one of every layer H3, `all`; several L5H3,L5H4 or L5H0-3. A kind stands before them:
`cut encoder L0H1 …`, also `decoder` and `cross`. Tokens are words, in double quotes where they hold spaces or signs,
and positions: #2, #2-5 (both included), #2- (to the end).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from eyeline.edits.cut import Cut
from eyeline.edits.edit import Edit
from eyeline.edits.errors import EditError
from eyeline.edits.gate import Gate
from eyeline.edits.mean_output import MeanOutput, MeanOutputs
from eyeline.edits.places import Kind
from eyeline.edits.reweight import Reweight
from eyeline.edits.uniform import Uniform
from eyeline.edits.written_places import sites_of, sites_words, tokens_of, tokens_words
from eyeline.words import worded

_EXAMPLES = {
    "cut": "cut L5H3 flies>time",
    "reweight": "reweight L5H3 flies>time 0.5",
    "uniform": "uniform L5H3",
    "gate": "gate L5H3 0.5",
    "mean": "mean L5H3",
}
#: The most edits in the name of a run.
_NAMED = 3
_KINDS: dict[str, Kind] = {"encoder": "encoder self", "decoder": "decoder self", "cross": "cross"}
#: Letters without a space, or a quoted word with its escapes.
_FIELD = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"])+')


def parse(words: str, means: MeanOutputs | None = None) -> Edit:
    """The edit that words say.

    Args:
        words: such as "cut L5H3 flies>time".
        means: the means that "mean" takes.

    Raises:
        EditError: if they aren't of this form, or say "mean" without means.

    >>> parse("cut L5H3 flies>time"), parse("gate L2,L3 0.5")
    (Cut(layer=5, head=3, queries='flies', keys='time'), Gate(layer=(2, 3), by=0.5))
    """
    if not isinstance(words, str) or not words.strip():
        _wrong(words, worded("an edit in words"), "cut")
    if _FIELD.sub("", words).strip():
        _wrong(words, worded("words whose quotes are closed"), "cut")
    name, *fields = _FIELD.findall(words)
    name = name.lower()
    if name in ("patch", "pattern"):
        raise EditError(
            worded(
                "edit must be one that words can say, got {words!r}, which takes another run; write it in Python, with "
                "edits=",
                words=words,
            )
        )
    if name not in _EXAMPLES:
        _wrong(words, worded("one of {names}", names=", ".join(_EXAMPLES)), "cut")
    kind = _KINDS.get(fields[0].lower()) if fields else None
    fields = fields[1:] if kind else fields
    if not fields:
        _wrong(words, worded("{name} and heads", name=name), name)
    try:
        return _made(name, kind, fields, means)
    except EditError as error:
        raise EditError(worded("{error}, in {words!r}", error=error, words=words)) from None


def words_of(edit: Edit) -> str:
    """The words of an edit, which `parse` reads.

    Raises:
        EditError: if it takes another run, or chooses nothing, or from the end, which words can't say.

    >>> words_of(Reweight(layer=5, head=[3, 4], queries=["New York"], keys=slice(2, 6), by=0.5))
    'reweight L5H3,L5H4 "New York">#2-5 0.5'
    """
    name = type(edit).__name__.lower()
    name = "mean" if isinstance(edit, MeanOutput) else name
    if name not in _EXAMPLES:
        raise EditError(worded("edit must be one that words can say, got {edit!r}, which takes another run", edit=edit))
    said = [name]
    if edit.kind is not None:
        said.append(next(word for word, kind in _KINDS.items() if kind == edit.kind))
    said.append(sites_words(edit.layer, edit.head, edit))
    if isinstance(edit, (Cut, Reweight)):
        said.append(f"{tokens_words(edit.queries, edit)}>{tokens_words(edit.keys, edit)}")
    if isinstance(edit, (Gate, Reweight)):
        said.append(_by_words(edit.by))
    return " ".join(said)


def named(edit: Edit) -> str:
    """The words of an edit, for people: what words can't say is described.

    >>> named(Gate(layer=5, head=3))
    'gate L5H3 0'
    """
    try:
        return words_of(edit)
    except EditError:
        pass
    try:
        where = sites_words(edit.layer, edit.head, edit)
    except EditError:
        where = f"layer {edit.layer}, head {edit.head}"
    kind = next((word for word, kind in _KINDS.items() if kind == edit.kind), None)
    return " ".join(filter(None, (type(edit).__name__.lower(), getattr(edit, "name", None), kind, where)))


def names(edits: Sequence[Edit]) -> list[str]:
    """Edits for the name of a run: all of a few, else the first and how many more.

    >>> names([Gate(layer=5, head=head) for head in range(7)])
    ['gate L5H0 0', 'gate L5H1 0', '5 more edits']
    """
    few = edits if len(edits) <= _NAMED else edits[: _NAMED - 1]
    rest = len(edits) - len(few)
    return [*map(named, few), *([f"{rest} more edits"] if rest else [])]


def _made(name: str, kind: Kind | None, fields: list[str], means: MeanOutputs | None) -> Edit:
    layer, head = sites_of(fields[0])
    at: dict[str, Any] = {"layer": layer, "head": head, "kind": kind}
    rest = fields[1:]
    if name in ("cut", "reweight"):
        if not rest or ">" not in rest[0]:
            got = rest[0] if rest else ""
            raise EditError(
                worded("tokens must be queries>keys, without spaces (> alone for all), got {got!r}", got=got)
            )
        at["queries"], at["keys"] = tokens_of(rest.pop(0))
    if name in ("gate", "reweight") and rest:
        at["by"] = _by(rest.pop(0))
    if rest:
        raise EditError(
            worded(
                "{name} must have nothing after it but {form}, got {rest!r}",
                name=name,
                form=_EXAMPLES[name],
                rest=rest[0],
            )
        )
    if name == "mean":
        if means is None:
            raise EditError(worded("means must be given for mean; say over which texts, with --over FILE"))
        return MeanOutput(means, **at)
    made: dict[str, type[Edit]] = {"cut": Cut, "reweight": Reweight, "uniform": Uniform, "gate": Gate}
    return made[name](**at)


def _by(words: str) -> Any:
    """A factor: one number, or several with commas, one per position."""
    try:
        numbers = [float(number) for number in words.removesuffix(",").split(",")]
    except ValueError:
        raise EditError(
            worded("by must be a number, or one per position with commas, got {words!r}", words=words)
        ) from None
    return np.array(numbers) if "," in words else numbers[0]


def _by_words(by: Any) -> str:
    numbers = np.asarray(by.detach().cpu().numpy() if hasattr(by, "detach") else by, np.float64)
    said = ",".join(f"{number!r}".removesuffix(".0") for number in np.atleast_1d(numbers).tolist())
    return said if numbers.ndim == 0 or len(numbers) > 1 else f"{said},"


def _wrong(words: object, rule: str, name: str) -> NoReturn:
    raise EditError(
        worded(
            "edit must be {rule}, got {words!r}; such as {example!r}", rule=rule, words=words, example=_EXAMPLES[name]
        )
    )
