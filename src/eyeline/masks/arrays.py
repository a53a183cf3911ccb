"""Arrays of NumPy and tensors of torch, where a definition is written once for both."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def namespace(x: Any) -> Any:
    """The library of an array's functions, `numpy` or `torch`; a definition uses those that both have.

    torch is never imported: where there is a tensor, it has been.
    """
    return np if isinstance(x, (np.ndarray, np.generic)) else sys.modules["torch"]
