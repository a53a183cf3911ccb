"""The items of one file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, cast

from eyeline.surveys.corpus.bytes_of_files import Hashed, chunks
from eyeline.surveys.corpus.column import Column
from eyeline.surveys.corpus.finding import FoundFile
from eyeline.surveys.corpus.item import Item
from eyeline.surveys.corpus.json_lines import read_json_lines
from eyeline.surveys.corpus.parquet import read_parquet
from eyeline.surveys.corpus.plain import read_text
from eyeline.surveys.corpus.separated import read_table

#: What tells whether a file is still the same: its size and time of change.
Stamp = tuple[int, int]


@dataclass(slots=True)
class Digest:
    """What is known of a file once it was read.

    Attributes:
        size: its bytes.
        sha256: their hash; empty if it couldn't be read.
        stamp: its stamp when it was opened; None if it couldn't be.
        column: the column of the text; None if it has no columns.
    """

    size: int = 0
    sha256: str = ""
    stamp: Stamp | None = None
    column: str | None = None


def items_of(
    found: FoundFile, column: str | None, digest: Digest | None = None, known: Stamp | None = None
) -> Iterator[Item]:
    """The items of a file, in order.

    Args:
        found: the file.
        column: the column of the text, where it has columns; None finds it.
        digest: is filled in, for which every byte is read.
        known: its stamp when it was read before; a file that changed since is told and not read.

    Raises:
        SurveyError: if the column isn't there or isn't text, or pyarrow is needed and isn't installed.
    """
    try:
        stamp = found.storage.stamp(found.opens)
        if known is not None and stamp != known:
            yield Item(0, "", "missing file", "it was changed since the survey read it first")
            return
        if digest is not None:
            digest.stamp = stamp
        stream = found.storage.opened(found.opens, seek=found.format.kind == "parquet")
    except OSError as error:
        yield _unopened(error)
        return
    with closing(stream):
        if stamp[0] > 0:
            yield from _items(found, stream, column, digest)
            return
        if digest is not None:
            digest.sha256 = Hashed(stream).sha256()
        yield Item(0, "", "empty", "an empty file")


def _items(found: FoundFile, stream: BinaryIO, column: str | None, digest: Digest | None) -> Iterator[Item]:
    hashed = None if digest is None else Hashed(stream)
    chosen = Column(column)
    kind = found.format.kind
    try:
        if kind == "parquet":
            if hashed is not None:
                hashed.sha256()  # it is read all over: by itself, before
                stream.seek(0)
            yield from read_parquet(stream, found.path, chosen)
        else:
            data = chunks(cast(BinaryIO, hashed or stream), found.format.compression, found.path)
            if kind == "text":
                yield from read_text(data)
            elif kind == "lines":
                yield from read_json_lines(data, found.path, chosen)
            else:
                yield from read_table(data, found.path, chosen, found.format.tabs)
        if hashed is not None and digest is not None:
            digest.sha256, digest.size = hashed.sha256(), hashed.size
            digest.column = None if kind == "text" else chosen.name
    except OSError as error:  # while it was hashed
        yield Item(0, "", "damaged file", error.strerror or str(error))


def _unopened(error: OSError) -> Item:
    """Why a file can't be opened."""
    gone = isinstance(error, FileNotFoundError) or error.errno in (errno.ENOTDIR, errno.ESTALE)
    return Item(0, "", "missing file" if gone else "unreadable file", error.strerror or str(error))
