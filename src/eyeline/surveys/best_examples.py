"""The examples to keep of each head: the looks of largest weight, and a uniform sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys.tables import example_fields, examples_schema
from eyeline.surveys.tally import Example

if TYPE_CHECKING:
    import pyarrow as pa


def no_examples() -> pa.Table:
    """A table of no examples."""
    import pyarrow as pa

    return pa.schema(example_fields()).empty_table()


def best(tables: Sequence[pa.Table], largest: int, sample: int) -> pa.Table:
    """The examples to keep of several tables: for each head those of largest weight, ties by `order`, and those of
    smallest `order`; by layer and head, the largest first.

    Which are kept doesn't depend on how they are shared out among the tables. Of equal ones, which a file that is
    given twice has, the first are kept.

    Args:
        tables: tables of `example_fields`.
        largest, sample: how many to keep for each head.
    """
    import pyarrow as pa

    joined = pa.concat_tables(tables)
    order, rank, is_sample = _ranked(joined)
    kept = rank < np.where(is_sample, sample, largest)
    return joined.take(pa.array(order[kept])).combine_chunks()


def ranked_examples(kept: pa.Table) -> pa.Table:
    """The examples with their ranks, a table of `examples_schema`."""
    import pyarrow as pa

    schema = examples_schema()
    order, rank, _ = _ranked(kept)
    chosen = kept.take(pa.array(order)).append_column("rank", pa.array(rank.astype(np.int32)))
    return chosen.select(schema.names).cast(schema)


def as_examples(table: pa.Table) -> list[Example]:
    """The rows of a table of `example_fields` or `examples_schema`."""
    found = []
    for row in table.select([field.name for field in example_fields()]).to_pylist():
        values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in row.items()}
        found.append(Example(**values))
    return found


def _ranked(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The order of its rows by head, sort and strength; in that order, each one's rank, and which are of a sample."""
    columns: dict[str, NDArray[Any]] = {
        name: table.column(name).to_numpy() for name in ("layer", "head", "order", "weight")
    }
    is_sample = np.array(table.column("sort").to_pylist(), object) == "sample"
    strength = np.where(is_sample, 0, -columns["weight"])
    order = np.lexsort((columns["order"], strength, is_sample, columns["head"], columns["layer"]))
    keys = np.stack([columns["layer"], columns["head"], is_sample])[:, order]
    starts = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])[: len(order)])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    return order, rank, is_sample[order]
