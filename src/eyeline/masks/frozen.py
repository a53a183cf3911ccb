"""Masks whose arrays never change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import LoweredMask
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape


@dataclass(frozen=True, repr=False, eq=False)
class Frozen(Mask):
    """A mask of which nobody will change an array, so that its lowered form is computed once for each shape. `kept` is
    for whoever computes something else of it.

    Only for arrays that this package made: a user's own may change between two calls. It is hashed by identity.

    Args:
        inner: the mask.

    >>> from eyeline.masks import Dense
    >>> mask, shape = Frozen(Dense(np.eye(2, dtype=bool))), AttentionShape((1,), 1, 2, 2)
    >>> mask, mask.lower(shape) is mask.lower(shape)
    (Dense(2 × 2, 50% allowed), True)
    """

    inner: Mask
    kept: ClassVar[dict[Any, Any]]

    def __post_init__(self) -> None:
        # Not a field: the parts of the mask are those that make an equal one.
        object.__setattr__(self, "_lowered", {})
        object.__setattr__(self, "kept", {})

    def __repr__(self) -> str:
        return repr(self.inner)

    @property
    def is_plain(self) -> bool:
        """False: what is kept of it goes when it goes."""
        return False

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        return self.inner.rule(shape)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        kept: dict[AttentionShape, Any] = self._lowered  # type: ignore[attr-defined]
        found: LoweredMask | None = kept.get(shape)
        if found is None:
            found = kept[shape] = self.inner.lower(shape)
        return found
