"""Where files are: on this machine, or behind a URI that pyarrow opens (s3://, gs://, hdfs://, file://)."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

from eyeline.surveys.errors import SurveyError, needed
from eyeline.surveys.folder import ABOUT, PARTS
from eyeline.words import noted, worded

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Storage(Protocol):
    """Files by their paths."""

    def kind(self, path: str) -> str:
        """ "file", "folder", "other" (a device, a pipe), or "" if there is nothing."""

    def walk(self, folder: str, hidden: bool) -> Iterator[str]:
        """The files of a folder and of those in it, in order: within a folder by name. Surveys are left out."""

    def opened(self, path: str, seek: bool) -> BinaryIO:
        """A file, to be read; `seek` if not from its beginning to its end alone. Raises OSError."""

    def stamp(self, path: str) -> tuple[int, int]:
        """A file's size and time of change: what tells whether it is still the same. Raises OSError."""


class LocalStorage:
    """The files of this machine."""

    def kind(self, path: str) -> str:
        try:
            mode = os.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return ""
        except OSError:  # a folder on the way may not be read, or links go round in a circle: opening says so
            return "file"
        return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"

    def walk(self, folder: str, hidden: bool) -> Iterator[str]:
        return self._walk(folder, hidden, set())

    def _walk(self, folder: str, hidden: bool, seen: set[tuple[int, int]]) -> Iterator[str]:
        about = os.stat(folder)
        if (about.st_dev, about.st_ino) in seen:  # linked twice, or a link to a folder that this one is in
            return
        seen.add((about.st_dev, about.st_ino))
        names = sorted(os.listdir(folder))
        if ABOUT in names and PARTS in names:
            return
        for name in names:
            path = name if folder == "." else os.path.join(folder, name)
            if hidden or not name.startswith("."):
                if os.path.isdir(path):
                    yield from self._walk(path, hidden, seen)
                else:
                    yield path

    def opened(self, path: str, seek: bool) -> BinaryIO:
        return open(path, "rb", buffering=0)

    def stamp(self, path: str) -> tuple[int, int]:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):  # opening a pipe would wait for its writer
            raise OSError(noted("no file but a device or a pipe"))
        return about.st_size, about.st_mtime_ns


@dataclass(frozen=True)
class RemoteStorage:
    """The files behind URIs of one kind.

    Attributes:
        system: pyarrow's filesystem.
        prefix: what stands before a path in its URI.
    """

    system: Any
    prefix: str

    def kind(self, path: str) -> str:
        about = self.system.get_file_info(self._inside(path))
        return {"File": "file", "Directory": "folder", "NotFound": ""}.get(about.type.name, "other")

    def walk(self, folder: str, hidden: bool) -> Iterator[str]:
        from pyarrow import fs

        root = self._inside(folder)
        found = self.system.get_file_info(fs.FileSelector(root, recursive=True))
        within = [about.path.removeprefix(root).strip("/") for about in found if about.is_file]
        there = [path.removesuffix(ABOUT) for path in within if path.rpartition("/")[2] == ABOUT]
        surveys = tuple(one for one in there if any(path.startswith(f"{one}{PARTS}/") for path in within))
        for path in sorted(within, key=lambda path: path.split("/")):
            if path.startswith(surveys):
                continue
            if hidden or not any(name.startswith(".") for name in path.split("/")):
                yield f"{folder.rstrip('/')}/{path}"

    def opened(self, path: str, seek: bool) -> BinaryIO:
        inside = self._inside(path)
        if seek:
            return cast(BinaryIO, self.system.open_input_file(inside))
        return cast(BinaryIO, self.system.open_input_stream(inside, compression=None))

    def stamp(self, path: str) -> tuple[int, int]:
        about = self.system.get_file_info(self._inside(path))
        if not about.is_file:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return about.size or 0, about.mtime_ns or 0

    def _inside(self, path: str) -> str:
        return path.removeprefix(self.prefix)


def storage_of(path: str) -> Storage:
    """Where a path or URI leads.

    Raises:
        SurveyError: if pyarrow isn't installed or can't open such a URI.
    """
    if not _URI.match(path):
        return LocalStorage()
    pa, fs = needed("pyarrow", path), needed("pyarrow.fs", path)
    try:
        system, inside = fs.FileSystem.from_uri(re.split(r"[*?\[]", path, maxsplit=1)[0])
    except (pa.ArrowException, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise SurveyError(worded("{path} can't be opened: {reason}", path=path, reason=reason)) from None
    start = re.split(r"[*?\[]", path, maxsplit=1)[0]
    return RemoteStorage(system, start[: len(start.rstrip("/")) - len(inside.rstrip("/"))])
