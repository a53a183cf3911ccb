"""One layer's looks: where each token of some windows looks, in every head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]
Places = NDArray[np.int64]

#: The number of keys that `strongest` gives for a look.
STRONGEST = 8


@dataclass(frozen=True, eq=False)
class Looks:
    """The looks of one layer, over several windows laid end to end: H heads, N tokens of all windows.

    The arrays may be in memory that the next layer uses too: they are valid until it is asked for.

    Attributes:
        entropy: -Σ w ln w of each token's weights, in nats, (H, N).
        distance: Σ w·|i - j|, in tokens, (H, N).
        received: what each token receives as a key from all queries of its window, (H, N).
        weight: the largest weight of each token, (H, N).
        key: the position of the key of that weight, in its window, (H, N).
        to: the weight on each type of key, (H, N, T).
        offsets: the weight on each range of j - i, (H, N, R): the ranges of `OFFSET_EDGES` from `first_range` on; those
            that are left out have no weight.
        first_range: the number of the first range.
        strongest: called with heads and tokens (numbers among the N), (P,) each, gives the keys of the 8 largest
            weights of each, by weight, as positions in their window, and these weights, (P, 8) each; key -1 and
            weight 0 where there are fewer.
    """

    entropy: Numbers
    distance: Numbers
    received: Numbers
    weight: Numbers
    key: Places
    to: Numbers
    offsets: Numbers
    first_range: int
    strongest: Callable[[Places, Places], tuple[Places, Numbers]]
