"""Scales from zero, with an end that is stated: a bar's length and a cell's shade are number / end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyeline.views.labels import percent
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.views.drawn import DrawnMatrix

#: The possible ends of a scale.
ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def scale_end(numbers: Iterable[float]) -> float:
    """The end of a scale from zero: the smallest of 1, 2, 5, 10, 20, 50 and 100% that isn't below any of the numbers.

    A bar's length and a shade are number / end.

    >>> scale_end([0.32, 0.17]), scale_end([0.004]), scale_end([])
    (0.5, 0.01, 0.01)
    """
    most = max(numbers, default=0.0)
    return next((end for end in ENDS if most <= end * (1 + 1e-9)), most)


def shade_end(numbers: Iterable[float]) -> tuple[float, float]:
    """The end of a matrix' scale from zero, and its largest number.

    It is the end for all numbers; but where 95% of those above 0 fit a scale of a quarter of that, it is the end for
    these. The few cells beyond it, such as the column of an attention sink, are drawn in full shade, and the legend
    says so: otherwise they would make all others pale.

    >>> shade_end([0.9, *[0.1] * 30]), shade_end([0.3, *[0.2] * 30])
    ((0.1, 0.9), (0.5, 0.3))
    """
    above_0 = sorted(number for number in numbers if number > 0)
    if not above_0:
        return scale_end([]), 0.0
    whole, most = scale_end(above_0), scale_end([above_0[math.ceil(0.95 * len(above_0)) - 1]])
    return most if most <= whole / 4 else whole, above_0[-1]


@dataclass(frozen=True)
class Shades:
    """The scale of matrices that are drawn together: linear from zero to `end`; the `largest` number may be beyond."""

    end: float
    largest: float

    @staticmethod
    def of(matrices: Sequence[DrawnMatrix]) -> Shades:
        """The scale for the numbers between words; what is set aside has a scale of its own, from 0 to 100%."""
        return Shades(*shade_end(number for found in matrices for number in found.numbers.ravel().tolist()))

    def beyond(self) -> str:
        """The sentence on the cells beyond the end, after a space; empty if there are none.

        >>> Shades(0.1, 0.9).beyond(), Shades(1.0, 0.9).beyond()
        (' A few cells are beyond, the largest at 90%.', '')
        """
        if self.largest <= self.end * (1 + 1e-9):
            return ""
        return " " + worded("A few cells are beyond, the largest at {number}.", number=percent(self.largest))
