"""What is read of each row of the weights: of each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks import Align, AttentionShape, check_align, standing


def check_count(name: str, value: object, least: int) -> int:
    """A whole number of `least` or more."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more, got {value!r}")
    return int(value)


@dataclass(frozen=True)
class TopK:
    """The k keys that each query looks at most.

    Reads `top_k` of an observation: `top_k.keys`, int64, and `top_k.weights`, both (..., H, N, k), by weight, and among
    equal weights by key. Where a query may look at fewer than k keys, the rest are key -1 with weight 0.

    Args:
        k: how many, 1 or more.

    >>> TopK(8)
    TopK(k=8)
    """

    name: ClassVar[str] = "top_k"
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k, 1))

    def check(self, problem: AttentionShape) -> None:
        """Any k fits any matrix."""


@dataclass(frozen=True)
class Entropy:
    """How broadly each query looks: -Σ w ln w, in nats, from 0 (at one key) to ln M (at all alike).

    Reads `entropy` of an observation, (..., H, N); 0 for a query that may look at nothing. With sinks, it is the sum
    over the keys alone.

    >>> Entropy()
    Entropy()
    """

    name: ClassVar[str] = "entropy"

    def check(self, problem: AttentionShape) -> None:
        """It fits any matrix."""


@dataclass(frozen=True)
class MeanDistance:
    """How far each query looks, in tokens: Σ w·|i' - j|, where i' is the key position at which query i stands.

    Reads `mean_distance` of an observation, (..., H, N); 0 for a query that may look at nothing.

    Args:
        align: as in `Causal`, needed where queries and keys differ in number.

    >>> MeanDistance(align="end")
    MeanDistance(align='end')
    """

    name: ClassVar[str] = "mean_distance"
    align: Align | None = None

    def __post_init__(self) -> None:
        check_align(self.align)

    def positions(self, problem: AttentionShape) -> NDArray[np.int64]:
        """The key position at which each query stands, (N,)."""
        return standing(problem, self.align, repr(self))[:, 0]

    def check(self, problem: AttentionShape) -> None:
        """
        Raises:
            ValueError: if queries and keys differ in number and `align` isn't given.
        """
        self.positions(problem)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GroupMass:
    """How much each query looks at each group of keys: the sum of its weights on them.

    Reads `group_mass` of an observation, (..., H, N, count).

    Args:
        groups: whole numbers, (M,) or (..., M) broadcasting to the leading axes: the group of each key from 0, or -1
            for none.
        count: the number of groups; one more than the largest in `groups` if not given.

    Raises:
        ValueError: if groups aren't whole numbers from -1 to count - 1, or don't fit the keys.

    >>> GroupMass([0, 0, 1, -1])
    GroupMass(2 groups of 4 keys)
    """

    name: ClassVar[str] = "group_mass"
    groups: NDArray[np.int64]
    count: int

    def __init__(self, groups: ArrayLike, count: int | None = None) -> None:
        array = np.asarray(groups)
        if array.ndim == 0 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
            raise ValueError(
                f"groups must be whole numbers, one per key, got {array.dtype} array of shape {array.shape}"
            )
        array = array.astype(np.int64)
        largest = int(array.max(initial=-1))
        if array.min(initial=0) < -1:
            raise ValueError(f"groups must be from 0, or -1 for none, got {array.min()}")
        if count is not None and largest >= check_count("count", count, 0):
            raise ValueError(f"groups must be below count, {count}, got {largest}")
        object.__setattr__(self, "groups", array)
        object.__setattr__(self, "count", largest + 1 if count is None else int(count))

    def __repr__(self) -> str:
        return f"GroupMass({self.count} groups of {' × '.join(map(str, self.groups.shape))} keys)"

    def labels(self, problem: AttentionShape) -> NDArray[np.int64]:
        """The group of each key, (B or 1, M)."""
        target = (*problem.lead, problem.keys)
        try:
            whole = np.broadcast_to(self.groups, target)
        except ValueError:
            raise ValueError(
                f"groups must be one per key, broadcasting to (..., M) = {target}, got shape {self.groups.shape}"
            ) from None
        if self.groups.size == problem.keys:
            return np.broadcast_to(self.groups.reshape(-1), (1, problem.keys))
        return whole.reshape(problem.batch, problem.keys)

    def check(self, problem: AttentionShape) -> None:
        """
        Raises:
            ValueError: if the groups don't fit the keys.
        """
        self.labels(problem)
