"""How far a survey has come, in small records for whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a survey has come. Speed and time left follow from two of these and a clock, which isn't in here.

    Attributes:
        documents: the documents that are measured, those of parts kept from an earlier run included.
        documents_in_all: all documents of the corpus; None where that isn't known yet, or the corpus can be read only
            once.
        kept: how many of `documents` are from an earlier run.
        tokens: the tokens that this run has measured. The first record of the measuring itself has 0, and no note: the
            clock of the speed starts there.
        characters: the characters that this run has measured.
        characters_left: the characters still to be measured; None where that isn't known.
        skipped: how many documents, lines or files were skipped so far.
        note: what is being done or waited for where that isn't the measuring, one line in the reader's language, such
            as "reading the corpus"; empty while measuring.
    """

    documents: int = 0
    documents_in_all: int | None = None
    kept: int = 0
    tokens: int = 0
    characters: int = 0
    characters_left: int | None = None
    skipped: int = 0
    note: str = ""
