"""Layers, heads and tokens in an edit's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from eyeline.edits.errors import EditError
from eyeline.words import worded

_NUMBERS = r"\d{1,9}(?:-(?:\d{1,9})?)?"
_SITE = re.compile(rf"(?:L({_NUMBERS}))?(?:H({_NUMBERS}))?", re.IGNORECASE)
#: A token: a position or a range of them, a quoted word, or a word.
_TOKEN = re.compile(rf'#({_NUMBERS})|"((?:[^"\\]|\\.)*)"|([^\s",>#][^\s",>]*)')
#: The most layers, heads or tokens that several ranges may choose: as many tokens as a long text has.
MOST = 100_000
_PLAIN = re.compile(r'[^\s",>#][^\s",>]*')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

Numbers = int | slice


def sites_of(words: str) -> tuple[Any, Any]:
    """Layers and heads from their words.

    >>> sites_of("L5H3,L5H4"), sites_of("L2-5"), sites_of("H3"), sites_of("all")
    ((5, (3, 4)), (slice(2, 6, None), None), (None, 3), (None, None))
    """
    if words.lower() == "all":
        return None, None
    found = []
    for word in words.split(","):
        match = _SITE.fullmatch(word)
        if not word or match is None:
            raise EditError(worded("heads must be L5H3, L5, H3 or all, several with commas, got {word!r}", word=word))
        found.append(tuple(None if one is None else _numbers(one) for one in match.groups()))
    layers, heads = ([*dict.fromkeys(map(_hashable, side))] for side in zip(*found, strict=True))
    if {(layer, head) for layer in layers for head in heads} != {(*map(_hashable, one),) for one in found}:
        raise EditError(
            worded("heads must be the same ones in each layer, got {words!r}; write two edits", words=words)
        )
    return _joined(layers, worded("layers")), _joined(heads, worded("heads"))


def sites_words(layer: Any, head: Any, edit: object) -> str:
    """Layers and heads as words."""
    layers, heads = (_parts(which, edit) for which in (layer, head))
    if layers is None and heads is None:
        return "all"
    return ",".join(
        ("" if one is None else f"L{_words(one)}") + ("" if other is None else f"H{_words(other)}")
        for one in ([None] if layers is None else layers)
        for other in ([None] if heads is None else heads)
    )


def tokens_of(words: str) -> tuple[Any, Any]:
    """Queries and keys from their words.

    >>> tokens_of('flies,#2>"New York"'), tokens_of(">#1-")
    ((('flies', 2), 'New York'), (None, slice(1, None, None)))
    """
    place, sides = 0, []
    for end in (">", ""):
        found: list[Any] = []
        while words[place : place + 1] != end:
            match = _TOKEN.match(words, place)
            if match is None:
                raise EditError(
                    worded(
                        "tokens must be words or positions such as #2 and #2-5, with commas between, and words with "
                        'signs in "", got {words!r}',
                        words=words[place:],
                    )
                )
            numbers, quoted, plain = match.groups()
            found.append(_numbers(numbers) if numbers else plain if plain else _ESCAPED.sub(r"\1", quoted))
            place = match.end()
            if words[place : place + 1] == ",":
                place += 1
                if words[place : place + 1] in (end, ""):
                    raise EditError(
                        worded("tokens must have a word or a position after each comma, got {words!r}", words=words)
                    )
            elif words[place : place + 1] != end:
                raise EditError(
                    worded("tokens must stand with commas between them, got {words!r}", words=words[place:])
                )
        place += 1
        sides.append(_joined(found, worded("tokens")) if found else None)
    return sides[0], sides[1]


def tokens_words(which: Any, edit: object) -> str:
    """Queries or keys as words; all are no word."""
    parts = _parts(which, edit)
    return "" if parts is None else ",".join(one if isinstance(one, str) else f"#{_words(one)}" for one in parts)


def _numbers(words: str) -> Numbers:
    """A number, or a range, whose end is included."""
    first, dash, last = words.partition("-")
    if not dash:
        return int(first)
    if last and int(last) < int(first):
        raise EditError(worded("a range must go up, got {words!r}", words=words))
    return slice(int(first), int(last) + 1 if last else None)


def _hashable(one: Any) -> Any:
    """A slice as a pair: slices are hashable only from Python 3.12 on."""
    return (one.start, one.stop) if isinstance(one, slice) else one


def _joined(parts: Sequence[Any], name: str) -> Any:
    """One selection from several parts: alone as it is, else one after the other."""
    parts = [slice(*one) if isinstance(one, tuple) else one for one in parts]
    if len(parts) == 1:
        return parts[0]
    # A range is written out only once its length is known: the words may come from anyone.
    count = sum(one.stop - one.start for one in parts if isinstance(one, slice) and one.stop is not None)
    if count > MOST:
        raise EditError(
            worded("{name} must be at most {most} in several ranges, got {count}", name=name, most=MOST, count=count)
        )
    found: list[Any] = []
    for one in parts:
        if one is None or (isinstance(one, slice) and one.stop is None):
            raise EditError(
                worded("{name} must be all, or a range to the end, or several, got a mix of these", name=name)
            )
        found += range(one.start, one.stop) if isinstance(one, slice) else [one]
    return tuple(dict.fromkeys(found))


def _parts(which: Any, edit: object) -> list[Any] | None:
    """A selection as numbers, ranges and words, which are quoted where they need it; None for all."""
    if which is None or which == slice(None):
        return None
    if isinstance(which, slice):
        start, stop, step = which.start or 0, which.stop, which.step or 1
        if start < 0 or step < 0 or (stop is not None and stop < 0) or (stop is None and step != 1):
            raise EditError(
                worded("edit must choose from the front to be written in words, got {edit!r}; give numbers", edit=edit)
            )
        if step == 1 and (stop is None or stop > start):
            return [slice(start, stop)]
        which = tuple(range(start, stop, step))
    given = dict.fromkeys(which if isinstance(which, tuple) else (which,))
    found = [one if isinstance(one, int) else _quoted(one) for one in given]
    if not found:
        raise EditError(worded("edit must choose something to be written in words, got {edit!r}", edit=edit))
    return found


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _words(one: Numbers) -> str:
    if isinstance(one, int):
        return str(one)
    return f"{one.start}-" + ("" if one.stop is None else str(one.stop - 1))
