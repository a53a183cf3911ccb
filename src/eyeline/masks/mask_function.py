"""A mask given as a function by the user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.function_key import check_function, plain_function
from eyeline.masks.lowered import LoweredMask, Rule, everywhere
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


@dataclass(frozen=True, slots=True)
class MaskFunction(Mask):
    """A mask given as a Python function that Numba can compile.

    The function is compiled into the kernels and called for each pair of a query and a key that the masks joined with
    it by `&` allow, so `Causal() & MaskFunction(f)` calls it for no pair in the future. `~MaskFunction(f)`, and two of
    them joined by `&` or `|`, are functions again. An `|` with any other mask is computed beforehand as booleans,
    B·H·N·M bytes.

    Args:
        function: `function(b, h, i, j)`, whole numbers from 0: whether in batch element b (the leading axes, flattened)
            and head h, query i may look at key j. Variables and module attributes that it reads have their values at
            the time of the call.

    Raises:
        TypeError: if it isn't a Python function (a def or a lambda), or one that Numba has wrapped.

    >>> MaskFunction(lambda b, h, i, j: (i + j) % 2 == 0).dense(3).astype(int)
    array([[1, 0, 1],
           [0, 1, 0],
           [1, 0, 1]])
    """

    function: Rule

    def __post_init__(self) -> None:
        check_function(
            "function", self.function, lambda: worded("(b, h, i, j) that says whether query i may look at key j")
        )

    def __repr__(self) -> str:
        return f"MaskFunction({getattr(self.function, '__name__', repr(self.function))})"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        """The function called in Python for each pair: slow, but without compilation."""
        function = plain_function(self.function)
        answers = np.fromiter((bool(function(*at)) for at in np.ndindex(shape.shape)), bool)
        return answers.reshape(shape.shape)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        return LoweredMask(everywhere(shape.keys), functions=(plain_function(self.function),))
