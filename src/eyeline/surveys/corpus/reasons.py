"""Why something of a corpus was skipped, in the reader's language. Files have it in English, the same in every run."""

from __future__ import annotations

from eyeline.surveys.corpus.formats import format_of
from eyeline.surveys.document import Skipped
from eyeline.words import noted, reworded, worded
from eyeline.words.system_errors import MESSAGES

#: The types of values, as `kind_of` names them.
_KINDS = (noted("true or false"), noted("a number"), noted("a list"), noted("an object"))
#: The details that readers give, of which the first that fits is taken.
_DETAILS = (
    noted("no value"),
    noted("no text"),
    noted("the NUL character at {place}"),
    noted("no valid Unicode at character {place}"),
    noted("no UTF-8: byte {byte} at {place}"),
    noted("not JSON: {error}"),
    noted("JSON nested too deeply"),
    noted("a NUL byte at {place}"),
    noted("longer than {count} bytes; split it, such as with: {command}"),
    noted("longer than {count} bytes (line {line})"),
    noted("longer than {count} bytes"),
    noted("it was changed since the survey read it first"),
    noted("an empty file"),
    noted("{got} values, where the header has {count}"),
    noted("a quote that isn't closed (line {line})"),
    noted("no file but a device or a pipe"),
    noted("it has no words"),
    noted("its block ended the worker {count} times (out of memory?)"),
    noted("rows {first} to {last}: {error}"),
    noted("no {column}"),
)
_VALUE = "the value is "


def in_words(skipped: Skipped) -> str:
    """Where and why something was skipped."""
    known = format_of(skipped.file) if skipped.file else None
    kind = known.kind if known is not None else "text" if skipped.file else "texts"
    where = {
        "text": skipped.file,
        "texts": worded("text {number}", number=skipped.place + 1),
        "lines": worded("{file}, line {number}", file=skipped.file, number=skipped.place + 1),
    }.get(kind) or worded("{file}, row {number}", file=skipped.file, number=skipped.place + 1)
    return f"{where}: {reason_in_words(skipped.reason)} ({detail_in_words(skipped.detail)})"


def reason_in_words(reason: str) -> str:
    """One of `eyeline.surveys.document.REASONS`."""
    return {
        "empty": worded("empty"),
        "not text": worded("not text"),
        "encoding": worded("another encoding"),
        "damaged line": worded("damaged line"),
        "damaged file": worded("damaged file"),
        "missing file": worded("missing file"),
        "unreadable file": worded("unreadable file"),
        "failed": worded("failed in the model"),
    }[reason]


def detail_in_words(detail: str) -> str:
    """The detail of something skipped; one of a library stays as it is."""
    if detail.startswith(_VALUE):
        return worded("the value is {kind}", kind=kind_in_words(detail.removeprefix(_VALUE)))
    return reworded(detail, (*MESSAGES, *_DETAILS))


def kind_in_words(kind: str) -> str:
    """The type of a value, as `kind_of` names it."""
    return reworded(kind, _KINDS)
