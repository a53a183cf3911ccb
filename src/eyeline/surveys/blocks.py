"""The blocks of a corpus: the documents that are measured together, and what each block's figures depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from eyeline.surveys.document import Document
from eyeline.surveys.fingerprints import fingerprint
from eyeline.surveys.settings import Settings

#: The most documents of a block, however short they are.
MOST_DOCUMENTS = 1024


@dataclass(frozen=True)
class CorpusBlock:
    """Documents that are measured together, and that follow one another in the corpus.

    Attributes:
        number: its number, from 0.
        documents: at least one.
        fingerprint: of all that its figures depend on.
    """

    number: int
    documents: tuple[Document, ...]
    fingerprint: str


def blocks(documents: Iterable[Document], settings: Settings, model: dict[str, Any]) -> Iterator[CorpusBlock]:
    """Cut a corpus into blocks: each ends once it has `settings.block` characters, or `MOST_DOCUMENTS` documents.

    Which documents share a block depends on the corpus and on `settings.block` alone.

    Args:
        documents: the corpus, in order; only one block of it is held at a time.
        settings: the settings.
        model: survey.json's "model", for the fingerprints.

    Yields:
        Each `CorpusBlock` as soon as it is full.

    >>> texts = ["time flies", "an arrow", "like"]
    >>> corpus = [Document(number, "a.txt", number, text) for number, text in enumerate(texts)]
    >>> [len(block.documents) for block in blocks(corpus, Settings(window=8, overlap=1, block=12), {})]
    [2, 1]
    """
    number, characters, gathered = 0, 0, list[Document]()
    for document in documents:
        gathered.append(document)
        characters += len(document.text)
        if characters >= settings.block or len(gathered) >= MOST_DOCUMENTS:
            yield CorpusBlock(number, tuple(gathered), fingerprint(gathered, settings, model))
            number, characters, gathered = number + 1, 0, []
    if gathered:
        yield CorpusBlock(number, tuple(gathered), fingerprint(gathered, settings, model))
