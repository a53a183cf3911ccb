"""The folder of a survey, on this machine or in an object store: whole files written and read."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyeline.caches import write_whole
from eyeline.surveys.errors import SurveyError, needed
from eyeline.words import worded

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem
    from pyarrow.lib import NativeFile

#: The names of its files.
ABOUT, HEADS, TOKENS, EXAMPLES, PARTS = "survey.json", "heads.parquet", "tokens.parquet", "examples.parquet", "parts"


class SurveyFolder:
    """A survey's folder.

    Args:
        where: a path, or the URI of a folder that pyarrow's filesystems reach, as s3://bucket/survey.

    Attributes:
        name: the path or URI, as it was given.
        local: whether it is a folder of this machine.

    Raises:
        SurveyError: if pyarrow isn't installed, or no filesystem fits the URI.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        if not isinstance(where, (str, os.PathLike)) or not isinstance(os.fspath(where), str) or not os.fspath(where):
            raise SurveyError(worded("folder must be a path or a URI, got {value!r}", value=where))
        fs = needed("pyarrow.fs", worded("a survey"))
        self.name = os.fspath(where)
        if "://" not in self.name:
            self._system: FileSystem = fs.LocalFileSystem()
            self._base = os.path.abspath(os.path.expanduser(self.name))
        else:
            try:
                self._system, self._base = fs.FileSystem.from_uri(self.name)
            except (OSError, ValueError) as error:  # pyarrow's own errors are these
                reason = " ".join(str(error).split())
                raise SurveyError(
                    worded(
                        "folder must be a path, or a URI that pyarrow can open, got {name} ({reason})",
                        name=repr(self.name),
                        reason=reason,
                    )
                ) from None
        self.local = isinstance(self._system, fs.LocalFileSystem)

    def at(self, name: str = "") -> str:
        """The path of one of its files in its filesystem; absolute on this machine."""
        return f"{self._base.rstrip('/')}/{name}" if name else self._base

    def path(self, name: str = "") -> str:
        """The path of one of its files, as messages name it."""
        return f"{self.name.rstrip('/')}/{name}" if name else self.name

    def part(self, number: int) -> str:
        """The name of a block's part."""
        return f"{PARTS}/{number:06d}.parquet"

    def has(self, name: str = "") -> bool:
        """Whether the folder, or a file of it, is there."""
        fs = needed("pyarrow.fs", worded("a survey"))
        return bool(self._system.get_file_info(self.at(name)).type != fs.FileType.NotFound)

    def is_file(self) -> bool:
        """Whether a file is where the folder should be."""
        fs = needed("pyarrow.fs", worded("a survey"))
        return bool(self._system.get_file_info(self.at()).type == fs.FileType.File)

    def names(self, folder: str = "") -> list[str]:
        """The names of what is in the folder, or in a folder of it, sorted; none if it isn't there."""
        fs = needed("pyarrow.fs", worded("a survey"))
        found = self._system.get_file_info(fs.FileSelector(self.at(folder), allow_not_found=True))
        return sorted(file.base_name for file in found)

    def parts(self) -> list[int]:
        """The numbers of the blocks whose parts are there, in order."""
        names = [name.removesuffix(".parquet") for name in self.names(PARTS) if name.endswith(".parquet")]
        return sorted(int(name) for name in names if re.fullmatch(r"\d{6,}", name, re.ASCII))

    def make(self, name: str = "") -> None:
        """Make the folder, or a folder in it, unless it is there.

        Raises:
            OSError: if it can't be made.
        """
        self._system.create_dir(self.at(name), recursive=True)

    def read(self, name: str) -> bytes:
        """The bytes of a file.

        Raises:
            OSError: if it can't be read.
        """
        with self.open(name) as file:
            data: bytes = file.readall()
        return data

    def open(self, name: str) -> NativeFile:
        """Open a file, to read pieces of it.

        Raises:
            OSError: if it can't be opened.
        """
        return self._system.open_input_file(self.at(name))

    def stamp(self, name: str) -> tuple[int | None, int | None]:
        """A file's size and time of its last change in nanoseconds: other ones once it is replaced.

        Raises:
            FileNotFoundError: if it isn't there.
        """
        fs = needed("pyarrow.fs", "a survey")
        found = self._system.get_file_info(self.at(name))
        if found.type == fs.FileType.NotFound:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path(name))
        return found.size, found.mtime_ns

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all, and the folders that it lies in.

        Raises:
            OSError: if it can't be written.
        """
        if self.local:
            write_whole(Path(self.at(name)), data)
            return
        self.make(name.rpartition("/")[0])
        try:
            with self._system.open_output_stream(self.at(name)) as file:
                file.write(data)
        except OSError:
            self.delete(name)  # leaving the block ends the object, whole or not
            raise

    def write_about(self, info: dict[str, Any]) -> None:
        """Write survey.json."""
        self.write(ABOUT, (json.dumps(info, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace"))

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        if self.has(name):
            self._system.delete_file(self.at(name))
