"""How far two orders agree: Spearman's rank correlation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.mattering.answer import Agreement, Edge
from eyeline.answers.mattering.measure import Array


def agreements(
    heads: Array, looks: Array, passed: Array | None, first_order: Array | None, edges: Sequence[Edge]
) -> tuple[Agreement, ...]:
    """How far looking, and first-order effects, agree with the sizes of effects; arguments as in `Effects`."""
    sizes = np.abs(heads)
    found = [Agreement("heads", "weight", *rank_correlation(looks, sizes))]
    if passed is not None:
        found.append(Agreement("heads", "passed", *rank_correlation(passed, sizes)))
    if first_order is not None:
        found.append(Agreement("heads", "first order", *rank_correlation(np.abs(first_order), sizes)))
    if edges:
        changes = np.abs([one.effect for one in edges])
        found.append(Agreement("edges", "weight", *rank_correlation(np.array([one.weight for one in edges]), changes)))
        lengths = [one.passed for one in edges if one.passed is not None]
        if len(lengths) == len(edges):
            found.append(Agreement("edges", "passed", *rank_correlation(np.array(lengths), changes)))
    return tuple(found)


def rank_correlation(a: NDArray[Any], b: NDArray[Any]) -> tuple[float | None, int]:
    """Spearman's rank correlation of two series, and how many pairs it is over; pairs with NaN are left out.

    Equal numbers get the mean of their ranks. Source: Spearman, "The Proof and Measurement of Association between Two
    Things" (1904).

    Returns:
        The correlation, None where there are fewer than 3 pairs or one series is constant; and the number of pairs.

    >>> rank_correlation(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 40, 30]))
    (0.8, 4)
    """
    a, b = np.ravel(a).astype(np.float64), np.ravel(b).astype(np.float64)
    both = ~(np.isnan(a) | np.isnan(b))
    count = int(both.sum())
    if count < 3:
        return None, count
    x, y = (_ranks(series[both]) for series in (a, b))
    x, y = x - x.mean(), y - y.mean()
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return (None if spread == 0 else float(x @ y) / spread), count


def _ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1; equal numbers share their mean rank."""
    _, places, counts = np.unique(series, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[places.reshape(-1)])
