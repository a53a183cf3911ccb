"""A survey, loaded from its folder: its tables, as pandas frames or Arrow tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from eyeline.answers.answer import Answer, plain
from eyeline.surveys.about import SurveyedModel, read_about, with_merged
from eyeline.surveys.errors import SurveyError, needed
from eyeline.surveys.folder import EXAMPLES, HEADS, TOKENS, SurveyFolder
from eyeline.surveys.merging import Merged, merge
from eyeline.surveys.parts import Part, read_part
from eyeline.surveys.tables import DISTRIBUTIONS, documents_schema, examples_schema, heads_schema, tokens_schema
from eyeline.surveys.tally import MEASURES
from eyeline.version import VERSION
from eyeline.words import worded

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame

#: The sorts of examples.
SORTS = ("largest", "sample")


class Survey(Answer):
    """What the heads of a model do over a corpus. Made by `survey`, or loaded from its folder by `load_survey`; print
    it to see it.

    Attributes:
        folder: where it lies, a path or a URI.
        info: what survey.json says; docs/surveys.md describes each key.
        model: the model's name and sizes.
        types: the types of tokens, in the order of the lists in columns `to` and `received`.
        complete: whether all blocks are measured and the tables written.
        tabled: whether there are tables: the survey is complete, or is one `so_far`.
    """

    schema: ClassVar[str] = "eyeline.survey/1"

    def __init__(self, folder: SurveyFolder, info: dict[str, Any], merged: Merged | None = None) -> None:
        self._folder, self._merged = folder, merged
        self.folder, self.info = folder.name, info
        self.model = SurveyedModel(**{name: info["model"][name] for name in ("name", "layers", "heads", "causal")})
        self.types: tuple[str, ...] = tuple(info["scales"]["types"]) if merged is None else merged.types
        self.complete: bool = info["state"] == "complete"
        self.tabled = self.complete or merged is not None

    @property
    def blocks_done(self) -> int:
        """The number of blocks that are measured, which is the number of parts."""
        return len(self._folder.parts())

    def heads(self, *, arrow: bool = False) -> DataFrame | pa.Table:
        """One row for each head, by layer and head: its kinds, its measures, and its distributions.

        Args:
            arrow: give an Arrow table instead of a pandas frame.

        Raises:
            SurveyError: if the survey isn't complete, a file is damaged, or pandas isn't installed.
        """
        return _given(self._table(HEADS), arrow)

    def tokens(self, layer: int | None = None, head: int | None = None, *, arrow: bool = False) -> DataFrame | pa.Table:
        """One row for each head, type of token and range of positions.

        Args:
            layer, head: only those of this layer, or of this head of each layer.
            arrow: give an Arrow table instead of a pandas frame.

        Raises:
            SurveyError: as `heads`, and if there is no such layer or head.
        """
        self._checked(layer, head)
        return _given(self._table(TOKENS, layer=layer, head=head), arrow)

    def examples(
        self,
        layer: int | None = None,
        head: int | None = None,
        sort: str | None = None,
        *,
        arrow: bool = False,
    ) -> DataFrame | pa.Table:
        """One row for each example, by layer, head, sort and rank.

        Args:
            layer, head: only those of this layer, or of this head of each layer.
            sort: only the "largest", or the "sample".
            arrow: give an Arrow table instead of a pandas frame.

        Raises:
            SurveyError: as `tokens`, and if there is no such sort.
        """
        self._checked(layer, head)
        if sort not in (None, *SORTS):
            raise SurveyError(worded("sort must be 'largest' or 'sample', got {sort}", sort=repr(sort)))
        return _given(self._table(EXAMPLES, layer=layer, head=head, sort=sort), arrow)

    def documents(
        self, layer: int | None = None, head: int | None = None, *, arrow: bool = False
    ) -> DataFrame | pa.Table:
        """One row for each document, in their order, with its measures: read from the parts, so that a survey that is
        running has those of the parts so far.

        Args:
            layer, head: both, for the measures of one head, a number each. Without them, each measure is a list of
                the numbers of all heads, by layer and head.
            arrow: give an Arrow table instead of a pandas frame.

        Raises:
            SurveyError: if one of `layer` and `head` is missing, there is no such head, or a part is damaged.
        """
        pa = needed("pyarrow", worded("a survey"))
        self._checked(layer, head)
        if (layer is None) != (head is None):
            raise SurveyError(
                worded(
                    "documents must have both layer and head, or neither, got layer={layer} and head={head}",
                    layer=layer,
                    head=head,
                )
            )
        schema = documents_schema(self.model.layers * self.model.heads)
        tables = []
        for part in self._parts():
            own = part.documents
            if layer is not None:
                for name in MEASURES:
                    numbers = pa.array(part.measures(name)[:, layer, head])
                    own = own.set_column(own.schema.get_field_index(name), name, numbers)
            tables.append(own)
        return _given(pa.concat_tables(tables) if tables else schema.empty_table(), arrow)

    def so_far(self) -> Survey:
        """This survey of the parts that there are: a running one can be looked at. Its tables are merged in memory."""
        if self.tabled:
            return self
        merged = merge(self._parts(), self.info)
        return Survey(self._folder, {**with_merged(self.info, merged), "state": self.info["state"]}, merged)

    def rows(self) -> list[dict[str, Any]]:
        """Each head's layer, number, kinds and measures, by layer and head: `heads` without distributions."""
        heads = self.heads(arrow=True)
        numbers = [name for name in heads.column_names if name not in DISTRIBUTIONS]
        rows: list[dict[str, Any]] = heads.select(numbers).to_pylist()
        return rows

    def document(self) -> dict[str, Any]:
        """The survey as plain data, as docs/json.md describes it: what survey.json says, and each head's measures."""
        names = ("model", "corpus", "settings", "labels", "counts", "skipped", "state")
        about = {name: self.info[name] for name in names}
        heads = [{name: plain(value) for name, value in row.items()} for row in self.rows()]
        return {"schema": self.schema, "version": VERSION, "folder": self.folder, **about, "heads": heads}

    def _parts(self) -> Iterator[Part]:
        for number in self._folder.parts():
            name = self._folder.part(number)
            yield read_part(self._folder.read(name), self._folder.path(name))

    def _table(self, name: str, **values: object) -> pa.Table:
        """The rows of a table in which columns have these values, None for any. Of a file, only the row groups that may
        hold them are read."""
        if self._merged is not None:
            tables = {HEADS: self._merged.heads, TOKENS: self._merged.tokens, EXAMPLES: self._merged.examples}
            return _chosen(tables[name], values)
        if not self.tabled:
            raise SurveyError(
                worded(
                    "{folder} is a survey that isn't complete: {done} of {blocks} blocks are measured; so_far() has "
                    "these, and the same survey goes on where it was",
                    folder=self.folder,
                    done=self.blocks_done,
                    blocks=self.info["counts"].get("blocks") or "?",
                )
            )
        pa, parquet = needed("pyarrow", worded("a survey")), needed("pyarrow.parquet", worded("a survey"))
        path = self._folder.path(name)
        try:
            with self._folder.open(name) as source:
                file = parquet.ParquetFile(source, page_checksum_verification=True)
                if missing := [column for column in _SCHEMAS[name]().names if column not in file.schema_arrow.names]:
                    raise KeyError(worded("it has no column {name}", name=missing[0]))
                return _chosen(file.read_row_groups(_groups(file, values)), values)
        except FileNotFoundError:
            raise SurveyError(
                worded("{path} is missing; run the same survey again, which merges its parts anew", path=path)
            ) from None
        except (pa.ArrowException, OSError, KeyError) as error:
            reason = " ".join(str(error).split())[:120]
            raise SurveyError(
                worded(
                    "{path} is no table of a survey, or is damaged ({reason}); run the same survey again, which merges "
                    "its parts anew",
                    path=path,
                    reason=reason,
                )
            ) from None

    def _checked(self, layer: int | None, head: int | None) -> None:
        for name, index, count in (("layer", layer, self.model.layers), ("head", head, self.model.heads)):
            if index is not None and (not _is_index(index) or not 0 <= index < count):
                raise SurveyError(
                    worded(
                        "{name} must be from 0 to {last} in {model}, got {value!r}",
                        name=name,
                        last=count - 1,
                        model=self.model.name,
                        value=index,
                    )
                )


_SCHEMAS = {HEADS: heads_schema, TOKENS: tokens_schema, EXAMPLES: examples_schema}


def _is_index(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def load_survey(folder: str | os.PathLike[str]) -> Survey:
    """Load a survey from its folder. Its tables are read when they are asked for.

    Args:
        folder: a path, or the URI of a folder that pyarrow's filesystems reach, as s3://bucket/survey.

    Raises:
        SurveyError: if it isn't a survey's folder, was written by a newer version, or is damaged; a ValueError.
    """
    place = SurveyFolder(folder)
    return Survey(place, read_about(place))


def _groups(file: Any, values: Mapping[str, object]) -> list[int]:
    """The row groups of a Parquet file that may have rows with these values, by its own statistics."""
    found, names = [], file.schema_arrow.names
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        # Flat columns that come before all nested ones have the same place in a row group and in the schema.
        known = {name: group.column(names.index(name)).statistics for name in values}
        if all(
            value is None or known[name] is None or not known[name].has_min_max
            or known[name].min <= value <= known[name].max
            for name, value in values.items()
        ):  # fmt: skip
            found.append(number)
    return found


def _chosen(table: pa.Table, values: Mapping[str, object]) -> pa.Table:
    compute = needed("pyarrow.compute", worded("a survey"))
    for name, value in values.items():
        if value is not None:
            table = table.filter(compute.equal(table.column(name), value))
    return table


def _given(table: pa.Table, arrow: bool) -> DataFrame | pa.Table:
    if arrow:
        return table
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise SurveyError(
            worded("a survey's frames need pandas, which isn't installed; pip install pandas, or ask with arrow=True")
        ) from None
    return table.to_pandas()
