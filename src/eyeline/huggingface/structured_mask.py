"""The mask object that transformers' models pass from the mask function to the attention function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils._pytree import tree_map

from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.mask_structure import Positions
from eyeline.masks import AttentionShape, Causal, Frozen, Mask
from eyeline.words import worded


class StructuredMask:
    """The mask object that models pass to every layer in place of a 4-D mask tensor.

    Attributes:
        mask: where queries may look; everywhere if None.
        computed: the same in the form that is computed: None where the mask hides nothing.
        positions: the positions of queries and keys in the whole sequence; None where `torch.compile` traces a tensor
            of the cache.
        tokens: bool, (B, positions), False where a position of the whole sequence is padding; None if none is.
        shape: (B, 1, N, M), the shape of the tensor that it replaces: generation reads it.

    Some models read their masks, or add them to their own scores. They get the dense tensor, made on demand: 0 where a
    query may look, the dtype's minimum where it may not.
    """

    ndim = 4

    def __init__(
        self,
        mask: Mask | None,
        positions: Positions | None,
        tokens: Tensor | None,
        shape: tuple[int, ...],
        dense: Callable[[], Tensor] | None = None,
    ) -> None:
        self.mask, self.positions, self.tokens, self.shape, self._dense = mask, positions, tokens, shape, dense
        # Under torch.compile, the mask holds tensors whose values change from run to run.
        self.computed = mask
        if dense is not None and positions is not None:
            self.computed = _computed(mask, positions, shape[0], tokens is not None)
        self._real: tuple[Tensor | None] | None = None
        self._real_keys: NDArray[np.bool_] | None = None
        self._expired: str | None = None

    def expire(self, reason: str) -> None:
        """From now on, whoever uses the mask gets an error with this reason."""
        self._expired, self.shape = reason, (*self.shape[:2], 0, 0)

    def check_current(self) -> None:
        """
        Raises:
            HuggingFaceError: if it has expired.
        """
        if self._expired is not None:
            raise HuggingFaceError(self._expired)

    def dense(self) -> Tensor:
        """The dense tensor, (B, 1, N, M)."""
        self.check_current()
        if self._dense is None:
            raise HuggingFaceError(
                worded(
                    "attention masks must be passed on as they are under torch.compile, got a model that looks "
                    "into its own; run it uncompiled"
                )
            )
        return self._dense()

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(f"'StructuredMask' object has no attribute {attribute!r}")
        return getattr(self.dense(), attribute)

    def __getitem__(self, index: Any) -> Any:
        return self.dense()[index]

    def __eq__(self, other: object) -> Any:
        return self is other if isinstance(other, StructuredMask) else self.dense() == other

    __hash__ = object.__hash__

    def to(self, *_: Any, **__: Any) -> StructuredMask:
        """Return itself: it has no device and no dtype."""
        return self

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
        given, named = tree_map(
            lambda one: one.dense() if isinstance(one, StructuredMask) else one, (given, named or {})
        )
        return function(*given, **named)

    def __repr__(self) -> str:
        return f"StructuredMask({self.mask!r}, {' × '.join(map(str, self.shape))})"

    def is_of(self, query: Tensor, key: Tensor) -> bool:
        """Whether it has a row for each of the queries, (B, H, N, D), and a column for each of the keys."""
        return self.shape[3] == key.shape[2] and self.shape[2] == query.shape[2]

    def real_queries(self) -> Tensor | None:
        """Which queries aren't padding, bool, (B, N), where queries and keys are of one sequence; None if none is
        padding."""
        if self.tokens is None or self.positions is None:
            return None
        if self._real is None:  # for all layers at once
            first = self.positions.first_query
            real = self.tokens[:, first : first + self.positions.queries]
            self._real = (None if bool(real.all()) else real.clone(),)
        return self._real[0]

    def real_keys(self) -> NDArray[np.bool_] | None:
        """Which keys aren't padding, (B, M); None if none is padding."""
        if self.tokens is None or self.positions is None:
            return None
        if self._real_keys is None:
            first, M = self.positions.first_key, self.positions.keys
            keys = self.tokens[:, first : first + M].cpu().numpy()
            self._real_keys = np.pad(keys, ((0, 0), (0, M - keys.shape[1])))
        return self._real_keys


def _computed(mask: Mask | None, positions: Positions, batch: int, padded: bool) -> Mask | None:
    """The mask itself if other passes may have it, too; else one whose lowered form, and plans, are kept for the other
    layers and go with it; None if it hides nothing, as in most decoding."""
    if mask is None or (isinstance(mask, Causal) and positions.first_query - positions.first_key >= positions.keys - 1):
        return None
    if not padded and positions.align is None and mask.is_plain:
        return mask
    kept = Frozen(mask)
    if positions.queries == 1:
        lowered = kept.lower(AttentionShape((batch,), 1, 1, positions.keys))
        everywhere = (lowered.bounds == (0, positions.keys)).all() and lowered.bounds.shape[3] == 1
        if everywhere and lowered.allowed is None and not lowered.functions:
            return None
    return kept
