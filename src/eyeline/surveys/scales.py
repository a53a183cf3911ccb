"""The scales that a survey's distributions are counted on. They never change, so that all blocks and surveys merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Ranges of j - i, the key's position less the query's: the r-th is [edge r, edge r + 1). By powers of 2: ... [-3, -2],
#: [-1], [0], [1], [2, 3], ...; the outermost reach beyond every model's length.
_POWERS = 2 ** np.arange(22)
OFFSET_EDGES: NDArray[np.int64] = np.concatenate([1 - _POWERS[::-1], _POWERS])
#: The ranges of the previous token, the token itself and the next.
PREVIOUS, SAME, NEXT = (int(np.flatnonzero(offset == OFFSET_EDGES)[0]) for offset in (-1, 0, 1))
#: Ranges of a row's entropy, in nats.
ENTROPY_EDGES: NDArray[np.float64] = np.arange(0, 12.01, 0.25)
#: Ranges of a row's largest weight.
LARGEST_EDGES: NDArray[np.float64] = np.linspace(0, 1, 21)
#: The first position of each range of a token's position in its window: 0, 1, 2, 4, 8, ...
POSITION_EDGES: NDArray[np.int64] = np.concatenate([[0], _POWERS])
#: The types of tokens, each token having the first that fits; a user's labels follow as "type/label".
TYPES = ("first", "special", "punctuation", "digits", "capital", "piece", "word", "other")
FIRST, SPECIAL, PUNCTUATION = range(3)
