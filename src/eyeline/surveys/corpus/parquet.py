"""Parquet files: a document on each row, read in batches of bounded size."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, BinaryIO

from eyeline.surveys.corpus.column import Column, missing, no_text, only
from eyeline.surveys.corpus.formats import LONGEST
from eyeline.surveys.corpus.item import Item, item
from eyeline.surveys.errors import needed

#: About so many bytes of text, and at most so many rows, are read at once.
_BATCH_BYTES, _BATCH_ROWS = 1 << 23, 1024
_BUFFER = 1 << 20


def read_parquet(stream: BinaryIO, file: str, chosen: Column) -> Iterator[Item]:
    """The items of a Parquet file; a row's place is its number in the file, from 0.

    Args:
        stream: the file, which can be sought in.
        file: its path, for messages.
        chosen: the column of the text, "outer.inner" for one in a struct; it is found if it has no name.

    Raises:
        SurveyError: if the column isn't there or isn't text, or none is, or pyarrow isn't installed.
    """
    pa, pq = needed("pyarrow", file), needed("pyarrow.parquet", file)
    try:
        # Buffered, column chunks are read bit by bit; else a row group of a whole corpus would be in memory at once.
        opened = pq.ParquetFile(pa.PythonFile(stream, mode="r"), buffer_size=_BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        yield Item(0, "", "damaged file", _one_line(error))
        return
    schema = opened.schema_arrow
    path = _path(schema, file, chosen.name)
    chosen.name = ".".join(path)
    leaves = {opened.schema.column(at).path: at for at in range(len(opened.schema))}
    place = 0
    for group in range(opened.num_row_groups):
        place = yield from _group(opened, group, path, leaves, place)


def _group(
    opened: Any, group: int, path: tuple[str, ...], leaves: dict[str, int], first: int
) -> Generator[Item, None, int]:
    """The items of a row group; returns the place after it, also where it is damaged."""
    import pyarrow as pa

    described = opened.metadata.row_group(group)
    end = first + int(described.num_rows)
    leaf = leaves.get(".".join(path))
    size = described.column(leaf).total_uncompressed_size if leaf is not None else _BATCH_BYTES
    rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES * max(1, described.num_rows) // max(1, size)))
    place = first
    try:
        for batch in opened.iter_batches(rows, row_groups=[group], columns=[".".join(path)], use_threads=False):
            for value in _values(batch, path):
                yield _item(place, value)
                place += 1
    except (pa.ArrowException, OSError) as error:
        yield Item(place, "", "damaged file", f"rows {place} to {end - 1}: {_one_line(error)}")
    return end


def _values(batch: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """The values of a batch's column: text, None, or bytes where they are no UTF-8."""
    import pyarrow as pa

    array = batch.column(0)
    for name in path[1:]:
        array = array.flatten()[array.type.get_field_index(name)]  # with the nulls of what it is in
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not pa.types.is_large_binary(array.type):
        array = array.cast(pa.large_binary())
    for value in array:
        yield value.as_py()


def _item(place: int, value: bytes | None) -> Item:
    if value is None:
        return item(place, None)
    if len(value) > LONGEST:
        return Item(place, "", "damaged line", f"longer than {LONGEST:,} bytes")
    try:
        return item(place, value.decode())
    except UnicodeDecodeError as error:
        return Item(place, "", "encoding", f"no UTF-8: byte {error.object[error.start]:#04x} at {error.start}")


def _path(schema: Any, file: str, column: str | None) -> tuple[str, ...]:
    """The names that lead to the column of the text."""
    paths = dict(_paths(schema))
    if column is None:
        column = only([".".join(path) for path, kind in paths.items() if len(path) == 1 and _is_text(kind)], file)
    found = {".".join(path): path for path in paths}.get(column)
    if found is None:
        raise missing(column, [".".join(path) for path in paths], file)
    if not _is_text(paths[found], also_bytes=True):
        raise no_text(column, str(paths[found]), file)
    return found


def _paths(fields: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The names that lead to each column, structs' fields included, and its type."""
    import pyarrow as pa

    for field in fields:
        path = (*before, field.name)
        if pa.types.is_struct(field.type):
            yield from _paths([field.type.field(at) for at in range(field.type.num_fields)], path)
        else:
            yield path, field.type


def _is_text(kind: Any, also_bytes: bool = False) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    texts = (pa.string(), pa.large_string(), pa.string_view())
    return kind in (*texts, pa.binary(), pa.large_binary(), pa.binary_view()) if also_bytes else kind in texts


def _one_line(error: Exception) -> str:
    """An error of Arrow in short."""
    return " ".join(str(error).split())[:200]
