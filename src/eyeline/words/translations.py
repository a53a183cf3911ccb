"""Texts in the current language, and the table of the page's texts in all languages."""

from __future__ import annotations

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
