"""Rows' m and l in the form that weights 2^(score - m) / l need: the number to subtract, and the factor."""

from __future__ import annotations

from functools import cache

import numpy as np

from eyeline.kernels.compiled.memory import width
from eyeline.kernels.compiled.programs import sizes
from eyeline.kernels.compiled.records import compiled


@cache
def row_totals(dtype, lanes, most_vectors):
    """`take_totals`, for panels of `most_vectors` · `lanes` queries."""
    W = width(dtype, lanes)
    load_scalar, store_scalar = W.load_scalar, W.store_scalar
    size, _, length, _ = sizes(dtype, lanes, most_vectors)
    zero, one, infinity, largest = dtype(0), dtype(1), dtype(np.inf), np.finfo(dtype).max

    @compiled
    def take_totals(m, l, count, shift, inverse_l):
        """For `count` rows, whose m and l begin at these addresses, write the shift (m, or 0 where m is -inf) and 1 / l
        (0 where l is 0). Lanes beyond the last row get a shift that makes their weights 0, whatever their scores."""
        for i in range(length):
            at = min(i, count - 1) * size
            highest, total = load_scalar(m + at), load_scalar(l + at)
            if i >= count:
                highest, total = largest, zero
            store_scalar(shift + i * size, zero if highest == -infinity else highest)
            store_scalar(inverse_l + i * size, zero if total == zero else one / total)

    return take_totals
