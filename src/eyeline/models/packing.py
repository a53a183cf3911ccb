"""Texts packed into one sequence: no padding is computed, and no token looks at another text.

Texts go into a block in the order in which they come, as many as fit, so which of them share a block depends on the
texts and `TOGETHER` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Documents

Ids = NDArray[np.int64]

#: The most tokens of a block, but for a text that is longer by itself.
TOGETHER = 4096


@dataclass(frozen=True, eq=False)
class PackedTexts:
    """Some texts' tokens in one sequence.

    Attributes:
        texts: each text's ids.
    """

    texts: Sequence[Ids]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Each text's number of tokens, (texts,)."""
        return np.array([len(text) for text in self.texts], np.int64)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The place of each text's first token, (texts,)."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def ids(self) -> Ids:
        """All tokens, (1, N)."""
        return np.concatenate(self.texts)[None]

    @property
    def positions(self) -> NDArray[np.int64]:
        """Each token's position in its own text, (N,)."""
        lengths = self.lengths
        return np.arange(lengths.sum()) - np.repeat(self.starts, lengths)

    @property
    def mask(self) -> Documents:
        """Every token looks at its own text alone."""
        return Documents(self.lengths)


def packed(texts: Iterable[Ids]) -> Iterator[PackedTexts]:
    """Pack texts, given as their ids, into blocks.

    >>> [block.lengths.tolist() for block in packed(np.zeros(count, int) for count in (3000, 1000, 200, 5000, 7))]
    [[3000, 1000], [200], [5000], [7]]
    """
    block: list[Ids] = []
    count = 0
    for text in texts:
        if block and count + len(text) > TOGETHER:
            yield PackedTexts(block)
            block, count = [], 0
        block.append(text)
        count += len(text)
    if block:
        yield PackedTexts(block)
