"""A factor per key, by which readouts multiply the weights: `times=`.

A weight says how much a query takes of a key's value, not how much that value is: w · ‖v W_o‖ is the length of what is
passed on.

Source: Kobayashi et al., "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms" (2020), section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import AttentionShape
from eyeline.readouts.arrays import cast
from eyeline.readouts.readout import Rows
from eyeline.words import worded


def held_times(times: Any) -> Any:
    """The factors as they were given, a tensor without its gradient; others as an array. Checked, but for their number.

    Raises:
        ValueError: if they aren't real numbers with an axis of keys; if an array has one below 0 or not finite.
    """
    if times is None:
        return None
    if hasattr(times, "detach"):
        # NumPy lacks bfloat16; a tensor's numbers are checked where it is used, since torch.compile can't read them.
        times = times.detach().float() if "bfloat16" in str(times.dtype) else times.detach()
        wrong = "complex" in str(times.dtype) or "bool" in str(times.dtype)
    else:
        times = np.asarray(times)
        wrong = times.dtype.kind not in "iuf" and times.size > 0
    if wrong or times.ndim == 0:
        raise ValueError(
            worded(
                "times must be real numbers, one per key, got {dtype} of shape {shape}; give (M,), (H, M) or "
                "(..., H, M)",
                dtype=times.dtype,
                shape=tuple(times.shape),
            )
        )
    if isinstance(times, np.ndarray):
        _check_numbers(times)
    return times


def times_of(times: Any, shape: AttentionShape) -> NDArray[np.float64]:
    """The factors of a matrix's keys, (B or 1, H or 1, M).

    Raises:
        ValueError: if they don't fit the matrix, or one is below 0 or not finite.
    """
    array = times.cpu().numpy() if hasattr(times, "cpu") else times
    array = np.asarray(array, np.float64)
    target = (*shape.lead, shape.heads, shape.keys)
    try:
        fits = array.shape[-1] == shape.keys and np.broadcast_shapes(array.shape, target) == target
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            worded(
                "times must be one per key, (M,), (H, M) or (..., H, M) = {target}, got shape {shape}",
                target=target,
                shape=array.shape,
            )
        )
    _check_numbers(array)
    return np.asarray(shape.spread(array[..., None, :], "times")[:, :, 0])


def factors(times: Any, rows: Rows) -> Any:
    """The factors of these rows' weights, (B or 1, H or 1, 1, M), in the weights' type."""
    return cast(rows.constant(times_of(times, rows.shape)[:, :, None]), rows.w)


def shown(times: Any) -> str:
    """The factors' shape, for the end of a readout's arguments as text; nothing without factors."""
    return "" if times is None else f", times={' × '.join(map(str, times.shape))}"


def _check_numbers(times: NDArray[Any]) -> None:
    wrong = times[~(np.isfinite(times) & (times >= 0))]
    if wrong.size:
        raise ValueError(worded("times must be finite and 0 or more, got {wrong}", wrong=wrong[0]))
