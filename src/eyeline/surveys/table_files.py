"""The files of a survey's tables: the same table gives the same bytes."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from eyeline.surveys.errors import needed
from eyeline.surveys.folder import EXAMPLES, HEADS, TOKENS, SurveyFolder
from eyeline.surveys.merging import Merged
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES, POSITION_EDGES

if TYPE_CHECKING:
    import pyarrow as pa

#: The version of a survey's files.
FORMAT = "eyeline.survey/1"


def scales(types: tuple[str, ...]) -> dict[str, Any]:
    """The scales of a survey's distributions, as survey.json and each table's metadata have them: the edges of the
    ranges of offsets, entropies, largest weights and positions, and the types of tokens."""
    return {
        "offsets": OFFSET_EDGES.tolist(),
        "entropies": ENTROPY_EDGES.tolist(),
        "largest": [round(edge, 2) for edge in LARGEST_EDGES.tolist()],
        "positions": POSITION_EDGES.tolist(),
        "types": list(types),
    }


def write_tables(folder: SurveyFolder, merged: Merged) -> None:
    """Write heads.parquet, tokens.parquet and examples.parquet, each whole or not at all.

    tokens.parquet has a row group for each layer, and examples.parquet one for each head, by layer and head, so that a
    reader reads those alone that it shows.

    Raises:
        OSError: if one can't be written.
    """
    about = {"format": FORMAT, "scales": scales(merged.types)}
    by_head = merged.heads.select(["layer", "head"]).to_pylist()
    layers = [{"layer": layer} for layer in sorted({row["layer"] for row in by_head})]
    folder.write(HEADS, _file([merged.heads], about))
    folder.write(TOKENS, _file(_cut(merged.tokens, layers), about))
    folder.write(EXAMPLES, _file(_cut(merged.examples, by_head), about))


def _cut(table: pa.Table, keys: list[dict[str, int]]) -> list[pa.Table]:
    """The table's rows for each key, one after another; the table is sorted by them."""
    numbers = {name: table.column(name).to_numpy() for name in keys[0]} if keys else {}
    pieces, first = [], 0
    for key in keys:
        last = first
        while last < table.num_rows and all(numbers[name][last] == value for name, value in key.items()):
            last += 1
        pieces.append(table.slice(first, last - first))
        first = last
    return pieces or [table]


def _file(groups: list[pa.Table], about: dict[str, Any]) -> bytes:
    parquet = needed("pyarrow.parquet", "a survey's tables")
    schema = groups[0].schema.with_metadata({"eyeline": json.dumps(about)})
    file = io.BytesIO()
    with parquet.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        for group in groups:
            writer.write_table(group.cast(schema), row_group_size=max(group.num_rows, 1))
    return file.getvalue()
