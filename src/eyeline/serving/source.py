"""The argument of `eyeline view`: a text, a file, a folder of files, a model's folder, or a survey's."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eyeline.answers import QuestionError
from eyeline.surveys.folder import ABOUT
from eyeline.words import worded

#: The text shown without an argument.
EXAMPLE = "time flies like an arrow"
#: The largest text file in bytes: several times the longest context of a model.
LARGEST = 2 << 20
_TEXTS = ("txt", "text", "md", "rst", "csv", "log")
_TRACE = "safetensors"
#: The URI of a folder in a store, which can only be a survey.
_STORED = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*://\S+")
_LOOKS_LIKE_A_PATH = re.compile(rf"(?i).*\.({'|'.join((*_TEXTS, _TRACE))})|\S*[/\\]\S*")


@dataclass(frozen=True)
class InputFile:
    """A text or trace file that can be shown.

    Attributes:
        name: its name in the list.
        path: its path.
        kind: "text", or "trace" for a file of `Trace.save`.
        folder: the folder in which it was found; None if the file itself was named.
    """

    name: str
    path: Path
    kind: Literal["text", "trace"]
    folder: Path | None = None

    def text(self) -> str:
        """The file's text, without surrounding line ends.

        Raises:
            QuestionError: if it isn't UTF-8, is too large, or is no longer in its folder.
            OSError: if it can't be read.
        """
        self.check()
        with open(self.path, "rb") as opened:
            found = opened.read(LARGEST + 1)
        if len(found) > LARGEST:
            raise QuestionError(
                worded(
                    "{path} must have at most {largest} MiB of text; cut it up", path=self.path, largest=LARGEST >> 20
                )
            )
        try:
            return found.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError as error:
            byte = f"{error.object[error.start]:#04x} at {error.start}"
            raise QuestionError(
                worded("{path} must be UTF-8 text, got byte {byte}", path=self.path, byte=byte)
            ) from None

    def check(self) -> None:
        """Raise QuestionError if the file is no longer in its folder (a link may have replaced it)."""
        if self.folder is not None and not _lies_in(self.path, self.folder):
            raise QuestionError(
                worded(
                    "{path} must be a file of {folder}, got none; start again to see its files",
                    path=self.path,
                    folder=self.folder,
                )
            )


@dataclass(frozen=True)
class Source:
    """The resolved argument. One of the attributes is set.

    Attributes:
        text: a text.
        file: a file.
        files: the files of a folder.
        model: the folder of a model.
        survey: the folder of a survey, or its URI.
    """

    text: str | None = None
    file: InputFile | None = None
    files: tuple[InputFile, ...] = ()
    model: str | None = None
    survey: str | None = None


def source_of(given: str | None) -> Source:
    """Resolve the argument: a path if it exists, else a text unless it looks like a path; without one, an example.

    Raises:
        QuestionError: if it looks like a path that doesn't exist, or is a folder with nothing to show.
        OSError: if a folder can't be read.

    >>> source_of("time flies")
    Source(text='time flies', file=None, files=(), model=None, survey=None)
    """
    if given is None:
        return Source(text=EXAMPLE)
    path = Path(given)
    if _STORED.fullmatch(given):
        return Source(survey=given)
    if given and os.path.isdir(given):
        if (path / ABOUT).is_file():
            return Source(survey=given)
        if all((path / name).is_file() for name in ("config.json", "model.safetensors")):
            # Not a bare name, which could be a name from the catalogue.
            return Source(text=EXAMPLE, model=given if os.path.dirname(given) else os.path.join(os.curdir, given))
        return Source(files=_files(path))
    if given and os.path.exists(given):
        return Source(file=InputFile(path.name, path, _kind(path) or "text"))
    if _LOOKS_LIKE_A_PATH.fullmatch(given):
        raise QuestionError(
            worded(
                "TEXT must be a sentence, or a file or folder that exists, got {given!r}, where there is "
                "none; check the path, or pass a sentence that looks like a path through stdin: echo ... | "
                "eyeline view -",
                given=given,
            )
        )
    return Source(text=given)


def _files(folder: Path) -> tuple[InputFile, ...]:
    """The texts and traces directly in the folder, sorted by name, without hidden files and links to other folders."""
    found = []
    for path in sorted(folder.iterdir(), key=_natural):
        kind = _kind(path)
        if kind is not None and not path.name.startswith(".") and _lies_in(path, folder):
            found.append(InputFile(path.name, path, kind, folder))
    if not found:
        kinds = ", ".join(f".{suffix}" for suffix in (*_TEXTS, _TRACE))
        raise QuestionError(
            worded(
                "{folder} must be a model's folder, or have files to show ({kinds}), got none of them",
                folder=folder,
                kinds=kinds,
            )
        )
    return tuple(found)


def _kind(path: Path) -> Literal["text", "trace"] | None:
    suffix = path.suffix.lower().removeprefix(".")
    return "trace" if suffix == _TRACE else "text" if suffix in _TEXTS else None


def _lies_in(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve()) and stat.S_ISREG(path.stat().st_mode)
    except (OSError, RuntimeError):  # deleted, or a cycle of links
        return False


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    """A sort key for names in natural order: 2.txt before 10.txt."""
    parts = re.findall(r"\d+|\D+", path.name.casefold())
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
