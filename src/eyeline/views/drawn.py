"""The numbers that a picture draws: weights of the whole row, or shares of the words alone.

By default the numbers are weights, and one part at the end of a row is the total weight of the units that are set
aside, so that a row sums to 1. With `special`, no unit is set aside. With `shares`, numbers are shares of the drawn
units, which sum to 1, and there is no such part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from eyeline.answers.entries import Look, UnitMatrix


@dataclass(frozen=True)
class DrawnRow:
    """The numbers of one query.

    Attributes:
        looks: the drawn units, in reading order.
        numbers: the number of each: its weight, or its share.
        aside: the total weight of the units that are set aside; None if it isn't drawn.
    """

    looks: tuple[Look, ...]
    numbers: tuple[float, ...]
    aside: float | None

    @property
    def all(self) -> tuple[float, ...]:
        """Every number that the row draws."""
        return self.numbers if self.aside is None else (*self.numbers, self.aside)

    def largest(self, count: int) -> list[tuple[float, Look]]:
        """The largest numbers, and their units, largest first; ties in reading order."""
        return sorted(zip(self.numbers, self.looks, strict=True), key=lambda pair: -pair[0])[:count]


@dataclass(frozen=True, eq=False)
class DrawnMatrix:
    """The numbers between the drawn units.

    Attributes:
        numbers: (S, S): rows are queries, columns are keys.
        aside: the total weight of the units that are set aside in each row, (S,); None if it isn't drawn.
        hidden: which pairs the mask hides, (S, S); None if none.
    """

    numbers: NDArray[np.float64]
    aside: NDArray[np.float64] | None
    hidden: NDArray[np.bool_] | None


def drawn_row(looks: Sequence[Look], shares: bool) -> DrawnRow:
    """The numbers of a query's weights on all units.

    >>> from eyeline.answers.entries import Look
    >>> words = [Look(1, "time", 0.3, 0.6, False), Look(2, "flies", 0.2, 0.4, False)]
    >>> looks = [Look(0, "[CLS]", 0.5, None, False), *words]
    >>> drawn_row(looks, shares=False).all, drawn_row(looks, shares=True).all
    ((0.3, 0.2, 0.5), (0.6, 0.4))
    """
    kept = tuple(look for look in looks if look.share is not None)
    rest = [look.weight for look in looks if look.share is None]
    numbers = tuple((look.share or 0.0) if shares else look.weight for look in kept)
    return DrawnRow(kept, numbers, sum(rest) if rest and not shares else None)


def drawn_matrix(found: UnitMatrix, shown: Sequence[int], shares: bool) -> DrawnMatrix:
    """The numbers of a matrix between all units, of which those at `shown` are drawn."""
    if shares:
        return DrawnMatrix(found.shares, None, found.hidden)
    rows: NDArray[Any] = found.weights[list(shown)]
    rest = np.delete(rows, list(shown), axis=1)
    return DrawnMatrix(rows[:, list(shown)], rest.sum(axis=1) if rest.shape[1] else None, found.hidden)
