"""A mask that is a rule of the user's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import LoweredMask, Rule, everywhere
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape


@dataclass(frozen=True, slots=True)
class MaskFunction(Mask):
    """Where a function says so: any Python that Numba can compile.

    The function is compiled into the kernels and asked about each pair of a query and a key that the masks joined with
    it by `&` leave, so `Causal() & MaskFunction(f)` asks nothing about the future. `~MaskFunction(f)`, and two of them
    joined by `&` or `|`, are functions again. An `|` with any other mask is computed beforehand as booleans, B·H·N·M
    bytes.

    Args:
        function: `function(b, h, i, j)`, whole numbers from 0: whether in batch element b (the leading axes, flattened)
            and head h, query i may look at key j. It should depend on nothing else that changes: what it has read of
            variables around it stays as it was when it was compiled.

    Raises:
        TypeError: if the function can't be called.

    >>> MaskFunction(lambda b, h, i, j: (i + j) % 2 == 0).dense(3).astype(int)
    array([[1, 0, 1],
           [0, 1, 0],
           [1, 0, 1]])
    """

    function: Rule

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"function must be a function (b, h, i, j) that says whether query i may look at key j, got "
                f"{self.function!r}"
            )

    def __repr__(self) -> str:
        return f"MaskFunction({getattr(self.function, '__name__', repr(self.function))})"

    def rule(self, problem: AttentionShape) -> NDArray[np.bool_]:
        """The function asked about each pair in turn, as Python runs it: slowly, and surely."""
        answers = np.fromiter((bool(self._python()(*at)) for at in np.ndindex(problem.shape)), bool)
        return answers.reshape(problem.shape)

    def lower(self, problem: AttentionShape) -> LoweredMask:
        return LoweredMask(everywhere(problem.keys), functions=(self._python(),))

    def _python(self) -> Rule:
        """The function as it was before Numba wrapped it, if it did: how it is compiled is the kernels' business."""
        function: Rule = getattr(self.function, "py_func", self.function)
        return function
