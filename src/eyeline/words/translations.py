"""Texts in the language of the moment, and the table of the page's texts in all of them."""

from __future__ import annotations

from functools import cache

from eyeline.words.language import ENGLISH, HERE, language, languages
from eyeline.words.po_file import Message, messages

_PAGE = "page."
#: The context of the entry that says what a language calls itself.
OWN_NAME = "own name"


def worded(english: str, /, **values: object) -> str:
    """A text in the language of the moment, each {name} in it filled in.

    Args:
        english: the text in English, which is also its key; English is shown where there is no translation.
        values: what the names stand for, as it is to be shown.

    >>> worded("{count} more", count=3)
    '3 more'
    """
    code = language()
    text = english if code == ENGLISH else _translations(code).get(english, english)
    return text.format(**values)


@cache
def entries(code: str) -> tuple[Message, ...]:
    """The entries of a language's file, without its header."""
    return tuple(messages((HERE / code / "LC_MESSAGES" / "eyeline.po").read_text("utf-8"))[1:])


@cache
def _translations(code: str) -> dict[str, str]:
    """By the English text, of entries without a context."""
    return {one.english: one.translated for one in entries(code) if one.context is None and one.translated}


def own_names() -> dict[str, str]:
    """What each language calls itself, by its code."""
    names = {ENGLISH: "English"}
    for code in languages()[1:]:
        names[code] = next(one.translated for one in entries(code) if one.context == OWN_NAME)
    return names


def page_table() -> dict[str, list[str]]:
    """The page's texts: by key, one for each of `languages()`."""
    table: dict[str, list[str]] = {}
    for code in languages()[1:]:
        for one in entries(code):
            if one.context is not None and one.context.startswith(_PAGE):
                table.setdefault(one.context.removeprefix(_PAGE), [one.english]).append(one.translated)
    return table
