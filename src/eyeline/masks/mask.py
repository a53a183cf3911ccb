"""What a mask is, and how masks join."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import Lowered, Problem, from_booleans, ordered


class Mask:
    """Where query i may look at key j. Join masks with `&` (both), `|` (either) and `~` (not).

    >>> from eyeline import Causal, Window
    >>> Causal() & Window(2)
    Causal() & Window(before=2, after=2)
    >>> (Causal() & Window(1)).dense(4).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """

    __slots__ = ()
    #: An array joined with a mask is a TypeError, not an array of masks.
    __array_ufunc__ = None

    def __and__(self, other: Mask) -> Mask:
        return And(self, other) if isinstance(other, Mask) else NotImplemented

    def __or__(self, other: Mask) -> Mask:
        return Or(self, other) if isinstance(other, Mask) else NotImplemented

    def __invert__(self) -> Mask:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError(f"a mask is neither true nor false; join masks with &, | and ~, not and, or, not: {self!r}")

    def dense(self, queries: int, keys: int | None = None, *, batch: int = 1, heads: int = 1) -> NDArray[np.bool_]:
        """This mask as booleans.

        Args:
            queries: N, the number of queries.
            keys: M, the number of keys; as many as queries if not given.
            batch: B.
            heads: H.

        Returns:
            bool array, (N, M) for one batch element and one head, else (B, H, N, M).

        Raises:
            ValueError: if the mask doesn't fit these sizes, or needs to be told how unequal N and M are aligned.
        """
        problem = Problem((batch,), heads, queries, queries if keys is None else keys)
        full: NDArray[np.bool_] = np.broadcast_to(self.rule(problem), problem.shape)
        return (full[0, 0] if batch == heads == 1 else full).copy()

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        """The mask's definition, as booleans that broadcast to (B, H, N, M)."""
        raise NotImplementedError

    def lower(self, problem: Problem) -> Lowered:
        """The mask as intervals of keys per query, with a block of booleans only where intervals can't say it."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class And(Mask):
    """Where both masks allow it. Made by `&`."""

    left: Mask
    right: Mask

    def __repr__(self) -> str:
        return " & ".join(f"({part!r})" if isinstance(part, Or) else repr(part) for part in (self.left, self.right))

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        return self.left.rule(problem) & self.right.rule(problem)

    def lower(self, problem: Problem) -> Lowered:
        left, right = self.left.lower(problem), self.right.lower(problem)
        a, b = left.bounds[..., :, None, :], right.bounds[..., None, :, :]
        pairs = np.stack([np.maximum(a[..., 0], b[..., 0]), np.minimum(a[..., 1], b[..., 1])], axis=-1)
        bounds = ordered(pairs.reshape(*pairs.shape[:3], pairs.shape[3] * pairs.shape[4], 2), problem.keys)
        if left.allowed is None or right.allowed is None:
            return Lowered(bounds, right.allowed if left.allowed is None else left.allowed)
        return Lowered(bounds, left.allowed & right.allowed)


@dataclass(frozen=True, slots=True)
class Or(Mask):
    """Where either mask allows it. Made by `|`."""

    left: Mask
    right: Mask

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        return self.left.rule(problem) | self.right.rule(problem)

    def lower(self, problem: Problem) -> Lowered:
        left, right = self.left.lower(problem), self.right.lower(problem)
        if left.allowed is not None or right.allowed is not None:
            return from_booleans(self.rule(problem), problem.keys)
        shape = np.broadcast_shapes(left.bounds.shape[:3], right.bounds.shape[:3])
        both = [np.broadcast_to(side.bounds, shape + side.bounds.shape[3:]) for side in (left, right)]
        return Lowered(ordered(np.concatenate(both, axis=3), problem.keys))


@dataclass(frozen=True, slots=True)
class Not(Mask):
    """Where a mask does not allow it. Made by `~`."""

    inner: Mask

    def __repr__(self) -> str:
        return f"~({self.inner!r})" if isinstance(self.inner, (And, Or)) else f"~{self.inner!r}"

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        return ~self.inner.rule(problem)

    def lower(self, problem: Problem) -> Lowered:
        inner = self.inner.lower(problem)
        if inner.allowed is not None:
            return from_booleans(self.rule(problem), problem.keys)
        edges = inner.bounds
        ends = np.zeros((*edges.shape[:3], 1), np.int32)
        gaps = np.stack(
            [np.concatenate([ends, edges[..., 1]], 3), np.concatenate([edges[..., 0], ends + problem.keys], 3)], -1
        )
        return Lowered(ordered(gaps, problem.keys))
