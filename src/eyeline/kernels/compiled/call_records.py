"""The records of which the params are made: arrays, and what masks, score modifiers and dropout are to the kernels."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

#: The type of whole numbers and addresses, and the type of factors (converted to the kernel's element type).
INT, FLOAT = np.dtype(np.int64), np.dtype(np.float64)


class StepKind(IntEnum):
    """The kind of a score step, named as in `scores.lowered`."""

    RELATIVE = 0
    ADDED = 1
    CAPPED = 2
    CALLED = 3
    FLATTENED = 4


class Half(IntEnum):
    """The 16-bit type of the arrays, which a float32 kernel widens on reading."""

    NOT = 0
    FLOAT16 = 1
    BFLOAT16 = 2


class Stage(IntEnum):
    """The stage of decoding: everything at once; or first the scores, split by keys, and then the sums of values, split
    by value columns."""

    EVERYTHING = 0
    KEEP_SCORES = 1
    SUM_VALUES = 2


def record(*names: str, **nested: np.dtype[Any]) -> np.dtype[Any]:
    """An aligned record: whole numbers by name, then fields of other types."""
    return np.dtype([*((name, INT) for name in names), *nested.items()], align=True)


#: An array of four axes: its address, and its strides of batch, head, token and column.
STRIDED = record("address", "batch", "head", "token", "column")
#: The mask.
MASK = record(
    "intervals",  # the number of intervals of keys per query
    "rules",  # addresses of the user's rules, compiled (see `user_functions`)
    "rule_count",
    bounds=STRIDED,  # int32: the intervals, or 0 if no key is hidden
    allowed=STRIDED,  # booleans, or 0
)
#: A score step: its array (of `FLATTENED`, int8 per head); or the address of a user's function, compiled; or a cap, in
#: base 2.
STEP = record("kind", array=STRIDED, cap=FLOAT, inverse_cap=FLOAT)
#: A factor of weights, after the softmax: each query's number, of the kernel's element type, and as far behind it as
#: `logs` says, the binary logarithm of its size; int8 for each key, 0 where weights aren't multiplied; and int8 for
#: each head, 0 where it has no such key.
FACTOR = record("logs", by=STRIDED, columns=STRIDED, heads=STRIDED)
#: Pairs that are hidden: each query's kind, int32, address 0 if there are none; and for each kind, int8 for each key,
#: lines of M, those of kind 0 all 0.
CUTS = record("columns", kinds=STRIDED)
#: Dropout: a weight is dropped if its lot is below `threshold`, else multiplied by `keep_factor`.
DROPOUT = record("threshold", "seed", keep_factor=FLOAT)
#: A rectangle of the weights, (B, H, rows, columns), contiguous; the places are each query's row and each key's column
#: in it, int32 (N,) and (M,), -1 if it has none.
RECTANGLE = record("address", "rows", "columns", "row_places", "column_places")
