"""The interface between the host and the kernel of row passes: its record. Addresses and strides are in bytes, and
address 0 means absent."""

from __future__ import annotations

from enum import IntEnum

from eyeline.kernels.compiled.call_records import FLOAT, record
from eyeline.kernels.compiled.product_params import ROWS


class RowPass(IntEnum):
    """What is computed of each row."""

    LAYER_NORM = 0
    ROOT_MEAN_SQUARE_NORM = 1
    ROTATE = 2


#: The params of a row pass.
ROWWISE = record(
    "next_task",  # the next task to take, shared by all threads
    "tasks",
    "rows",
    "together",  # the number of rows in the inner level of x, residual, total and y
    "columns",  # of a row; where heads are rotated, of a head
    "row_block",  # the number of rows per task
    "kind",  # a `RowPass`
    "heads",  # where heads are rotated, per row: their number, and the bytes between them
    "x_head",
    "y_head",
    "weight",  # (columns,); where heads are rotated, the cosines (together, columns / 2)
    "bias",  # (columns,), or 0; where heads are rotated, the sines
    x=ROWS,
    residual=ROWS,  # added to x first; or address 0
    total=ROWS,  # the memory for x + residual; or address 0
    y=ROWS,
    epsilon=FLOAT,
)
