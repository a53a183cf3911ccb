"""The interface between the host and the kernel of matrix products: its record, and the sizes that both sides know.

As in `params`, addresses and strides are in bytes, and address 0 means absent.
"""

from __future__ import annotations

from enum import IntEnum

from eyeline.kernels.compiled.call_records import record


class Activation(IntEnum):
    """The function that the sums go through."""

    NONE = 0
    RELU = 1
    GELU = 2
    GELU_TANH = 3
    SILU = 4


#: A sum over inputs is the sum of these blocks' sums, in order: a row's bits depend on it.
INPUT_BLOCK = 128
#: (vectors, rows, fewer rows) of the tiles of sums that are kept in registers, by the number of lanes; a single row has
#: a tile of its own.
PRODUCT_TILES = {16: (4, 6, 4), 8: (2, 6, 4), 4: (2, 6, 4)}

#: Rows of numbers in two levels: row r lies at address + (r // together) · outer + (r % together) · inner.
ROWS = record("address", "outer", "inner")
#: The params of a product.
PRODUCT = record(
    "next_task",  # the next task to take, shared by all threads
    "tasks",
    "rows",
    "together",  # the number of rows in the inner level of x, residual and y
    "inputs",
    "outputs",
    "row_block",  # the number of rows per task
    "row_blocks",
    "panels",
    "panel_block",  # the number of panels per task
    "segment",  # the number of x's columns that lie side by side,
    "jump",  # and the bytes between the end of these and the next ones
    "weights",  # [panel][inputs][vectors · lanes], in the stored type
    "stored",  # the type of the weights (`Half`)
    "bias",  # float32 [panel][vectors · lanes]
    "activation",  # an `Activation`
    "gated",  # whether each panel's second half is multiplied by its first half's activations
    x=ROWS,
    residual=ROWS,  # added last; or address 0
    y=ROWS,
)
