"""The alignment of queries with keys, where their numbers differ."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.shape import AttentionShape
from eyeline.words import worded

#: "start": the first query stands at the first key; "end": the last at the last; a number: the first at that key.
Align = Literal["start", "end"] | int
#: The largest offset: positions up to it still fit in 64 bits.
_FARTHEST = 1 << 62


def first_standing(shape: AttentionShape, align: Align | None, asked: object) -> int:
    """The key position at which the first query stands; `asked` is the mask or readout named in errors."""
    N, M = shape.queries, shape.keys
    if N != M and align is None:
        raise ValueError(
            worded(
                "align must be given where queries and keys differ in number, got {asked} for {N} queries "
                'and {M} keys; say align="end" if the last query stands at the last key (decoding with a '
                'cache), or align="start" if the first query stands at the first key',
                asked=asked,
                N=N,
                M=M,
            )
        )
    return M - N if align == "end" else 0 if align is None or align == "start" else align


def standing(shape: AttentionShape, align: Align | None, asked: object) -> NDArray[np.int64]:
    """The key position at which each query stands, (N, 1); `asked` is the mask or readout named in errors."""
    return np.arange(shape.queries)[:, None] + first_standing(shape, align, asked)


def check_align(align: Any) -> Align | None:
    """Check an alignment; a whole number of any type becomes an int.

    Raises:
        ValueError: if it is neither "start", "end", a whole number nor None.
    """
    if isinstance(align, np.integer):
        return int(align)
    number = isinstance(align, int) and not isinstance(align, bool)
    if number and not -_FARTHEST <= align <= _FARTHEST:
        raise ValueError(worded("align must be a key's number from -2^62 to 2^62, got {align}", align=align))
    if not number and align not in (None, "start", "end"):
        raise ValueError(worded('align must be "start", "end", a key\'s number or None, got {align!r}', align=align))
    checked: Align | None = align
    return checked
