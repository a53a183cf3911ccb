"""Files of separated values (.csv, .tsv), with a header: a document on each row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from eyeline.surveys.corpus.bytes_of_files import DamagedFileError, lines
from eyeline.surveys.corpus.column import Column, missing, only
from eyeline.surveys.corpus.formats import LONGEST
from eyeline.surveys.corpus.item import Item, item

#: So many rows, or characters, at the beginning of a file decide which column is the text.
_FIRST, _FIRST_CHARACTERS = 100, 1 << 20
_Row = list[str] | Item


def read_table(data: Iterator[bytes], file: str, chosen: Column, tabs: bool) -> Iterator[Item]:
    """The items of a table; a row's place is its number below the header, from 0.

    Args:
        data: the file's bytes, in UTF-8.
        file: its path, for messages.
        chosen: the column of the text; it is found if it has no name.
        tabs: whether tabs are between the values; else commas are, or semicolons or tabs if the header has no comma.

    Raises:
        SurveyError: if the column isn't there, or none is the text.
    """
    source = _Lines(data)
    header = next(source, None)
    if header is None:
        if source.damage:
            yield Item(0, "", "damaged file", source.damage)
        return
    delimiter = "\t" if tabs else next((mark for mark in ",;\t" if mark in header), ",")
    rows = _rows(source, header, delimiter)
    _, names = next(rows, (-1, Item(0, "", "empty", "no header")))
    if isinstance(names, Item):
        yield names._replace(place=0)
        return
    names = [name.strip() for name in names]
    first: list[tuple[int, _Row]] = []
    size = 0
    for row in rows:
        first.append(row)
        size += 0 if isinstance(row[1], Item) else sum(map(len, row[1]))
        if len(first) == _FIRST or size > _FIRST_CHARACTERS:
            break
    if chosen.name is None:
        chosen.name = _found(names, [row for _, row in first if not isinstance(row, Item)], file)
    if chosen.name not in names:
        raise missing(chosen.name, names, file)
    at = names.index(chosen.name)
    for place, found in chain(first, rows):
        if isinstance(found, Item):
            yield found
        elif len(found) != len(names):
            detail = f"{len(found)} values, where the header has {len(names)}"
            yield Item(place, "", "damaged line", detail)
        else:
            yield item(place, found[at])
    if source.damage:
        yield Item(place + 1 if first else 0, "", "damaged file", source.damage)


class _Lines:
    """The lines of a table as text, for `csv.reader`, which asks for another only within a row.

    Attributes:
        ended: whether there are no more, and one was asked for: a row that comes then isn't whole.
        long: whether a line since the last look at this was too long; it is left out.
        damage: why the file can't be read on; empty if it can.
    """

    def __init__(self, data: Iterator[bytes]) -> None:
        self._lines = lines(data, LONGEST)
        self.ended = self.long = False
        self.damage = ""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        try:
            line = next(self._lines)
        except StopIteration:
            self.ended = True
            raise
        except DamagedFileError as error:
            self.ended, self.damage = True, str(error)
            raise StopIteration from None
        if line is None:
            self.long = True
            return "\n"
        # What is no UTF-8 becomes lone surrogates: if it is in the text's column, the row is skipped.
        return line.decode(errors="surrogateescape") + "\n"


def _rows(source: _Lines, header: str, delimiter: str) -> Iterator[tuple[int, _Row]]:
    """Each row and its number, -1 for the header's; blank ones are left out."""
    reader = csv.reader(chain([header], source), delimiter=delimiter)
    place = -1
    while True:
        begins = reader.line_num + 1
        limit = csv.field_size_limit(LONGEST)  # it holds for the process, so it is put back
        try:
            row: _Row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            row = Item(place, "", "damaged line", f"{error} (line {begins})")
        finally:
            csv.field_size_limit(limit)
        if source.damage:
            return
        if source.long:
            source.long = False
            row = Item(place, "", "damaged line", f"longer than {LONGEST:,} bytes (line {begins})")
        elif source.ended:
            row = Item(place, "", "damaged line", f"a quote that isn't closed (line {begins})")
        if row:
            yield place, row
            place += 1


def _found(names: list[str], rows: list[list[str]], file: str) -> str:
    """The column that is the text: of those whose values in the first rows aren't all numbers."""
    columns = zip(names, zip(*(row for row in rows if len(row) == len(names)), strict=True), strict=False)
    with_text = [name for name, values in columns if not all(map(_is_number, values))]
    return only(with_text or (names if len(names) == 1 else []), file)


def _is_number(value: str) -> bool:
    try:
        float(value or "0")
    except ValueError:
        return False
    return True
