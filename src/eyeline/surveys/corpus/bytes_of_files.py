"""Files as streams of bytes: decompressed, in UTF-8, and hashed on the way."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, cast

from eyeline.surveys.errors import needed

#: How many bytes are read at once. It is fixed, so that a damaged file is read up to the same byte each time.
_CHUNK = 1 << 18
_UTF8 = codecs.BOM_UTF8
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class DamagedFileError(Exception):
    """Raised where a file can't be read on; the message is one line."""


class Hashed(io.RawIOBase):
    """A stream of bytes that hashes what is read of it.

    Args:
        stream: the stream; whoever opened it closes it.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._sha256 = hashlib.sha256()
        self._whole = False
        self.size = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, as `io.RawIOBase`."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._sha256.update(data)
        self.size += len(data)
        return len(data)

    def sha256(self) -> str:
        """The hash of the whole file: what wasn't read is read now. Afterwards the stream can be used otherwise.

        Raises:
            OSError: if it can't be read.
        """
        while not self._whole:
            self._whole = not self.read(_CHUNK)
        return self._sha256.hexdigest()


def chunks(stream: BinaryIO, compression: str, file: str) -> Iterator[bytes]:
    """The bytes of a file, decompressed; in UTF-8 where a mark at the beginning says UTF-16, and without that mark.

    Raises:
        DamagedFileError: if it ends too early, isn't compressed so, or can't be read.
        SurveyError: if it is .zst and pyarrow isn't installed.
    """
    return _in_utf8(_decompressed(stream, compression, file))


def _decompressed(stream: BinaryIO, compression: str, file: str) -> Iterator[bytes]:
    opened = _opened(stream, compression, file)
    read = getattr(opened, "read1", opened.read)  # what comes before a file's cut end isn't lost with it
    while True:
        try:
            data = read(_CHUNK)
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            raise DamagedFileError(_one_line(error)) from None
        if not data:
            return
        yield data


def _opened(stream: BinaryIO, compression: str, file: str) -> Any:
    """A stream of the decompressed bytes."""
    match compression:
        case ".gz":
            return gzip.GzipFile(fileobj=stream, mode="rb")
        case ".bz2":
            return bz2.BZ2File(stream, "rb")
        case ".xz":
            return lzma.LZMAFile(stream, "rb")
        case ".zst":
            pa = needed("pyarrow", file)
            return pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")
        case _:
            return stream


def _one_line(error: Exception) -> str:
    """An error in short, the same on every machine."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return " ".join(text.split())[:200]


def _in_utf8(data: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for more in data:
        start += more
        if len(start) >= len(_UTF8):
            break
    encoding = _UTF16.get(start[:2])
    if encoding is None:
        start = start.removeprefix(_UTF8)
        if start:
            yield start
        yield from data
        return
    # What is no UTF-16 becomes lone surrogates, which are no UTF-8 either: the line with them is told and skipped.
    decoder = cast(Any, codecs.getincrementaldecoder(encoding))(errors="surrogatepass")
    start = start[2:]
    for more in chain([start], data):
        yield decoder.decode(more).encode("utf-8", "surrogatepass")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        yield b"\xff"


def lines(data: Iterator[bytes], longest: int) -> Iterator[bytes | None]:
    """The lines of a stream of bytes, without their ends; None for one of more than `longest` bytes."""
    pending: list[bytes] = []
    size = 0
    for chunk in data:
        first, *others = chunk.split(b"\n")
        size += len(first)
        if size <= longest:
            pending.append(first)
        else:
            pending.clear()
        for other in others:
            yield b"".join(pending) if size <= longest else None
            pending, size = [other], len(other)
    if size:
        yield b"".join(pending) if size <= longest else None
