"""The files of a survey's tables: the same table gives the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from eyeline.surveys.errors import needed
from eyeline.surveys.folder import EXAMPLES, HEADS, TOKENS, SurveyFolder
from eyeline.surveys.merging import Merged
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES, POSITION_EDGES
from eyeline.words import worded

if TYPE_CHECKING:
    import pyarrow as pa

#: The version of a survey's files.
FORMAT = "eyeline.survey/1"
#: The most rows of a row group.
_ROWS = 1024


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


def write_tables(folder: SurveyFolder, merged: Merged) -> dict[str, str]:
    """Write heads.parquet, tokens.parquet and examples.parquet, each whole or not at all; gives each file's sha256.

    tokens.parquet and examples.parquet have row groups of one head each, of at most 1,024 rows, so that a reader reads
    those alone that it shows.

    Raises:
        OSError: if one can't be written.
    """
    about = {"format": FORMAT, "scales": scales(merged.types)}
    groups = {HEADS: [merged.heads], TOKENS: _by_head(merged.tokens), EXAMPLES: _by_head(merged.examples)}
    hashes = {}
    for name, some in groups.items():
        data = _file(some, about)
        folder.write(name, data)
        hashes[name] = hashlib.sha256(data).hexdigest()
    return hashes


def tables_intact(folder: SurveyFolder, hashes: object) -> bool:
    """Whether all tables are there as they were written; `hashes` is survey.json's "tables"."""
    return isinstance(hashes, dict) and all(
        folder.has(name) and hashlib.sha256(folder.read(name)).hexdigest() == hashes.get(name)
        for name in (HEADS, TOKENS, EXAMPLES)
    )


def _by_head(table: pa.Table) -> list[pa.Table]:
    """The rows of each head; the table is sorted by layer and head."""
    layer, head = (table.column(name).to_numpy() for name in ("layer", "head"))
    starts = np.flatnonzero((np.diff(layer) != 0) | (np.diff(head) != 0)) + 1
    ends = [*starts.tolist(), table.num_rows]
    return [table.slice(first, last - first) for first, last in zip([0, *ends], ends, strict=False)]


def _file(groups: list[pa.Table], about: dict[str, Any]) -> bytes:
    parquet = needed("pyarrow.parquet", worded("a survey"))
    schema = groups[0].schema.with_metadata({"eyeline": json.dumps(about)})
    file = io.BytesIO()
    with parquet.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        for group in groups:
            writer.write_table(group.cast(schema), row_group_size=_ROWS)
    return file.getvalue()
