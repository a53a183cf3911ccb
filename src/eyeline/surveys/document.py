"""The documents of a corpus, and what was skipped of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """One document of a corpus.

    Attributes:
        number: its number in the corpus, from 0, in the order of the files and of the documents in each.
        file: its file's path as survey.json lists it; empty for a text that was given.
        place: its number in the file, from 0: the line of a .jsonl file, the row of a table, 0 for a whole .txt file.
        text: the text.
    """

    number: int
    file: str
    place: int
    text: str


@dataclass(frozen=True)
class Skipped:
    """Something of a corpus that could not be measured.

    Attributes:
        file, place: as in `Document`.
        reason: one of `REASONS`, in short.
        detail: one line that says more.
    """

    file: str
    place: int
    reason: str
    detail: str


#: Why documents are skipped. A whole file that can't be read counts once, with place 0.
REASONS = (
    "empty",
    "not text",
    "encoding",
    "damaged line",
    "damaged file",
    "missing file",
    "unreadable file",
    "failed",
)
