"""The items of one file."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO, cast

from eyeline.surveys.corpus.bytes_of_files import Hashed, chunks
from eyeline.surveys.corpus.finding import FoundFile
from eyeline.surveys.corpus.item import Item
from eyeline.surveys.corpus.json_lines import read_json_lines
from eyeline.surveys.corpus.parquet import read_parquet
from eyeline.surveys.corpus.plain import read_text
from eyeline.surveys.corpus.separated import read_table


@dataclass
class Digest:
    """What is known of a file once it was read.

    Attributes:
        size: its bytes.
        sha256: their hash; empty if it couldn't be read.
        stamp: what tells whether it is still the same.
    """

    size: int = 0
    sha256: str = ""
    stamp: tuple[int, int] | None = None


def items_of(
    found: FoundFile, column: str | None, digest: Digest | None = None, known: Digest | None = None
) -> Iterator[Item]:
    """The items of a file, in order.

    Args:
        found: the file.
        column: the column of the text, where it has columns; None finds it.
        digest: is filled in, for which every byte is read.
        known: what was read before; a file that changed since is told and not read.

    Raises:
        SurveyError: if the column isn't there or isn't text, or pyarrow is needed and isn't installed.
    """
    try:
        stamp = found.storage.stamp(found.opens)
        if known is not None and known.stamp is not None and stamp != known.stamp:
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
    hashed = Hashed(stream) if digest is not None else None
    try:
        if found.format.kind == "parquet":
            if hashed is not None and digest is not None:
                digest.sha256, digest.size = hashed.sha256(), hashed.size
                stream.seek(0)
            yield from read_parquet(stream, found.path, column)
            return
        data = chunks(cast(BinaryIO, hashed or stream), found.format.compression, found.path)
        match found.format.kind:
            case "text":
                yield from read_text(data)
            case "lines":
                yield from read_json_lines(data, found.path, column)
            case _:
                yield from read_table(data, found.path, column, found.format.tabs)
        if hashed is not None and digest is not None:
            digest.sha256, digest.size = hashed.sha256(), hashed.size
    except OSError as error:  # while the rest was hashed
        yield Item(0, "", "damaged file", error.strerror or str(error))


def _unopened(error: OSError) -> Item:
    """Why a file can't be opened."""
    gone = isinstance(error, FileNotFoundError) or error.errno in (errno.ENOTDIR, errno.ESTALE)
    return Item(0, "", "missing file" if gone else "unreadable file", error.strerror or str(error))
