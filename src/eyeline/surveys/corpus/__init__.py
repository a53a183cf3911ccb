"""A corpus as one stream of documents, in a fixed order and bounded memory.

Files are found by paths, folders, patterns and URIs (`finding`), opened where they are (`storage`), read by their
format (`plain`, `json_lines`, `separated`, `parquet`), and what can't be read is skipped and told. pyarrow is loaded
for .parquet, .zst and URIs alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from itertools import chain
from typing import Any

from eyeline.surveys.corpus.corpus_files import CorpusFile
from eyeline.surveys.corpus.finding import find
from eyeline.surveys.corpus.formats import format_of
from eyeline.surveys.corpus.given_texts import GivenTexts
from eyeline.surveys.corpus.reasons import detail_in_words, in_words, reason_in_words
from eyeline.surveys.corpus.stream import Corpus
from eyeline.surveys.errors import SurveyError
from eyeline.words import worded

__all__ = ["Corpus", "CorpusFile", "corpus", "corpus_of_files", "detail_in_words", "in_words", "reason_in_words"]

_PATH_LONGEST = 4096


def corpus(paths_or_texts: Any, column: str | None = None) -> Corpus:
    """Find the files of a corpus, or take the texts that are given.

    Args:
        paths_or_texts: a string or path: a file, a folder, a pattern ("corpus/**/*.txt") or a URI (s3://, gs://,
            hdfs://, file://). An iterable of paths: these. An iterable of strings: texts, unless the first of a list
            is the path of a file, as then all are paths. A `Corpus` is returned unchanged.
        column: the column of the text in tables and JSON objects, "message.content" for a nested one. By default it is
            "text", or the only column that has text.

    Raises:
        SurveyError: if there is no such file, or what is given is neither.

    >>> [document.text for document in corpus(["time flies", "fruit flies"]).documents()]
    ['time flies', 'fruit flies']
    """
    if isinstance(paths_or_texts, Corpus):
        return paths_or_texts
    if isinstance(paths_or_texts, (str, os.PathLike)):
        return corpus_of_files([paths_or_texts], column)
    if not _is_sequence(paths_or_texts):
        raise SurveyError(
            worded(
                "corpus must be paths or texts, got {kind}; of a table, pass its column: table[...]",
                kind=type(paths_or_texts).__name__,
            )
        )
    given: Iterable[Any] = paths_or_texts
    if iter(given) is given:
        first = next(given, None)
        given = chain([] if first is None else [first], given)
    else:
        first = next(iter(given), None)
    if isinstance(first, os.PathLike):
        return corpus_of_files(given, column)
    if iter(given) is not given and isinstance(first, str) and _is_path(first):
        texts = [one for one in given if not isinstance(one, (str, os.PathLike)) or not _is_path(os.fspath(one))]
        if texts:
            raise SurveyError(
                worded(
                    "corpus must be paths or texts, got the path {path!r} and the text {text!r}; pass "
                    "pathlib.Path(...) for each file, or iter(...) of the texts",
                    path=first,
                    text=str(texts[0])[:40],
                )
            )
        return corpus_of_files(given, column)
    return Corpus([GivenTexts(given)], column)


def corpus_of_files(paths: Iterable[str | os.PathLike[str]], column: str | None = None) -> Corpus:
    """The corpus of several paths, folders, patterns or URIs; see `corpus`."""
    return Corpus(find(paths), column)


def _is_sequence(given: Any) -> bool:
    """Whether it has an order, and one text at each place, as tables and sets don't."""
    if isinstance(given, (bytes, Mapping, Set)) or hasattr(given, "columns"):
        return False
    return hasattr(given, "__iter__") or hasattr(given, "__getitem__")


def _is_path(text: str) -> bool:
    """Whether a string is rather a file's path than a text."""
    if len(text) > _PATH_LONGEST or "\n" in text or "\0" in text:
        return False
    if os.path.exists(text) or "://" in text.split(" ")[0]:
        return True
    return " " not in text and (format_of(text) is not None or ("/" in text and "*" in text))
