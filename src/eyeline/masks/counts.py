"""Whole numbers given by the user: lengths of sequences, documents, prefixes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from eyeline.words import worded


def whole(name: str, value: ArrayLike, each: str = "batch element") -> tuple[int, ...]:
    """`value` as a tuple of whole numbers, 0 or more; `each` says in errors what they count."""
    array = np.asarray(value)
    if array.ndim == 0 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        what = worded("{dtype} array of shape {shape}", dtype=array.dtype, shape=array.shape)
        raise ValueError(
            worded("{name} must be whole numbers, one per {each}, got {what}", name=name, each=each, what=what)
        )
    if (array < 0).any():
        raise ValueError(worded("{name} must be 0 or more, got {min}", name=name, min=int(array.min())))
    return tuple(int(n) for n in array.ravel())


def short(values: Sequence[int]) -> str:
    """Numbers as a list, abbreviated if it is long."""
    if len(values) <= 8:
        return str(list(values))
    return f"[{', '.join(map(str, values[:6]))}, ... {len(values)} in all]"
