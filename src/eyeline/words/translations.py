"""Texts in the current language, and the table of the page's texts in all languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from eyeline.words.language import ENGLISH, HERE, language, languages
from eyeline.words.po_file import Message, messages

_PAGE = "page."
#: The context of the entry with a language's own name.
OWN_NAME = "own name"


def worded(english: str, /, **values: object) -> str:
    """Translate a text into the current language, and fill in each {name}.

    Args:
        english: the text in English, which is also its key; it is returned if there is no translation.
        values: the values of the names.

    >>> worded("{count} more", count=3)
    '3 more'
    """
    return translation(english).format(**values)


def translation(english: str) -> str:
    """A text of the catalogue in the current language, with its {name}s as they are; English if there is none."""
    code = language()
    return english if code == ENGLISH else _translations(code).get(english, english)


def noted(english: str) -> str:
    """Mark a text for the catalogue, and return it as it is: `reworded` translates what is made of it.

    >>> noted("{count} more")
    '{count} more'
    """
    return english


def reworded(said: str, texts: Sequence[str]) -> str:
    """Translate a text that was written in English, such as one of a file or of the system.

    Args:
        said: the text, its names filled in.
        texts: those that it may have been made of, each marked by `noted`; of several the first that fits.

    Returns:
        The translation with the same values; `said` itself if no text fits.

    >>> reworded("3 more", [noted("{count} more")])
    '3 more'
    """
    if language() == ENGLISH:
        return said
    for english in texts:
        if found := _pattern(english).fullmatch(said):
            return worded(english, **found.groupdict())
    return said


@cache
def _pattern(english: str) -> re.Pattern[str]:
    """What a text is once its names are filled in."""
    parts = re.split(r"\{(\w+)\}", english)  # a text, a name, a text ...
    made = "".join(f"(?P<{part}>.+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return re.compile(made, re.DOTALL)


@cache
def entries(code: str) -> tuple[Message, ...]:
    """The entries of a language's file, without its header."""
    return tuple(messages((HERE / code / "LC_MESSAGES" / "eyeline.po").read_text("utf-8"))[1:])


@cache
def _translations(code: str) -> dict[str, str]:
    """The translations of entries without a context, by their English text."""
    return {one.english: one.translated for one in entries(code) if one.context is None and one.translated}


def own_names() -> dict[str, str]:
    """Each language's own name, by its code."""
    names = {ENGLISH: "English"}
    for code in languages()[1:]:
        names[code] = next(one.translated for one in entries(code) if one.context == OWN_NAME)
    return names


def page_table() -> dict[str, list[str]]:
    """The page's texts by key, each in the order of `languages()`."""
    table: dict[str, list[str]] = {}
    for code in languages()[1:]:
        for one in entries(code):
            if one.context is not None and one.context.startswith(_PAGE):
                table.setdefault(one.context.removeprefix(_PAGE), [one.english]).append(one.translated)
    return table


def page_text(key: str) -> str:
    """The page's text of a key in the current language.

    >>> page_text("kind.previous")
    'previous token'
    """
    return _page_texts(language())[key]


@cache
def _page_texts(code: str) -> dict[str, str]:
    place = languages().index(code)
    return {key: texts[place] for key, texts in page_table().items()}
