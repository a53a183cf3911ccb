"""Read a command's text: from an argument, a file, or stdin."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from eyeline.words import worded

_LOOKS_LIKE_A_FILE = re.compile(r"(?i).*\.(txt|text|md|rst|csv|log)|\S*[/\\]\S*")


def text_or_stdin(given: str) -> str:
    """The argument itself, or the text on stdin if it is -.

    Raises:
        QuestionError: if stdin isn't UTF-8.
    """
    if given != "-":
        return given
    return _decoded(sys.stdin.buffer.read(), worded("text must be UTF-8")).strip("\r\n")


def text_or_file(given: str) -> str:
    """The argument itself; a file's text if it is a path; or the text on stdin if it is -.

    Raises:
        QuestionError: if it looks like a path but there is no such file, or the file isn't UTF-8 text.
        OSError: if the file can't be read.
    """
    from eyeline.answers import QuestionError

    if os.path.isfile(given):
        return _decoded(Path(given).read_bytes(), worded("{name} must be UTF-8 text", name=given))
    if os.path.isdir(given):
        raise QuestionError(worded("text must be a sentence or a file, got the folder {given}", given=given))
    if _LOOKS_LIKE_A_FILE.fullmatch(given):
        raise QuestionError(
            worded(
                "text must be a sentence or a file that exists, got {given!r}, where there is no file; check "
                "the path, or pass a sentence that looks like a path through stdin: echo ... | eyeline heads "
                "-",
                given=given,
            )
        )
    return text_or_stdin(given)


def lines_of(given: str) -> list[str]:
    """The lines of a file, or of stdin if it is -. An empty line is an empty text, but for what follows the last end.

    Raises:
        QuestionError: if the file isn't UTF-8 text.
        OSError: if it can't be read.
    """
    data, name = (sys.stdin.buffer.read(), "stdin") if given == "-" else (Path(given).read_bytes(), given)
    lines = _decoded(data, worded("{name} must be UTF-8 text", name=name)).split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _decoded(data: bytes, must: str) -> str:
    """UTF-8 as text, without a byte order mark; `must` is the rule that an error names."""
    from eyeline.answers import QuestionError

    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuestionError(
            worded(
                "{must}, got byte {object:#04x} at {start}",
                must=must,
                object=error.object[error.start],
                start=error.start,
            )
        ) from None
