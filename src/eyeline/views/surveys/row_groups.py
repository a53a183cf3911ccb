"""Rows from a Parquet file of a survey, of which only the row groups that hold them are read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys import SurveyError
from eyeline.surveys.errors import needed
from eyeline.surveys.folder import ABOUT, SurveyFolder
from eyeline.words import worded

if TYPE_CHECKING:
    import pyarrow as pa

#: How many files stay open, and how many row groups of each stay decoded: a reader scrolls back and forth.
_FILES, _GROUPS = 8, 4

#: The values that columns must have: {"layer": 5, "head": 2}.
Where = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Bounds:
    """The least and the largest value of a column in each row group, where `known`; `single`: there is no other value,
    and none is missing."""

    known: NDArray[np.bool_]
    least: NDArray[Any]
    most: NDArray[Any]
    single: NDArray[np.bool_]

    @staticmethod
    def of(statistics: Sequence[Any]) -> Bounds:
        """The bounds of a column from its statistics in each row group, None where there are none."""
        known = np.array([one is not None and one.has_min_max for one in statistics], np.bool_)
        some = next((one.min for one, there in zip(statistics, known, strict=True) if there), 0)
        least, most = (
            np.array([getattr(one, side) if there else some for one, there in zip(statistics, known, strict=True)])
            for side in ("min", "max")
        )
        whole = np.array([one is not None and one.null_count == 0 for one in statistics], np.bool_)
        return Bounds(known, least, most, known & whole & (least == most))


class RowGroups:
    """An open Parquet file. It stays the file that it was when another takes its name; see `opened`.

    Args:
        folder: the survey's folder.
        name: the file's name in it.

    Raises:
        SurveyError: if it isn't there, or isn't Parquet.
    """

    def __init__(self, folder: SurveyFolder, name: str) -> None:
        arrow, parquet = needed("pyarrow", "a survey's tables"), needed("pyarrow.parquet", "a survey's tables")
        self._path = folder.path(name)
        try:
            self._file: Any = parquet.ParquetFile(folder.open(name))
        except (arrow.ArrowException, OSError) as error:
            raise unreadable(self._path, error) from None
        self._kept: OrderedDict[tuple[int, tuple[str, ...]], pa.Table] = OrderedDict()
        self._bounds_of: dict[str, Bounds] = {}
        self._lock = threading.Lock()  # a file is read at one place at a time, and the server has several threads

    def groups(self, where: Where) -> list[int]:
        """The row groups that may have rows with these values, by the statistics in the file's footer."""
        fitting = np.ones(self._file.metadata.num_row_groups, np.bool_)
        for name, value in where.items():
            bounds = self._bounds(name)
            fitting &= ~bounds.known | ((bounds.least <= value) & (bounds.most >= value))
        return [int(number) for number in np.flatnonzero(fitting)]

    def count(self, number: int, where: Where) -> int:
        """How many rows of one of these row groups have these values; it is decoded only if its statistics leave that
        open."""
        if all(self._bounds(name).single[number] for name in where):
            return int(self._file.metadata.row_group(number).num_rows)
        return int(self.rows(number, where, ()).num_rows)

    def rows(self, number: int, where: Where, columns: Sequence[str]) -> pa.Table:
        """The rows of a row group that have these values, in order.

        Args:
            number: the row group.
            where: the values.
            columns: the columns to read.

        Raises:
            SurveyError: if the file is damaged, or lacks one of the columns.
        """
        import pyarrow.compute as pc

        table = self._read(number, (*where, *(name for name in columns if name not in where)))
        for name, value in where.items():
            table = table.filter(pc.equal(table[name], value))
        return table.select(list(columns))

    def records(self, column: str) -> pa.StructArray:
        """The records of a part's column that is one list of records."""
        import pyarrow as pa

        lists = self._read(0, (column,))[column].combine_chunks()
        if not (pa.types.is_list(lists.type) and pa.types.is_struct(lists.type.value_type)):
            raise SurveyError(
                worded(
                    "{path} must have records in {column}, got {type}", path=self._path, column=column, type=lists.type
                )
            )
        return lists.flatten()

    def least(self, path: str) -> int | None:
        """The least number of a column, by its path in the file, from the footer alone; None if it has none."""
        groups = map(self._file.metadata.row_group, range(self._file.metadata.num_row_groups))
        found = [group.column(place) for group in groups for place in range(group.num_columns)]
        statistics = [one.statistics for one in found if one.path_in_schema == path]
        return min((one.min for one in statistics if one is not None and one.has_min_max), default=None)

    def _bounds(self, name: str) -> Bounds:
        """The bounds of a column in all row groups, read once: a file may have thousands."""
        with self._lock:
            if name not in self._bounds_of:
                names = self._file.schema_arrow.names
                if name not in names:
                    raise SurveyError(
                        worded(
                            "{path} must have a column {name}, got {names}",
                            path=self._path,
                            name=name,
                            names=", ".join(names)[:80],
                        )
                    )
                # A flat column before any nested one has the same place in the schema and in a row group.
                at, groups = names.index(name), self._file.metadata.num_row_groups
                self._bounds_of[name] = Bounds.of(
                    [self._file.metadata.row_group(number).column(at).statistics for number in range(groups)]
                )
            return self._bounds_of[name]

    def _read(self, number: int, columns: tuple[str, ...]) -> pa.Table:
        import pyarrow as pa

        with self._lock:
            key = (number, columns)
            if key not in self._kept:
                try:
                    table = self._file.read_row_group(number, columns=list(columns), use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    raise unreadable(self._path, error) from None
                if missing := [name for name in columns if name not in table.column_names]:
                    raise SurveyError(
                        worded(
                            "{path} must have a column {missing}, got none; measure it again",
                            path=self._path,
                            missing=missing[0],
                        )
                    )
                self._kept[key] = table
            self._kept.move_to_end(key)
            while len(self._kept) > _GROUPS:
                self._kept.popitem(last=False)
            return self._kept[key]


_open: OrderedDict[tuple[Any, ...], RowGroups] = OrderedDict()
_opening = threading.Lock()


class LackingError(SurveyError):
    """Raised for a survey's folder without one of its tables: a copy of its figures alone."""


def opened(folder: SurveyFolder, name: str) -> RowGroups:
    """A file of a survey as it is now: one that was replaced since is opened anew.

    Raises:
        LackingError: if the folder is there, and lacks it.
        SurveyError: if the folder isn't there, or the file isn't Parquet.
    """
    try:
        key = (folder.at(name), *folder.stamp(name))
    except OSError as error:
        if isinstance(error, FileNotFoundError) and folder.has(ABOUT):
            raise LackingError(
                worded("{folder} has no {name}: it is a copy of the survey's figures", folder=folder.name, name=name)
            ) from None
        raise unreadable(folder.path(name), error) from None
    with _opening:
        if key not in _open:
            _open[key] = RowGroups(folder, name)
        _open.move_to_end(key)
        while len(_open) > _FILES:
            _open.popitem(last=False)
        return _open[key]


def unreadable(path: str, error: Exception) -> SurveyError:
    """The error of a file that can't be read, in one line."""
    if isinstance(error, FileNotFoundError):
        return SurveyError(
            worded("{path} must be there, and isn't: the survey was moved, or isn't finished", path=path)
        )
    line = " ".join(str(error).split()) or type(error).__name__
    return SurveyError(
        worded("{path} must be a table of a survey, and can't be read: {line:.200}", path=path, line=line)
    )
