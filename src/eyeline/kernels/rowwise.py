"""What a Transformer computes row by row, on all threads: layer norm and root-mean-square norm, with a residual if
asked, and the rotation of queries and keys by their positions."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from eyeline.kernels import threads
from eyeline.kernels.compiled.rowwise_params import ROWWISE, RowPass
from eyeline.kernels.forms import address_of
from eyeline.kernels.row_arrays import (
    NO_ROWS,
    Array,
    check,
    check_apart,
    check_writable,
    given_rows,
    levels,
    written_rows,
)
from eyeline.kernels.run_tasks import run_tasks
from eyeline.kernels.workspaces import rowwise_workspace
from eyeline.words import worded

#: The number of numbers per task, and for which waking threads pays.
NUMBERS_PER_TASK, WORTH_THREADS = 1 << 13, 1 << 18
#: The bytes of a `ROWWISE`: whole numbers, and epsilon.
_packed = struct.Struct(f"={ROWWISE.itemsize // 8 - 1}qd").pack
_NOWHERE = (0, 0, 0)


def layer_norm(
    x: Array,
    weight: Array,
    bias: Array,
    epsilon: float,
    *,
    residual: Array | None = None,
    total: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Each row of x + residual shifted to mean 0 and scaled to variance 1, then · weight + bias.

    Source: Ba et al., "Layer Normalization" (2016).

    Args:
        x: float32 (..., width). Read in place if the numbers of a row lie side by side.
        weight, bias: float32 (width,).
        epsilon: added to the variance.
        residual: float32 of x's shape, or None. It may be broadcast.
        total: the memory for x + residual, float32 of x's shape, or None; may be x or the residual.
        out: the memory for the result, float32 of x's shape; may be any of these, too.

    Returns:
        float32 of x's shape: `out`, if it was given.

    Raises:
        TypeError, ValueError: if types or shapes don't fit.

    >>> layer_norm(np.array([[1, 3]], np.float32), np.ones(2, np.float32), np.zeros(2, np.float32), 0.0)
    array([[-1.,  1.]], dtype=float32)
    """
    return _norm(RowPass.LAYER_NORM, x, weight, bias, epsilon, residual, total, out)


def root_mean_square_norm(
    x: Array,
    weight: Array,
    epsilon: float,
    *,
    residual: Array | None = None,
    total: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Each row of x + residual divided by its root mean square, then · weight; arguments as in `layer_norm`.

    Source: Zhang & Sennrich, "Root Mean Square Layer Normalization" (2019).

    >>> root_mean_square_norm(np.array([[3, -3]], np.float32), np.ones(2, np.float32), 0.0)
    array([[ 1., -1.]], dtype=float32)
    """
    return _norm(RowPass.ROOT_MEAN_SQUARE_NORM, x, weight, None, epsilon, residual, total, out)


def rotate(x: Array, cos: Array, sin: Array, *, out: Array | None = None) -> Array:
    """Each vector of x rotated by its position's angles: its first half · cos - its second · sin, and its second half ·
    cos + its first · sin.

    Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), in Llama's order.

    Args:
        x: float32 (B, H, N, D), D even. Read in place if the D numbers lie side by side.
        cos, sin: float32 (N, D/2), C order.
        out: the memory for the result, float32 of x's shape; may be x.

    Returns:
        float32 of x's shape: `out`, if it was given.

    Raises:
        TypeError, ValueError: if types or shapes don't fit.

    >>> quarter = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    >>> rotate(np.array([[[[1, 0]]]], np.float32), *quarter)
    array([[[[0., 1.]]]], dtype=float32)
    """
    if not isinstance(x, np.ndarray) or x.ndim != 4 or x.shape[3] % 2:
        got = x.shape if isinstance(x, np.ndarray) else type(x).__name__
        raise ValueError(worded("x must have shape (B, H, N, D), D even, got {got}; give queries or keys", got=got))
    B, H, N, D = x.shape
    check("x", x, x.shape)
    cos, sin = _vector("cos", cos, (N, D // 2)), _vector("sin", sin, (N, D // 2))
    if out is None:
        out = np.empty(x.shape, np.float32)
    else:
        check("out", out, x.shape)
        check_writable("out", out)
        if not _heads_in_place(out):
            raise ValueError(
                worded(
                    "out must have each head's numbers side by side, got strides {strides}; give an array in C order",
                    strides=out.strides,
                )
            )
        check_apart("out", out, "x", x, same=True)
    if not _heads_in_place(x):
        x = np.ascontiguousarray(x)
    if x.size == 0:
        return out
    rows, to = (address_of(x), *x.strides[0:3:2]), (address_of(out), *out.strides[0:3:2])
    heads, tables = (H, x.strides[1], out.strides[1]), (address_of(cos), address_of(sin))
    _run(RowPass.ROTATE, B * N, N, D, heads, tables, (*rows, *_NOWHERE, *_NOWHERE, *to), 0.0, (x, cos, sin, out))
    return out


def _heads_in_place(x: Array) -> bool:
    return x.size == 0 or (x.strides[3] == 4 and x.flags.aligned)


def _norm(
    kind: RowPass,
    x: Array,
    weight: Array,
    bias: Array | None,
    epsilon: float,
    residual: Array | None,
    total: Array | None,
    out: Array | None,
) -> Array:
    if not isinstance(x, np.ndarray) or x.ndim == 0:
        check("x", x, (len(weight),))
    shape = x.shape
    rows = given_rows("x", x, shape)
    weight = _vector("weight", weight, shape[-1:])
    if bias is not None:
        bias = _vector("bias", bias, shape[-1:])
    y = np.empty(shape, np.float32) if out is None else out
    to = written_rows("out", y, shape)
    added = NO_ROWS if residual is None else given_rows("residual", residual, shape)
    summed = NO_ROWS if total is None else written_rows("total", total, shape)
    for name, written in (("out", out), ("total", total)):
        if written is not None:
            for other_name, other in (("x", x), ("residual", residual), ("total", total)):
                if other is not None and other is not written:
                    check_apart(name, written, other_name, other, same=True)
    if x.size == 0:
        return y
    outer, inner = levels(shape)
    tables = address_of(weight), 0 if bias is None else address_of(bias)
    arrays = (*rows[:3], *added[:3], *summed[:3], *to[:3])
    held = rows, added, summed, to, weight, bias
    _run(kind, outer * inner, inner, shape[-1], (1, 0, 0), tables, arrays, epsilon, held)
    return y


def _vector(name: str, array: Any, shape: tuple[int, ...]) -> Array:
    check(name, array, shape)
    return np.ascontiguousarray(array)


def _run(
    kind: RowPass,
    rows: int,
    together: int,
    columns: int,
    heads: tuple[int, int, int],
    tables: tuple[int, int],
    arrays: tuple[int, ...],
    epsilon: float,
    held: object,
) -> None:
    """Run a row pass; the arguments are the fields of `ROWWISE`, and what must live meanwhile."""
    numbers = columns * heads[0]
    row_block = max(1, min(rows, NUMBERS_PER_TASK // max(numbers, 1)))
    tasks = -(-rows // row_block)
    workers = min(threads.get_threads(), tasks) if rows * numbers > WORTH_THREADS else 1
    params = _packed(0, tasks, rows, together, columns, row_block, kind, *heads, *tables, *arrays, epsilon)
    run_tasks("rowwise", bytearray(params), rowwise_workspace(columns, heads[0]), row_block * numbers, workers, held)
