"""The file of one block: a `BlockTally` as a Parquet file of one row, and back.

Its columns are the tally's: sums as lists of float64, so that nothing of them is lost; documents, groups, examples and
skipped as lists of records. The same tally gives the same bytes, and a file that is damaged is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys.best_examples import as_examples
from eyeline.surveys.document import Skipped
from eyeline.surveys.errors import SurveyError, needed
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES
from eyeline.surveys.sealed_file import sealed, unsealed
from eyeline.surveys.tables import documents_schema, example_fields
from eyeline.surveys.tally import MEASURES, BlockTally, DocumentTally, GroupTally
from eyeline.words import worded

if TYPE_CHECKING:
    import pyarrow as pa

#: The version of a part's format, and of the figures in it: a part of another is measured anew.
FORMAT = "eyeline.survey.part/1"
_SUMS = {"entropy": 1, "distance": 1, "entropy_squares": 1, "special": 1, "offsets": len(OFFSET_EDGES) - 1}
_COUNTS = {"entropies": len(ENTROPY_EDGES) - 1, "largest": len(LARGEST_EDGES) - 1}


@dataclass(frozen=True, eq=False)
class Part:
    """A part's file, read and checked.

    Attributes:
        number: the number of its block, from 0.
        fingerprint: of the model, the settings and the documents that it was measured with.
        layers, heads: the model's.
        tokens, text_tokens: as in `BlockTally`.
        sums: the arrays of `BlockTally` by name, each with its shape.
        groups: as in `BlockTally`.
        documents: a table of `documents_schema`.
        examples: a table of `example_fields`.
        skipped: as in `BlockTally`.
    """

    number: int
    fingerprint: str
    layers: int
    heads: int
    tokens: int
    text_tokens: int
    sums: dict[str, NDArray[Any]]
    groups: dict[tuple[str, int], GroupTally]
    documents: pa.Table
    examples: pa.Table
    skipped: list[Skipped]

    def measures(self, name: str) -> NDArray[np.float32]:
        """One of `MEASURES` of all its documents, (documents, L, H)."""
        column = self.documents.column(name).combine_chunks()
        return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, self.layers, self.heads)

    def tally(self) -> BlockTally:
        """The tally that the part was written of."""
        columns = {name: self.measures(name) for name in MEASURES}
        documents = [
            DocumentTally(
                row["document"],
                row["file"],
                row["place"],
                row["characters"],
                row["tokens"],
                row["windows"],
                {name: column[n] for name, column in columns.items()},
            )
            for n, row in enumerate(self.documents.drop_columns(list(MEASURES)).to_pylist())
        ]
        counted: dict[str, Any] = {**self.sums, "groups": self.groups, "skipped": self.skipped}
        examples = as_examples(self.examples)
        return BlockTally(self.tokens, self.text_tokens, documents, examples=examples, **counted)


def write_part(tally: BlockTally, fingerprint: str, number: int) -> bytes:
    """Write a block's tally as a Parquet file.

    Args:
        tally: the tally.
        fingerprint: of the model, the settings and the documents; see `eyeline.surveys.fingerprints`.
        number: the block's number, from 0.

    Returns:
        The file's bytes, the same in every run.
    """
    pa = needed("pyarrow", worded("a survey"))
    L, H = tally.entropy.shape
    columns = {
        "format": pa.array([FORMAT]),
        "number": pa.array([number], pa.int64()),
        "fingerprint": pa.array([fingerprint]),
        "layers": pa.array([L], pa.int32()),
        "heads": pa.array([H], pa.int32()),
        "tokens": pa.array([tally.tokens], pa.int64()),
        "text_tokens": pa.array([tally.text_tokens], pa.int64()),
        "measures": pa.array([list(MEASURES)], pa.list_(pa.string())),
        **{name: _one_list(pa.array(getattr(tally, name).ravel(), pa.float64())) for name in _SUMS},
        **{name: _one_list(pa.array(getattr(tally, name).ravel(), pa.int64())) for name in _COUNTS},
        "documents": _one_list(_documents(tally.documents, L * H)),
        "groups": _one_list(_groups(tally.groups, L * H)),
        "examples": _one_list(_records(tally.examples, example_fields())),
        "skipped": _one_list(_records(tally.skipped, _skipped_fields())),
    }
    return sealed(pa.table(columns))


def read_part(data: bytes, name: str = "the part") -> Part:
    """Read a part's file.

    Args:
        data: the file's bytes.
        name: what to call it in an error: its path.

    Raises:
        SurveyError: if it isn't a part, was cut short or is damaged.
    """
    pa = needed("pyarrow", worded("a survey"))
    try:
        table = unsealed(data)
        found = {column: table.column(column).combine_chunks()[0] for column in table.column_names}
        if found["format"].as_py() != FORMAT or found["measures"].as_py() != list(MEASURES):
            raise SurveyError(
                worded(
                    "{name} must be a part of the format {format}, got {got}; run the same survey again, which "
                    "measures this block anew",
                    name=name,
                    format=FORMAT,
                    got=found["format"],
                )
            )
        L, H = found["layers"].as_py(), found["heads"].as_py()
        sums = {}
        for column, width in (*_SUMS.items(), *_COUNTS.items()):
            array = np.array(found[column].values.to_numpy(zero_copy_only=False))
            sums[column] = array.reshape((L, H) if width == 1 else (L, H, width))
        return Part(
            found["number"].as_py(),
            found["fingerprint"].as_py(),
            L,
            H,
            found["tokens"].as_py(),
            found["text_tokens"].as_py(),
            sums,
            _read_groups(found["groups"].values, L, H),
            _table(found["documents"].values),
            _table(found["examples"].values),
            [Skipped(**row) for row in found["skipped"].as_py()],
        )
    except (pa.ArrowException, OSError, KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        if isinstance(error, SurveyError):
            raise
        raise SurveyError(
            worded(
                "{name} is no part of a survey, or is damaged ({reason}); run the same survey again, which measures "
                "this block anew",
                name=name,
                reason=" ".join(str(error).split())[:120] or type(error).__name__,
            )
        ) from None


def _one_list(values: pa.Array) -> pa.Array:
    """A column of one row, which is a list of all these values."""
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def _table(records: pa.StructArray) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_arrays(records.flatten(), schema=pa.schema(list(records.type)))


def _struct(columns: list[pa.Array], kinds: list[pa.Field]) -> pa.Array:
    import pyarrow as pa

    return pa.StructArray.from_arrays(columns, fields=kinds)


def _records(entries: list[Any], kinds: list[pa.Field]) -> pa.Array:
    import pyarrow as pa

    columns = []
    for kind in kinds:
        values = [getattr(entry, kind.name) for entry in entries]
        if kind.type == pa.string():
            values = [sound(text) for text in values]
        elif kind.type == pa.list_(pa.string()):
            values = [_all_sound(texts) for texts in values]
        columns.append(pa.array(values, kind.type))
    return _struct(columns, kinds)


def _all_sound(texts: Sequence[str]) -> Sequence[str]:
    """The texts as `sound` makes them; looked at one by one only if there is something to mend."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return [sound(text) for text in texts]
    return texts


def _skipped_fields() -> list[pa.Field]:
    import pyarrow as pa

    kinds = {"file": pa.string(), "place": pa.int64(), "reason": pa.string(), "detail": pa.string()}
    return [pa.field(one.name, kinds[one.name]) for one in fields(Skipped)]


def _documents(documents: list[DocumentTally], heads: int) -> pa.Array:
    import pyarrow as pa

    kinds = list(documents_schema(heads))
    names = {"document": "number"}
    columns = []
    for kind in kinds:
        if kind.name in MEASURES:
            rows = [np.asarray(one.measures[kind.name], np.float32).ravel() for one in documents]
            values = np.concatenate(rows) if rows else np.zeros(0, np.float32)
            columns.append(pa.FixedSizeListArray.from_arrays(pa.array(values), heads))
        else:
            own = [getattr(one, names.get(kind.name, kind.name)) for one in documents]
            columns.append(pa.array([sound(one) if isinstance(one, str) else one for one in own], kind.type))
    return _struct(columns, kinds)


def _groups(groups: dict[tuple[str, int], GroupTally], heads: int) -> pa.Array:
    """The groups, in the order of their names and ranges, whatever order they were found in."""
    import pyarrow as pa

    floats = pa.list_(pa.float64())
    kinds = {"type": pa.string(), "range": pa.int32(), "count": pa.int64(), "entropy": floats, "distance": floats}
    kinds |= {"received": floats, "to": pa.map_(pa.string(), floats)}
    ordered = sorted(groups)
    columns = [pa.array([sound(kind) for kind, _ in ordered], kinds["type"])]
    columns += [pa.array([part for _, part in ordered], kinds["range"])]
    columns += [pa.array([groups[key].count for key in ordered], kinds["count"])]
    for name in ("entropy", "distance", "received"):
        columns.append(_rows([getattr(groups[key], name) for key in ordered], heads))
    towards = [sorted(groups[key].to.items()) for key in ordered]
    ends = np.cumsum([0, *map(len, towards)], dtype=np.int32)
    names = pa.array([sound(name) for pairs in towards for name, _ in pairs], pa.string())
    columns.append(
        pa.MapArray.from_arrays(pa.array(ends), names, _rows([sums for pairs in towards for _, sums in pairs], heads))
    )
    return _struct(columns, [pa.field(name, kind) for name, kind in kinds.items()])


def _read_groups(records: pa.StructArray, L: int, H: int) -> dict[tuple[str, int], GroupTally]:
    columns = dict(zip((field.name for field in records.type), records.flatten(), strict=True))
    sums = {name: _floats(columns[name], L, H) for name in ("entropy", "distance", "received")}
    towards = columns["to"]
    ends, names, to = towards.offsets.to_pylist(), towards.keys.to_pylist(), _floats(towards.items, L, H)
    found = {}
    labels = zip(*(columns[name].to_pylist() for name in ("type", "range", "count")), strict=True)
    for n, (kind, part, count) in enumerate(labels):
        own = slice(ends[n], ends[n + 1])
        to_each = dict(zip(names[own], to[own], strict=True))
        found[kind, part] = GroupTally(count, **{name: rows[n] for name, rows in sums.items()}, to=to_each)
    return found


def _floats(column: pa.ListArray, L: int, H: int) -> NDArray[np.float64]:
    return np.array(column.flatten().to_numpy(zero_copy_only=False), np.float64).reshape(-1, L, H)


def _rows(rows: list[NDArray[np.float64]], width: int) -> pa.Array:
    import pyarrow as pa

    ends = np.arange(len(rows) + 1, dtype=np.int32) * width
    values = np.concatenate([np.asarray(row, np.float64).ravel() for row in rows]) if rows else np.zeros(0)
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), pa.array(values))


def sound(text: str) -> str:
    """The text as UTF-8 can hold it: what stands for half a character becomes a replacement character, �."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if not text.isprintable() else text
