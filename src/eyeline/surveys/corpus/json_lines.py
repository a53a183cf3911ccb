"""Files with JSON on each line: an object with the text in one of its values, or the text itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from eyeline.surveys.corpus.bytes_of_files import DamagedFileError, lines
from eyeline.surveys.corpus.column import Column, missing, names_of, no_text, only, value_of
from eyeline.surveys.corpus.formats import LONGEST
from eyeline.surveys.corpus.item import Item, item, kind_of
from eyeline.surveys.errors import SurveyError
from eyeline.words import worded

#: So many lines, or bytes, at the beginning of a file decide which value is the text.
_FIRST, _FIRST_BYTES = 100, 1 << 20
#: If so many objects at the beginning don't have the column, none is expected to.
_WITHOUT = 10_000


def read_json_lines(data: Iterator[bytes], file: str, chosen: Column) -> Iterator[Item]:
    """The items of a file with JSON on each line.

    Args:
        data: its bytes, in UTF-8.
        file: its path, for messages.
        chosen: the value that is the text; it is found if it has no name.

    Raises:
        SurveyError: if no value is the text, or the file is one JSON array.
    """
    records = _records(data, file)
    first: list[tuple[int, Any, int]] = []
    size = 0
    for record in records:
        first.append(record)
        size += record[2]
        if len(first) == _FIRST or size > _FIRST_BYTES:
            break
    objects = [value for _, value, _ in first if isinstance(value, dict)]
    if chosen.name is None and objects:
        chosen.name = _found(objects, file)
    column = chosen.name
    hits = without = 0
    wrong = ""
    for place, value, _ in chain(first, records):
        if isinstance(value, Item):
            yield value
        elif isinstance(value, dict) and column is not None:
            try:
                picked = value_of(value, column)
            except KeyError:
                without += 1
                if without == _WITHOUT and not (hits or wrong):
                    break
                yield Item(place, "", "not text", f"no {column!r}")
                continue
            hits += isinstance(picked, str)
            if not isinstance(picked, str) and picked is not None:
                wrong = wrong or kind_of(picked)
            yield item(place, picked)
        else:
            hits += isinstance(value, str)
            yield item(place, value)
    if column is not None and not hits:
        if wrong:
            raise no_text(column, wrong, file)
        if without:
            raise missing(column, dict.fromkeys(name for one in objects for name in names_of(one)), file)


def _found(objects: list[dict[str, Any]], file: str) -> str:
    """The value that is the text: of those that are texts in the first objects."""
    return only(list(dict.fromkeys(name for one in objects for name, text in one.items() if _is_text(text))), file)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _records(data: Iterator[bytes], file: str) -> Iterator[tuple[int, Any, int]]:
    """Each line's number, what it holds (an `Item` if it can't be read), and its size; blank lines are left out."""
    place = -1
    try:
        for place, line in enumerate(lines(data, LONGEST)):
            if line is None:
                yield place, Item(place, "", "damaged line", f"longer than {LONGEST:,} bytes"), 0
            elif place == 0 and line.lstrip().startswith(b"["):
                raise SurveyError(
                    worded(
                        "{file} must have a JSON object on each line, got an array; write one with: {command}",
                        file=file,
                        command="jq -c '.[]' FILE > FILE.jsonl",
                    )
                )
            elif line.strip():
                yield place, _parsed(place, line), len(line)
    except DamagedFileError as error:
        yield place + 1, Item(place + 1, "", "damaged file", str(error)), 0


def _parsed(place: int, line: bytes) -> Any:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return Item(place, "", "encoding", f"no UTF-8: byte {error.object[error.start]:#04x} at {error.start}")
    try:
        return json.loads(text)
    except ValueError as error:
        return Item(place, "", "damaged line", f"not JSON: {error}")
    except RecursionError:
        return Item(place, "", "damaged line", "JSON nested too deeply")
