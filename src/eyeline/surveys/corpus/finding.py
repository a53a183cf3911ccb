"""The files of a corpus: from paths, folders, patterns and URIs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate

from eyeline.surveys.corpus.formats import Format, as_text, endings, format_of
from eyeline.surveys.corpus.storage import Storage, storage_of
from eyeline.surveys.errors import SurveyError
from eyeline.words import system_message, worded

_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a corpus.

    Attributes:
        path: its path as the survey lists it; what is no Unicode in it is written as \\xNN.
        opens: the path that opens it.
        storage: where that is.
        format: how it is read.
    """

    path: str
    opens: str
    storage: Storage
    format: Format


def find(paths: Iterable[str | os.PathLike[str]]) -> list[FoundFile]:
    """The files of a corpus, in the order of `paths` and, within a folder or a pattern, by name; each once.

    A folder gives the files in it, and in its folders, whose endings are known; hidden ones are left out. A file that
    is named is read as text if its ending isn't known, and so is what a pattern finds that ends with an ending.

    Raises:
        SurveyError: if a path leads nowhere, or to no file that can be read.
    """
    found: dict[str, FoundFile] = {}
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise SurveyError(worded("corpus must be paths or texts, got {value!r} among paths", value=path))
        for one in _of(os.path.expanduser(os.fspath(path))):
            found.setdefault(one.opens, one)
    if not found:
        raise SurveyError(worded("corpus must be at least one file, got none"))
    return list(found.values())


def _of(given: str) -> Iterator[FoundFile]:
    """The files of one path."""
    if given in ("", "-"):
        raise SurveyError(
            worded("corpus must be a file, a folder or a pattern, got {given!r}; write stdin to a file", given=given)
        )
    storage = storage_of(given)
    path = os.path.normpath(given) if "://" not in given else given
    kind = storage.kind(path)
    if kind == "file":
        yield _found(path, storage, as_text(path))
    elif kind == "folder":
        yield from _in_folder(path, storage)
    elif kind == "other":
        raise SurveyError(
            worded("corpus must be files, which can be read twice, got a device or a pipe: {path}", path=path)
        )
    elif _MAGIC.search(path):
        yield from _matching(path, storage)
    else:
        raise SurveyError(
            worded("corpus must be files that exist, got {path!r}, where there is none; check the path", path=path)
        )


def _found(path: str, storage: Storage, format: Format) -> FoundFile:
    listed = path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")
    return FoundFile(path if listed == path else listed, path, storage, format)


def _in_folder(folder: str, storage: Storage) -> Iterator[FoundFile]:
    there = False
    try:
        for path in storage.walk(folder, hidden=False):
            form = format_of(path)
            if form is not None:
                there = True
                yield _found(path, storage, form)
    except PermissionError as error:
        raise SurveyError(
            worded("{path} can't be read: {reason}", path=error.filename, reason=system_message(error))
        ) from None
    if not there:
        raise SurveyError(
            worded(
                "corpus must be a folder with files that can be read, got {folder!r}, where none is; their names end "
                "with {endings}",
                folder=folder,
                endings=endings(),
            )
        )


def _matching(pattern: str, storage: Storage) -> Iterator[FoundFile]:
    """The files that match a pattern, and those in folders that do; ** is any number of folders."""
    base, rest = _parted(pattern)
    names = rest.split("/")
    whole = re.compile(_regex(names))
    hidden = any(name.startswith(".") for name in names)
    any_ending = re.search(r"\.\w+$", names[-1]) is not None
    there = False
    if storage.kind(base) == "folder":
        for path in storage.walk(base, hidden):
            inside = path if base == "." else path[len(base.rstrip("/")) + 1 :]
            itself = whole.fullmatch(inside) is not None
            if itself or any(whole.fullmatch(folder) for folder in _folders(inside)):
                form = as_text(path) if itself and any_ending else format_of(path)
                if form is not None:
                    there = True
                    yield _found(path, storage, form)
    if not there:
        raise SurveyError(
            worded(
                "corpus must be a pattern that some file matches, got {pattern!r}, which none does; check the path",
                pattern=pattern,
            )
        )


def _parted(pattern: str) -> tuple[str, str]:
    """The folder before a pattern's first name with a wildcard, and the rest.

    >>> _parted("corpus/*/a.txt"), _parted("*.txt"), _parted("/x/**")
    (('corpus', '*/a.txt'), ('.', '*.txt'), ('/x', '**'))
    """
    found = _MAGIC.search(pattern)
    assert found is not None
    base, slash, _ = pattern[: found.start()].rpartition("/")
    return base or slash or ".", pattern[len(base) + len(slash) :]


def _regex(names: list[str]) -> str:
    """The regular expression of a pattern's names."""
    parts = []
    for at, name in enumerate(names):
        last = at == len(names) - 1
        if name == "**":
            parts.append(".*" if last else "(?:[^/]+/)*")
        else:
            one = translate(name).replace("(?s:", "(?:", 1).removesuffix("\\Z").replace(".*", "[^/]*")
            parts.append(one if last else f"{one}/")
    return "".join(parts)


def _folders(path: str) -> Iterator[str]:
    """The folders that a path is in."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
