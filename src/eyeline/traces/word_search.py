"""Find the question's word among the units of a text."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eyeline.models.units import Unit
from eyeline.traces.errors import QuestionError
from eyeline.words import worded

_NAMED = 12  # the largest number of words that an error names


class MissingWordError(QuestionError):
    """Raised for a word that isn't in the text."""


class RepeatedWordError(QuestionError):
    """Raised for a word that is in the text more than once, where it isn't said which is meant.

    Attributes:
        runs: the indices of the units that each covers.
        repeated: what is wrong, without the way out.
    """

    def __init__(self, repeated: str, runs: Sequence[tuple[int, ...]], advice: str, command: str) -> None:
        super().__init__(repeated, advice, command)
        self.repeated, self.runs = repeated, runs


@dataclass(frozen=True)
class FoundWord:
    """The question's word, found in the text.

    Attributes:
        text: the word as written in the text.
        nth: which occurrence, from 1.
        units: the indices of the units that it covers.
    """

    text: str
    nth: int
    units: tuple[int, ...]

    def tokens(self, units: Sequence[Unit]) -> list[int]:
        """The positions of its tokens; `units` are the text's units."""
        return [position for unit in self.units for position in units[unit].tokens]


def find(token: str, nth: int | None, units: Sequence[Unit], text: str, special: bool, name: str = "nth") -> FoundWord:
    """Find the units that a word covers: one, or several in a row.

    An exact match has precedence; otherwise case and the composition of accents (Unicode normalization) don't matter.

    Args:
        token: the word, or several in a row.
        nth: which occurrence, counted from 1.
        units: the text's units.
        text: the text.
        special: whether special tokens are searched too.
        name: the name of the argument `nth` in errors.

    Raises:
        QuestionError: if the word doesn't occur, or occurs more than once and `nth` is None.
    """
    if not isinstance(token, str) or not token.strip():
        raise QuestionError(
            worded(
                "token must be a word of the text, got {token!r}; {there_are}",
                token=token,
                there_are=_there_are(token, units),
            )
        )
    asked = token.strip()
    named = [place for place, unit in enumerate(units) if unit.span is None and unit.text == asked]
    spans = [(place,) for place in named] if named and special else _matches(asked, units, text)
    if not spans:
        if named:
            advice = (worded("special=True puts it back"), worded("add --special to put it back"))
            raise QuestionError(
                worded(
                    "token must be a word of the text, got {asked!r}, a special token that is set aside", asked=asked
                ),
                *advice,
            )
        raise MissingWordError(
            worded(
                "token must be a word of the text, got {asked!r}, which isn't there; {there_are}",
                asked=asked,
                there_are=_there_are(asked, units),
            )
        )
    if nth is None and len(spans) > 1:
        places = [
            worded("{number} is {words}", number=number, words=_around(units, span, text))
            for number, span in enumerate(spans[:6], 1)
        ]
        message = worded(
            "token must be one word of the text, got {asked!r}, which is there {count} times: {places}",
            asked=asked,
            count=len(spans),
            places="; ".join(places),
        )
        more = worded("; and so on") if len(spans) > 6 else ""
        choice = worded("1 or 2") if len(spans) == 2 else worded("1 to {count}", count=len(spans))
        option = f"--{name.replace('_', '-')}"
        advice = (
            worded("say which with {name}={choice}", name=name, choice=choice),
            worded("say which with {option} {choice}", option=option, choice=choice),
        )
        raise RepeatedWordError(message + more, spans, *advice)
    number = 1 if nth is None else nth
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 1 <= number <= len(spans):
        times = worded("once") if len(spans) == 1 else worded("{count} times", count=len(spans))
        raise QuestionError(
            worded(
                "{name} must be from 1 to {count}, got {number!r}: {asked!r} is there {times}",
                name=name,
                count=len(spans),
                number=number,
                asked=asked,
                times=times,
            )
        )
    chosen = spans[number - 1]
    return FoundWord(_text(units, chosen, text), int(number), chosen)


def _text(units: Sequence[Unit], run: Sequence[int], text: str) -> str:
    first, last = units[run[0]].span, units[run[-1]].span
    return units[run[0]].text if first is None or last is None else text[first[0] : last[1]]


def _matches(asked: str, units: Sequence[Unit], text: str) -> list[tuple[int, ...]]:
    """All runs of units that match the word, without overlaps."""
    for alike in (lambda s: s, _composed, _folded):
        goal, found, start = alike(asked), [], 0
        longest = 4 * len(asked) + 8
        while start < len(units):
            first, step = units[start].span, 1
            for end in range(start, len(units)):
                last = units[end].span
                if first is None or last is None or last[1] - first[0] > longest:
                    break
                if alike(text[first[0] : last[1]]) == goal:
                    found.append(tuple(range(start, end + 1)))
                    step = end - start + 1
                    break
            start += step
        if found:
            return found
    return []


def _composed(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", _composed(text).casefold())


def _around(units: Sequence[Unit], run: Sequence[int], text: str) -> str:
    """A word with its neighbours: 'time [flies] like'."""
    before = [unit.text for unit in units[max(run[0] - 1, 0) : run[0]] if not unit.extra]
    after = [unit.text for unit in units[run[-1] + 1 : run[-1] + 2] if not unit.extra]
    return " ".join([*before, f"[{_text(units, run, text)}]", *after])


def _there_are(asked: object, units: Sequence[Unit]) -> str:
    """The words of the text: all if they are few, else those with a similar spelling, then the first ones."""
    names = dict.fromkeys(unit.text for unit in units if not unit.extra)
    words = [name for name in names if any(unicodedata.category(letter)[0] != "P" for letter in name)] or list(names)
    if len(words) <= _NAMED:
        return worded("the words are {words}", words=", ".join(words))
    by_folded = {_folded(word): word for word in reversed(words)}
    near = [by_folded[word] for word in difflib.get_close_matches(_folded(str(asked)), by_folded, n=4, cutoff=0.6)]
    named = [*near, *(word for word in words if word not in near)][:_NAMED]
    return worded("the words are {named} and {count} more", named=", ".join(named), count=len(words) - len(named))
