"""What readers give: texts, and what could not be read."""

from __future__ import annotations

from typing import Any, NamedTuple


class Item(NamedTuple):
    """One place of a file.

    Attributes:
        place: its number in the file, from 0.
        text: its text; empty if it can't be measured.
        reason: why not, one of `eyeline.surveys.document.REASONS`; empty if it can.
        detail: one line that says more, in English and the same in every run.
    """

    place: int
    text: str
    reason: str = ""
    detail: str = ""


def item(place: int, value: Any) -> Item:
    """The item for a value of a file: a text that can be measured, or why it can't."""
    if value is None:
        return Item(place, "", "empty", "no value")
    if not isinstance(value, str):
        return Item(place, "", "not text", f"the value is {kind_of(value)}")
    if not value or value.isspace():
        return Item(place, "", "empty", "no text")
    if "\0" in value:
        return Item(place, "", "not text", f"the NUL character at {value.index(chr(0))}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            return Item(place, "", "encoding", f"no valid Unicode at character {error.start}")
    return Item(place, value)


def kind_of(value: Any) -> str:
    """The type of a value of JSON or of a table, in words.

    >>> kind_of([1]), kind_of(2.5)
    ('a list', 'a number')
    """
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return type(value).__name__
