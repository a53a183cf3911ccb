"""What `eyeline view` was given: a text, a file, a folder of files, or a model's folder."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eyeline.answers import QuestionError

#: What is shown where nothing was given.
EXAMPLE = "time flies like an arrow"
#: The most bytes of a file that is read as text: several times what the longest context of a model holds.
LARGEST = 2 << 20
_TEXTS = ("txt", "text", "md", "rst", "csv", "log")
_TRACE = "safetensors"
_LOOKS_LIKE_A_PATH = re.compile(rf"(?i).*\.({'|'.join((*_TEXTS, _TRACE))})|\S*[/\\]\S*")


@dataclass(frozen=True)
class File:
    """A file that can be shown.

    Attributes:
        name: as it is listed.
        path: where it is.
        kind: "text", or "trace" for what `Trace.save` wrote.
        folder: where it was found; None if it was named itself.
    """

    name: str
    path: Path
    kind: Literal["text", "trace"]
    folder: Path | None = None

    def text(self) -> str:
        """What is written in it, without the line ends around it.

        Raises:
            QuestionError: if it isn't UTF-8, or is too large, or has come to lie elsewhere.
            OSError: if it can't be read.
        """
        self.check()
        with open(self.path, "rb") as opened:
            found = opened.read(LARGEST + 1)
        if len(found) > LARGEST:
            raise QuestionError(f"{self.path} must have at most {LARGEST >> 20} MiB of text; cut it up")
        try:
            return found.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError as error:
            byte = f"{error.object[error.start]:#04x} at {error.start}"
            raise QuestionError(f"{self.path} must be UTF-8 text, got byte {byte}") from None

    def check(self) -> None:
        """Whether it is still a file of the folder that was named. Raises QuestionError if it isn't."""
        if self.folder is not None and not _lies_in(self.path, self.folder):
            raise QuestionError(
                f"{self.path} must be a file of {self.folder}, got none; start again to see what is there"
            )


@dataclass(frozen=True)
class Source:
    """What was given.

    Attributes:
        text: the text, if it was one.
        file: the file, if it was one.
        files: those of the folder, if it was one.
        model: the folder, if it was a model's.
    """

    text: str | None = None
    file: File | None = None
    files: tuple[File, ...] = ()
    model: str | None = None


def source_of(given: str | None) -> Source:
    """What was given: what exists is a path, anything else a text unless it looks like a path; an example if nothing.

    Raises:
        QuestionError: if it looks like a path where there is nothing, or is a folder with nothing to show.
        OSError: if a folder can't be read.

    >>> source_of("time flies")
    Source(text='time flies', file=None, files=(), model=None)
    """
    if given is None:
        return Source(text=EXAMPLE)
    path = Path(given)
    if given and os.path.isdir(given):
        if all((path / name).is_file() for name in ("config.json", "model.safetensors")):
            # Never a bare name, which could be that of the catalogue.
            return Source(text=EXAMPLE, model=given if os.path.dirname(given) else os.path.join(os.curdir, given))
        return Source(files=_files(path))
    if given and os.path.exists(given):
        return Source(file=File(path.name, path, _kind(path) or "text"))
    if _LOOKS_LIKE_A_PATH.fullmatch(given):
        raise QuestionError(
            f"TEXT must be a sentence, or a file or folder that exists, got {given!r}, where there is none; check the "
            f"path, or give what is meant as a sentence through stdin: echo ... | eyeline view -"
        )
    return Source(text=given)


def _files(folder: Path) -> tuple[File, ...]:
    """The texts and traces that lie in the folder itself, by name; none that is hidden, or a link out of it."""
    found = []
    for path in sorted(folder.iterdir(), key=_natural):
        kind = _kind(path)
        if kind is not None and not path.name.startswith(".") and _lies_in(path, folder):
            found.append(File(path.name, path, kind, folder))
    if not found:
        kinds = ", ".join(f".{suffix}" for suffix in (*_TEXTS, _TRACE))
        raise QuestionError(f"{folder} must be a model's folder, or have files to show ({kinds}), got none of them")
    return tuple(found)


def _kind(path: Path) -> Literal["text", "trace"] | None:
    suffix = path.suffix.lower().removeprefix(".")
    return "trace" if suffix == _TRACE else "text" if suffix in _TEXTS else None


def _lies_in(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve()) and stat.S_ISREG(path.stat().st_mode)
    except (OSError, RuntimeError):  # gone, or links in a ring
        return False


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """Names in the order that people expect: 2.txt before 10.txt."""
    parts = re.findall(r"\d+|\D+", path.name.casefold())
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
