"""One attention on the whole matrix, in float64, on which edits are defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Dense64:
    """The arrays of an attention, changed by one edit after the other: an edit writes into them.

    Keys and values are repeated for each query head, so that every query head has its own.

    Attributes:
        q, k, v: (B, H, N, D), (B, H, M, D) and (B, H, M, E).
        hidden: bool, (B, H, N, M): where a query may not look, by the mask or a score of -inf, nor in another run whose
            weights it takes. Set after the scores.
        w: the weights, (B, H, N, M). Set after the softmax.
        lse: the log of each row's sum of exponentials, (B, H, N). Set after the softmax.
        sink: each row's share that goes to the sink, (B, H, N), or None.
        output: (B, H, N, E). Set last.
    """

    q: Array
    k: Array
    v: Array
    hidden: NDArray[np.bool_] | None = None
    w: Any = None
    lse: Array | None = None
    sink: Array | None = None
    output: Any = None
