"""Text files: each is one document."""

from __future__ import annotations

from collections.abc import Iterator

from eyeline.surveys.corpus.bytes_of_files import DamagedFileError
from eyeline.surveys.corpus.formats import LONGEST
from eyeline.surveys.corpus.item import Item, item

_SPLIT = "split it, such as with: split -C 1m --additional-suffix=.txt FILE PART-"


def read_text(data: Iterator[bytes]) -> Iterator[Item]:
    """The one item of a text file.

    Args:
        data: its bytes, in UTF-8 if it is text.
    """
    parts: list[bytes] = []
    size = 0
    try:
        for part in data:
            if b"\0" in part:
                yield Item(0, "", "not text", f"a NUL byte at {size + part.index(0)}")
                return
            size += len(part)
            if size > LONGEST:
                yield Item(0, "", "not text", f"longer than {LONGEST:,} bytes; {_SPLIT}")
                return
            parts.append(part)
    except DamagedFileError as error:
        yield Item(0, "", "damaged file", str(error))
        return
    try:
        text = b"".join(parts).decode()
    except UnicodeDecodeError as error:
        yield Item(0, "", "encoding", f"no UTF-8: byte {error.object[error.start]:#04x} at {error.start}")
        return
    parts.clear()
    yield item(0, text)
