"""A corpus as one stream of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eyeline.surveys.corpus.corpus_files import CorpusFile, listed
from eyeline.surveys.corpus.finding import FoundFile
from eyeline.surveys.corpus.given_texts import GivenTexts
from eyeline.surveys.corpus.item import Item
from eyeline.surveys.corpus.reading import Digest, Stamp, items_of
from eyeline.surveys.corpus.reasons import in_words
from eyeline.surveys.document import Document, Skipped
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.progress import Progress
from eyeline.words import local_number, worded

#: The first reading tells its progress after so many documents.
_TOLD = 1000


class Corpus:
    """A corpus: files, or texts that are given.

    It is read twice. `scan` reads it all before anything is measured: for the files' hashes, so that a survey that
    goes on knows it is the same corpus; for the number of documents and characters, so that the time left is known;
    and to find a column that isn't there before a model is loaded. `documents` reads it again. Reading takes some ten
    seconds a gigabyte, measuring takes hours. In memory are one document, and some 600 bytes for each file.

    Args:
        sources: the files, or the texts.
        column: the column of the text; None finds it in each file.

    Attributes:
        files: the files, once they were read.
        document_count, characters: of the whole corpus, once it was read; None before.
        once: whether it can be read only once, since an iterator of texts was given: `scan` does nothing then, and
            such a survey can't be resumed.
    """

    def __init__(self, sources: Sequence[FoundFile | GivenTexts], column: str | None = None) -> None:
        self._sources = sources
        self._columns: set[str] = set()
        self._stamps: list[Stamp | None] = [None] * len(sources)
        self.column = column
        self.files: tuple[CorpusFile, ...] = ()
        self._listed: list[dict[str, Any]] = []
        self.document_count: int | None = None
        self.characters: int | None = None
        self.once = any(isinstance(source, GivenTexts) and source.once for source in sources)

    def scan(self, strict: bool = False, progress: Callable[[Progress], None] | None = None) -> None:
        """Read the whole corpus a first time, unless it can be read only once.

        Args:
            strict: stop at the first thing that can't be read.
            progress: is told how many documents were read.

        Raises:
            SurveyError: if a column isn't there or isn't text, no document is there, or `strict` finds something.
        """
        if self.once:
            return
        for document in self._read(strict, None, first=True):
            if progress is not None and document.number % _TOLD == 0:
                count = local_number(document.number)
                progress(Progress(note=worded("reading the corpus: {count} documents", count=count)))

    def documents(self, strict: bool = False, skipped: Callable[[Skipped], None] | None = None) -> Iterator[Document]:
        """The documents, in order.

        Args:
            strict: stop at the first thing that can't be read.
            skipped: is told what can't be read, in order, among the documents.

        Raises:
            SurveyError: as `scan`.
        """
        return self._read(strict, skipped, first=self.once)

    def _read(self, strict: bool, skipped: Callable[[Skipped], None] | None, first: bool) -> Iterator[Document]:
        """Read all; the first time, keep what is known of the files."""
        number = characters = 0
        files: list[CorpusFile] = []
        reason: Skipped | None = None
        for at, source in enumerate(self._sources):
            digest, known, before = (Digest() if first else None), self._stamps[at], number
            for item in _items(source, self.column, digest, known):
                if not item.reason:
                    yield Document(number, source.path, item.place, item.text)
                    number += 1
                    characters += len(item.text)
                    continue
                one = Skipped(source.path, item.place, item.reason, item.detail)
                reason = reason or one
                if strict:
                    raise SurveyError(in_words(one))
                if skipped is not None:
                    skipped(one)
            if digest is not None:
                files.append(CorpusFile(source.path, digest.size, digest.sha256, number - before))
                self._stamps[at] = digest.stamp
                self._columns |= {digest.column} if digest.column is not None else set()
        if first:
            self.files, self.document_count, self.characters = tuple(files), number, characters
            self._listed = listed(files)
            if not number:
                raise SurveyError(_without_documents(reason))

    def as_json(self) -> dict[str, Any]:
        """The corpus as survey.json has it; its column is what was found if that is the same in all files."""
        found = next(iter(self._columns)) if len(self._columns) == 1 else None
        return {
            "files": self._listed,
            "column": self.column or found,
            "documents": self.document_count,
            "characters": self.characters,
        }


def _items(
    source: FoundFile | GivenTexts, column: str | None, digest: Digest | None, known: Stamp | None
) -> Iterator[Item]:
    if isinstance(source, GivenTexts):
        return source.items(column, digest)
    return items_of(source, column, digest, known)


def _without_documents(first: Skipped | None) -> str:
    if first is None:
        return worded("corpus must have at least one document, got none")
    return worded("corpus must have at least one document, got none; the first was skipped: {why}", why=in_words(first))
