"""Sizes as formulas that are data, so that the page, which lays out its own calls, evaluates the very same ones.

A formula is a number, the name of a number, or an operator (`OPERATORS`) and its operands.

>>> evaluated(("*", ("+", 128, "rows"), "line"), {"rows": 3, "line": 32})
4192
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

Formula = int | str | tuple[Any, ...]
#: What joins the operands, from the left to the right; "//" rounds down.
OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "min": min,
    "max": max,
}


def evaluated(formula: Formula, numbers: Mapping[str, int]) -> int:
    """The value of a formula, with these numbers by name."""
    if isinstance(formula, tuple):
        join, *operands = formula
        return reduce(OPERATORS[join], (evaluated(operand, numbers) for operand in operands))
    return numbers[formula] if isinstance(formula, str) else formula


def rounded_up(formula: Formula, unit: int) -> Formula:
    """A formula's value, rounded up to a multiple of `unit`."""
    return "*", unit, ("//", ("+", formula, unit - 1), unit)
