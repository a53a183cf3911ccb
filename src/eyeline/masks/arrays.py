"""The library of an array, NumPy or torch, for definitions that are written once for both."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def namespace(x: Any) -> Any:
    """The module of an array's functions, `numpy` or `torch`; definitions use the functions that both have.

    torch is never imported here: if x is a tensor, it is loaded already.
    """
    return np if isinstance(x, (np.ndarray, np.generic)) else sys.modules["torch"]
