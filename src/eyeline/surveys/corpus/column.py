"""Which column of a table, or which value of a JSON object, is the text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eyeline.surveys.corpus.reasons import kind_in_words
from eyeline.surveys.errors import SurveyError
from eyeline.words import worded

#: The column that is taken where several have text and none is named.
USUAL = "text"
_MOST_LISTED = 40
_ABSENT = object()


@dataclass
class Column:
    """The column that is the text.

    Attributes:
        name: its name; None until a reader found it.
    """

    name: str | None = None


def value_of(record: Mapping[str, Any], column: str) -> Any:
    """The value of a column; "message.content" is the column of that name, else `content` in `message`.

    Raises:
        KeyError: if there is no such column.

    >>> value_of({"message": {"content": "yes"}}, "message.content")
    'yes'
    """
    value = record.get(column, _ABSENT)
    if value is not _ABSENT:
        return value
    outer, dot, inner = column.partition(".")
    while dot:
        there = record.get(outer, _ABSENT)
        if isinstance(there, Mapping):
            return value_of(there, inner)
        more, dot, inner = inner.partition(".")
        outer = f"{outer}.{more}"
    raise KeyError(column)


def names_of(record: Mapping[str, Any]) -> list[str]:
    """The names of all values of a record, nested ones with dots."""
    names: list[str] = []
    for name, value in record.items():
        nested = names_of(value) if isinstance(value, Mapping) else []
        names += [f"{name}.{inner}" for inner in nested] or [name]
    return names


def only(with_text: Sequence[str], file: str) -> str:
    """The column to read where none is named: "text", else the only one that has text.

    Args:
        with_text: the names of the columns that have text.
        file: the file, for the message.

    Raises:
        SurveyError: if there are several, or none.
    """
    if USUAL in with_text:
        return USUAL
    if len(with_text) == 1:
        return with_text[0]
    if not with_text:
        raise SurveyError(
            worded("{file} must have a column of text, got none; name one, or leave the file out", file=file)
        )
    raise SurveyError(
        worded(
            "column must be named, since {file} has several with text: {columns}; such as column={first!r}",
            file=file,
            columns=listed(with_text),
            first=with_text[-1],
        )
    )


def missing(column: str, there: Collection[str], file: str) -> SurveyError:
    """The error for a column that a file doesn't have."""
    return SurveyError(
        worded(
            "column must be one that {file} has, got {column!r}; there are {columns}",
            file=file,
            column=column,
            columns=listed(there) or worded("none"),
        )
    )


def no_text(column: str, kind: str, file: str) -> SurveyError:
    """The error for a column of numbers, of lists, ..."""
    return SurveyError(
        worded(
            "column must be text, got {column!r} of {file}, where it is {kind}",
            column=column,
            file=file,
            kind=kind_in_words(kind),
        )
    )


def listed(names: Collection[str]) -> str:
    """Names, with commas; the first ones if there are many."""
    first = list(names)[:_MOST_LISTED]
    return ", ".join([*first, "..."] if len(names) > _MOST_LISTED else first)
