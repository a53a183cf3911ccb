"""A reader for the subset of gettext's .po format that the catalogue uses: no plurals, no obsolete entries."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r'(?:(msgctxt|msgid|msgstr) )?"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class Message(NamedTuple):
    """One entry: its context, or None; the English text; and the translation, empty if there is none yet."""

    context: str | None
    english: str
    translated: str


def messages(text: str) -> list[Message]:
    r"""Parse the entries of a .po file. The first is its header, whose English text is empty.

    Raises:
        ValueError: if a line is outside that subset.

    >>> messages('# a comment\nmsgctxt "page.view"\nmsgid "View"\nmsgstr ""\n"Góc "\n"nhìn"\n')
    [Message(context='page.view', english='View', translated='Góc nhìn')]
    """
    found: list[dict[str, str]] = []
    part = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None or not (match[1] or part):
            raise ValueError(f"line {number} of a .po file must be msgctxt, msgid, msgstr or a text, got {line!r}")
        if match[1] == "msgctxt" or (match[1] == "msgid" and part != "msgctxt"):
            found.append({})
        part = match[1] or part
        found[-1][part] = found[-1].get(part, "") + _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], match[2])
    return [Message(entry.get("msgctxt"), entry["msgid"], entry["msgstr"]) for entry in found]
