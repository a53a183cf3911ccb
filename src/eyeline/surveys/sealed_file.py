"""A Parquet file whose footer holds a checksum of all before it, so that any damage to its data is found."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

from eyeline.surveys.errors import needed
from eyeline.words import worded

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = b"eyeline.crc32"


def sealed(table: pa.Table) -> bytes:
    """Write a table as a Parquet file, compressed with Zstandard; the same table gives the same bytes."""
    parquet = needed("pyarrow.parquet", worded("a survey"))
    file = io.BytesIO()
    with parquet.ParquetWriter(file, table.schema, compression="zstd", use_dictionary=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_KEY: f"{file.tell()} {zlib.crc32(file.getbuffer())}"})
    return file.getvalue()


def unsealed(data: bytes) -> pa.Table:
    """Read a file that `sealed` wrote.

    Raises:
        pyarrow.ArrowException, OSError: if it isn't Parquet, or was cut short.
        ValueError: if it has no checksum, or another than its data.
    """
    pa, parquet = needed("pyarrow", worded("a survey")), needed("pyarrow.parquet", worded("a survey"))
    file = parquet.ParquetFile(pa.BufferReader(data))
    length, _, checksum = (file.metadata.metadata or {}).get(_KEY, b"").partition(b" ")
    if not length.isdigit() or checksum != str(zlib.crc32(memoryview(data)[: int(length)])).encode():
        raise ValueError(worded("its checksum isn't that of its data"))
    return file.read()
