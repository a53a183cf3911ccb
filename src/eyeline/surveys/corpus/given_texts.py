"""Texts that are given themselves, in place of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eyeline.surveys.corpus.column import listed, missing, names_of, value_of
from eyeline.surveys.corpus.item import Item, item
from eyeline.surveys.corpus.reading import Digest
from eyeline.surveys.errors import SurveyError
from eyeline.words import worded


class GivenTexts:
    """Texts, as a source of a corpus.

    Args:
        texts: the texts; an iterator can be read once.
    """

    path = ""

    def __init__(self, texts: Iterable[Any]) -> None:
        self._texts = texts
        self.once = iter(texts) is texts

    def items(self, column: str | None, digest: Digest | None = None) -> Iterator[Item]:
        """The items; `digest` gets the number of their bytes in UTF-8, and the hash of each text's length and bytes."""
        size, sha256 = 0, hashlib.sha256()
        for place, value in enumerate(self._texts):
            # Arrow's scalars hold the text; datasets have rows.
            text = value.as_py() if hasattr(value, "as_py") else value
            if isinstance(text, Mapping):
                text = _of_row(text, column)
            data = str(text).encode("utf-8", "surrogatepass")
            size += len(data)
            sha256.update(len(data).to_bytes(8, "little") + data)
            # pandas' missing values are NaN, NaT or NA, whose comparison has no truth.
            missing_value = type(text).__name__ in ("NAType", "NaTType") or (isinstance(text, float) and text != text)
            yield item(place, None if missing_value else text)
        if digest is not None:
            digest.size, digest.sha256 = size, sha256.hexdigest()


def _of_row(row: Mapping[str, Any], column: str | None) -> Any:
    """The text of a row."""
    if column is None:
        raise SurveyError(
            worded("column must be named for rows, got none; they have {columns}", columns=listed(names_of(row)))
        )
    try:
        return value_of(row, column)
    except KeyError:
        raise missing(column, names_of(row), worded("the list")) from None
