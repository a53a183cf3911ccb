"""The columns of a survey's tables: heads.parquet, tokens.parquet, examples.parquet, and each block's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.surveys.tally import MEASURES

if TYPE_CHECKING:
    import pyarrow as pa


#: The columns of the heads' table that hold a list of numbers.
DISTRIBUTIONS = ("offsets", "entropies", "largest", "to", "received")


def heads_schema() -> pa.Schema:
    """One row per head, by layer and head. Shares are of all counted tokens' weight.

    `kind` is the first of `kinds`; a measure is a mean over all counted tokens (`sink` over documents, `induction` over
    random tokens), and its `_sd` the standard deviation over documents. Of the distributions, `offsets` are shares of
    weight; `entropies` and `largest` shares of tokens; `to` the weight given to each type of token, `received` what a
    token of each type receives, as a mean per token.
    """
    import pyarrow as pa

    measures = [pa.field(name, pa.float64()) for name in (*MEASURES, "induction")]
    spread = [pa.field(f"{name}_sd", pa.float64()) for name in MEASURES]
    distributions = [pa.field(name, pa.list_(pa.float64())) for name in DISTRIBUTIONS]
    return pa.schema(
        [
            pa.field("layer", pa.int32()),
            pa.field("head", pa.int32()),
            pa.field("kind", pa.string()),
            pa.field("kinds", pa.list_(pa.string())),
            *measures,
            *spread,
            pa.field("entropy_token_sd", pa.float64()),
            *distributions,
        ]
    )


def tokens_schema() -> pa.Schema:
    """One row per head, type of token and range of positions, in that order: means over these tokens, and their
    `count`; `position` is the range's first position."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("layer", pa.int32()),
            pa.field("head", pa.int32()),
            pa.field("type", pa.string()),
            pa.field("position", pa.int64()),
            pa.field("count", pa.int64()),
            pa.field("entropy", pa.float64()),
            pa.field("distance", pa.float64()),
            pa.field("received", pa.float64()),
            pa.field("to", pa.list_(pa.float64())),
        ]
    )


def examples_schema() -> pa.Schema:
    """One row per example, by layer, head, sort and rank; see `Example`. `rank` is from 0, the strongest first."""
    import pyarrow as pa

    fields = example_fields()
    return pa.schema([*fields[:3], pa.field("rank", pa.int32()), *fields[3:]])


def example_fields() -> list[pa.Field]:
    """The columns of an `Example`."""
    import pyarrow as pa

    return [
        pa.field("layer", pa.int32()),
        pa.field("head", pa.int32()),
        pa.field("sort", pa.string()),
        pa.field("order", pa.uint64()),
        pa.field("weight", pa.float32()),
        pa.field("document", pa.int64()),
        pa.field("file", pa.string()),
        pa.field("place", pa.int64()),
        pa.field("window", pa.int32()),
        pa.field("query", pa.int32()),
        pa.field("key", pa.int32()),
        pa.field("tokens", pa.list_(pa.string())),
        pa.field("positions", pa.list_(pa.int32())),
        pa.field("weights", pa.list_(pa.float32())),
        pa.field("special", pa.list_(pa.bool_())),
    ]


def documents_schema(heads: int) -> pa.Schema:
    """One row per document; each measure holds `heads` = layers · heads numbers, by layer and head."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("document", pa.int64()),
            pa.field("file", pa.string()),
            pa.field("place", pa.int64()),
            pa.field("characters", pa.int64()),
            pa.field("tokens", pa.int64()),
            pa.field("windows", pa.int32()),
            *(pa.field(name, pa.list_(pa.float32(), heads)) for name in MEASURES),
        ]
    )
