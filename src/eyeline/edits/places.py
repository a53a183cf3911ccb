"""Where an attention call stands in a run: what is needed to say which of its numbers an edit changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

#: The kinds of attention of a model.
Kind = Literal["encoder self", "decoder self", "cross"]


@dataclass(frozen=True, eq=False)
class CallPlace:
    """The place of one attention call.

    Attributes:
        heads, key_heads: H and G.
        queries, keys: the position of each query and key in its sequence, int64, (B or 1, N) and (B or 1, M): absolute,
            with padding left out, -1 for padding.
        layer: the number of the layer among those of its kind, from 0; None for a call by itself.
        kind: its kind of attention; None for a call by itself.
    """

    heads: int
    key_heads: int
    queries: NDArray[np.int64]
    keys: NDArray[np.int64]
    layer: int | None = None
    kind: Kind | None = None

    @property
    def named(self) -> str:
        """The place in words, for errors."""
        return "this call" if self.layer is None else f"layer {self.layer} ({self.kind})"


def place_of(heads: int, key_heads: int, queries: int, keys: int) -> CallPlace:
    """The place of a call by itself, whose queries and keys are counted from 0."""
    return CallPlace(heads, key_heads, np.arange(queries)[None], np.arange(keys)[None])
