"""Find the one token that a question names: by its word, by its piece, or by its position."""

from __future__ import annotations

import re

import numpy as np

from eyeline.answers.question import QuestionError
from eyeline.answers.score_sources.answer import WhyToken
from eyeline.models.units import Unit
from eyeline.traces.tokenized_text import TokenizedText
from eyeline.traces.word_search import MissingWordError, find
from eyeline.words import worded

_POSITION = re.compile(r"#([0-9]{1,9})")


def token_at(line: TokenizedText, index: int) -> WhyToken:
    """A token by its position."""
    return WhyToken(index, line.ids[index], _text(line, index))


def find_token(line: TokenizedText, given: object, nth: int | None, name: str, nth_name: str) -> WhyToken:
    """Find a token.

    Args:
        line: the text.
        given: a position, also as "#3"; or a word of one token, or a piece of a word.
        nth: which occurrence, from 1.
        name, nth_name: the arguments' names in errors.

    Raises:
        QuestionError: if it isn't there, is there more than once, or has several tokens.
    """
    position = _POSITION.fullmatch(given) if isinstance(given, str) else None
    if position is not None:
        given = int(position[1])
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if not 0 <= given < len(line):
            raise QuestionError(
                worded(
                    "{name} must be a position from 0 to {last}, got {given}",
                    name=name,
                    last=len(line) - 1,
                    given=int(given),
                )
            )
        return token_at(line, int(given))
    if not isinstance(given, str):
        raise QuestionError(
            worded("{name} must be a word of the text or a position, got {given!r}", name=name, given=given)
        )
    try:
        units = _words(line)
        places = find(given, nth, units, line.text, True, nth_name).tokens(units)
    except MissingWordError as missing:
        try:
            units = _pieces(line)
            places = find(given, nth, units, line.text, True, nth_name).tokens(units)
        except MissingWordError:
            raise missing from None  # which names the words
    if len(places) > 1:
        pieces = ", ".join(f"{_text(line, place)} (#{place})" for place in places)
        raise QuestionError(
            worded(
                "{name} must be one token, got {given!r}, which the model reads as {count}: {pieces}",
                name=name,
                given=given,
                count=len(places),
                pieces=pieces,
            ),
            worded("give one of them, such as {example}", example=f'{name}="#{places[-1]}"'),
            worded("give one of them, such as {example}", example=f'"#{places[-1]}"'),
        )
    return token_at(line, places[0])


def _text(line: TokenizedText, index: int) -> str:
    span = line.spans[index]
    return line.pieces[index] if span is None else line.text[slice(*span)].strip() or line.pieces[index]


def _words(line: TokenizedText) -> list[Unit]:
    return [
        Unit(
            line.pieces[word.tokens[0]] if word.span is None else line.text[slice(*word.span)],
            word.span,
            tuple(range(*word.tokens)),
            bare=word.span is not None and not line.text[slice(*word.span)].strip(),
        )
        for word in line.words
    ]


def _pieces(line: TokenizedText) -> list[Unit]:
    return [Unit(_text(line, index), span, (index,)) for index, span in enumerate(line.spans)]
