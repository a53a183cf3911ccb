"""README.vi.md beside README.md: below each heading stands of which English text it is the translation, as a hash."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENGLISH, TRANSLATED = ROOT / "README.md", (ROOT / "README.vi.md",)
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_MADE = re.compile(r"<!-- beside: .*?<!-- /beside -->", re.DOTALL)  # written by bench/table.py in both languages
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_OF = re.compile(r"<!-- of: ([0-9a-f]{12}) -->")


def sections(text: str) -> list[tuple[str, str]]:
    """The headings of a README, in order, each with the text from it to the next."""
    shadow = _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)
    places = [found.start() for found in _HEADING.finditer(shadow)]
    return [
        (text[first : text.index("\n", first)], text[first:last])
        for first, last in zip(places, [*places[1:], len(text)], strict=True)
    ]


def hashes(text: str) -> list[str]:
    """A hash of each section of the English README, without its tables of measurements."""
    return [hashlib.sha256(_MADE.sub("", part).encode()).hexdigest()[:12] for _, part in sections(text)]


def moved_on(english: str, translated: str) -> list[str]:
    """The English headings whose text isn't the one that was translated; all of them, if sections don't match."""
    there, theirs = sections(english), sections(translated)
    if len(there) != len(theirs):
        return [heading for heading, _ in there]
    noted = [found[1] if (found := _OF.search(part)) else "" for _, part in theirs]
    return [heading for (heading, _), now, then in zip(there, hashes(english), noted, strict=True) if now != then]


def stamped(english: str, translated: str) -> str:
    """The translation with the hashes of the English text as it is now: once it has been translated again."""
    made = [
        re.sub(r"\n*$", "\n", _OF.sub("", part), count=1).replace(
            f"{heading}\n", f"{heading}\n\n<!-- of: {now} -->\n", 1
        )
        for (heading, part), now in zip(sections(translated), hashes(english), strict=True)
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made))
