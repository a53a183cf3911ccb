"""Checks of the matrices that are packed into one, and of their biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.compiled.call_records import Half
from eyeline.kernels.row_arrays import Array, check
from eyeline.words import worded

#: How matrices of each type are stored.
STORED = {np.dtype(np.float32): Half.NOT, np.dtype(np.float16): Half.FLOAT16, np.dtype(np.uint16): Half.BFLOAT16}


def checked_parts(
    parts: Sequence[NDArray[Any]], biases: Sequence[Array | None] | None
) -> tuple[list[NDArray[Any]], list[Array]]:
    """The matrices, checked, in one type; and their biases."""
    if len(parts) == 0:
        raise ValueError(worded("parts must be one matrix or more, got none; give a list"))
    biases = [None] * len(parts) if biases is None else biases
    if len(biases) != len(parts):
        raise ValueError(
            worded(
                "biases must be as many as the matrices, {count}, got {got}; give None for none",
                count=len(parts),
                got=len(biases),
            )
        )
    for part in parts:
        if not isinstance(part, np.ndarray) or part.dtype not in STORED:
            got = f"{part.dtype}" if isinstance(part, np.ndarray) else type(part).__name__
            raise TypeError(
                worded(
                    "parts must be NumPy arrays of float32, float16 or uint16 (bfloat16's bits), got {got}; "
                    "convert them",
                    got=got,
                )
            )
        if part.ndim != 2 or part.shape[1] != parts[0].shape[-1]:
            raise ValueError(
                worded(
                    "parts must be matrices (outputs, {shape}), got shape {got}; give one layer's",
                    shape=parts[0].shape[-1],
                    got=part.shape,
                )
            )
        if part.dtype != parts[0].dtype:
            raise TypeError(
                worded(
                    "parts must have one type, got {dtype} and {got}; convert them",
                    dtype=parts[0].dtype,
                    got=part.dtype,
                )
            )
    kept: list[Array] = []
    for part, bias in zip(parts, biases, strict=True):
        if bias is None:
            kept.append(np.full(len(part), -0.0, np.float32))  # x + -0.0 is x, also where x is -0.0
        else:
            check("biases", bias, (len(part),))
            kept.append(bias)
    return [*parts], kept
