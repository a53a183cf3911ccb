"""What may be seen: masks as structure, not tensors.

A mask says *True where query i may look at key j*, as `scaled_dot_product_attention` does. Masks are small values
that print as what they mean and join with `&`, `|` and `~`. Each has two faces: `dense`, its rule written as a
formula on positions (the specification), and `lower`, the same as intervals of keys per query (what the kernels
read). This room imports NumPy alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Align = Literal["start", "end"]


@dataclass(frozen=True)
class Problem:
    """The shape of the attention matrices that a mask is asked about: leading batch axes, heads H, queries N, keys
    M."""

    lead: tuple[int, ...]
    heads: int
    queries: int
    keys: int

    @property
    def batch(self) -> int:
        return math.prod(self.lead)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return (self.batch, self.heads, self.queries, self.keys)


@dataclass(frozen=True)
class Lowered:
    """A mask as the kernels see it.

    `bounds` is int32, (B or 1, H or 1, N or 1, K, 2): query i may look at key j where `bounds[..., k, 0] <= j <
    bounds[..., k, 1]` for some k; the K intervals of a row are in order and disjoint, empty ones ([M, M)) last. Where
    `allowed` is given (bool, (B or 1, H or 1, N or 1, M or 1)), `allowed[..., i, j]` must hold too: it is what
    intervals can't say.
    """

    bounds: NDArray[np.int32]
    allowed: NDArray[np.bool_] | None = None


class Mask:
    """Where query i may look at key j. Join masks with `&` (both), `|` (either) and `~` (not).

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


def _positions(problem: Problem, align: Align | None, name: str) -> NDArray[np.int64]:
    """The key position at which each query stands, (N, 1)."""
    N, M = problem.queries, problem.keys
    if N != M and align is None:
        raise ValueError(
            f"align must be given where queries and keys differ in number, got {name} for {N} queries and {M} keys; "
            f'say align="end" if the last query stands at the last key (decoding with a cache), or align="start" if '
            f"the first query stands at the first key"
        )
    return np.arange(N)[:, None] + (M - N if align == "end" else 0)


def _check_align(align: object) -> None:
    if align not in (None, "start", "end"):
        raise ValueError(f'align must be "start", "end" or None, got {align!r}')


def _intervals(first: NDArray[Any], last: NDArray[Any], keys: int) -> Lowered:
    """Lower one interval [first, last) per row, clipped to [0, M); first and last are (B or 1, H or 1, N) or (N,)."""
    bounds = np.stack(np.broadcast_arrays(first, last), axis=-1)
    bounds = bounds.reshape((1,) * (4 - bounds.ndim) + bounds.shape)[..., None, :]
    return Lowered(_ordered(np.clip(bounds, 0, keys), keys))


def _ordered(bounds: NDArray[Any], keys: int) -> NDArray[np.int32]:
    """Intervals in any order, made into ordered, disjoint ones with the empty ones last and no column wholly empty."""
    empty = bounds[..., 0] >= bounds[..., 1]
    bounds = np.where(empty[..., None], keys, bounds).astype(np.int32)
    count = bounds.shape[-2]
    if count > 1:
        for k in range(count):
            if k == 0:
                bounds = np.take_along_axis(
                    bounds, np.argsort(bounds[..., 0], axis=-1, kind="stable")[..., None], axis=-2
                )
                continue
            touches = (bounds[..., k, 0] <= bounds[..., k - 1, 1]) & (bounds[..., k, 0] < keys)
            bounds[..., k, 0] = np.where(touches, bounds[..., k - 1, 0], bounds[..., k, 0])
            bounds[..., k, 1] = np.where(
                touches, np.maximum(bounds[..., k - 1, 1], bounds[..., k, 1]), bounds[..., k, 1]
            )
            bounds[..., k - 1, :] = np.where(touches[..., None], keys, bounds[..., k - 1, :])
        bounds = np.take_along_axis(bounds, np.argsort(bounds[..., 0], axis=-1, kind="stable")[..., None], axis=-2)
        used = int((bounds[..., 0] < keys).sum(axis=-1).max(initial=0))
        bounds = bounds[..., : max(used, 1), :]
    return np.ascontiguousarray(bounds)


@dataclass(frozen=True, slots=True)
class Causal(Mask):
    """Query i may look at keys up to its own position, not at the future.

    Args:
        align: where unequal numbers of queries and keys meet: "end" (the last query stands at the last key, as in
            decoding with a cache) or "start" (the first at the first). Libraries disagree, so it must be said when they
            differ.

    >>> Causal(align="end").dense(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """

    align: Align | None = None

    def __post_init__(self) -> None:
        _check_align(self.align)

    def __repr__(self) -> str:
        return f"Causal(align={self.align!r})" if self.align else "Causal()"

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.arange(problem.keys) <= _positions(problem, self.align, repr(self))
        return result

    def lower(self, problem: Problem) -> Lowered:
        i = _positions(problem, self.align, repr(self))[:, 0]
        return _intervals(np.zeros_like(i), i + 1, problem.keys)


@dataclass(frozen=True, slots=True)
class Window(Mask):
    """Query i may look at `before` keys before its own position, at its own, and at `after` keys after it.

    Args:
        before: how many keys before, 0 or more.
        after: how many keys after, 0 or more; as many as before if not given.
        align: as in `Causal`.

    >>> Window(before=1, after=0).dense(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """

    before: int
    after: int | None = None
    align: Align | None = None

    def __post_init__(self) -> None:
        _check_align(self.align)
        if self.after is None:
            object.__setattr__(self, "after", self.before)
        for name in ("before", "after"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} must be a whole number, 0 or more, got {value!r}")
            object.__setattr__(self, name, int(value))

    def __repr__(self) -> str:
        return f"Window(before={self.before}, after={self.after}" + (f", align={self.align!r})" if self.align else ")")

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        distance = np.arange(problem.keys) - _positions(problem, self.align, repr(self))
        assert self.after is not None
        result: NDArray[np.bool_] = (-self.before <= distance) & (distance <= self.after)
        return result

    def lower(self, problem: Problem) -> Lowered:
        i = _positions(problem, self.align, repr(self))[:, 0]
        # A count beyond any position means the same as the number of keys, and can't overflow.
        far = problem.keys + problem.queries
        assert self.after is not None
        return _intervals(i - min(self.before, far), i + min(self.after, far) + 1, problem.keys)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Lengths(Mask):
    """The real lengths of a padded batch: padded keys aren't looked at, and padded queries don't look.

    Neither costs anything: a padded query's row of the result is zero, and no work is done for it.

    Args:
        lengths: one whole number per batch element, for queries and keys alike.
        queries: the real number of queries, where it differs from that of keys (cross-attention); all if not given.
        keys: the real number of keys; all if not given.
        side: where the padding is, "right" (after the tokens) or "left" (before them).

    >>> Lengths([1, 2]).dense(2, batch=2)[:, 0].astype(int)
    array([[[1, 0],
            [0, 0]],
    <BLANKLINE>
           [[1, 1],
            [1, 1]]])
    """

    queries: tuple[int, ...] | None
    keys: tuple[int, ...] | None
    side: Literal["right", "left"]

    def __init__(
        self,
        lengths: ArrayLike | None = None,
        *,
        queries: ArrayLike | None = None,
        keys: ArrayLike | None = None,
        side: Literal["right", "left"] = "right",
    ) -> None:
        if (lengths is None) == (queries is None and keys is None):
            raise ValueError(
                "lengths must be given alone, or else queries= and keys=, got "
                + ("neither" if lengths is None else "both")
            )
        if side not in ("right", "left"):
            raise ValueError(f'side must be "right" or "left", got {side!r}')
        given = {"queries": queries, "keys": keys} if lengths is None else {"lengths": lengths}
        whole = {name: None if value is None else _whole(name, value) for name, value in given.items()}
        object.__setattr__(self, "queries", whole.get("lengths", whole.get("queries")))
        object.__setattr__(self, "keys", whole.get("lengths", whole.get("keys")))
        object.__setattr__(self, "side", side)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lengths) and (self.queries, self.keys, self.side) == (
            other.queries,
            other.keys,
            other.side,
        )

    def __hash__(self) -> int:
        return hash((self.queries, self.keys, self.side))

    def __repr__(self) -> str:
        side = "" if self.side == "right" else f", side={self.side!r}"
        if self.queries == self.keys:
            return f"Lengths({_short(self.keys)}{side})"
        parts = [
            f"{name}={_short(value)}"
            for name, value in (("queries", self.queries), ("keys", self.keys))
            if value is not None
        ]
        return f"Lengths({', '.join(parts)}{side})"

    def _ranges(
        self, values: tuple[int, ...] | None, count: int, batch: int, name: str
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The real positions [first, last) of each batch element, each (B or 1,)."""
        if values is None:
            return np.zeros(1, np.int64), np.full(1, count)
        if len(values) not in (1, batch):
            raise ValueError(f"lengths must have one number per batch element ({batch}), got {len(values)}: {self!r}")
        if max(values, default=0) > count:
            raise ValueError(f"lengths must be at most the number of {name}, {count}, got {max(values)}: {self!r}")
        real = np.array(values, np.int64)
        return (np.zeros_like(real), real) if self.side == "right" else (count - real, np.full_like(real, count))

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        (qa, qe), (ka, ke) = (self._ranges(*which) for which in self._sides(problem))
        i, j = np.arange(problem.queries), np.arange(problem.keys)
        looks = (qa[:, None] <= i) & (i < qe[:, None])
        seen = (ka[:, None] <= j) & (j < ke[:, None])
        result: NDArray[np.bool_] = (looks[:, :, None] & seen[:, None, :])[:, None]
        return result

    def lower(self, problem: Problem) -> Lowered:
        (qa, qe), (ka, ke) = (self._ranges(*which) for which in self._sides(problem))
        i = np.arange(problem.queries)
        looks = (qa[:, None] <= i) & (i < qe[:, None])
        return _intervals(
            np.where(looks, ka[:, None], 0)[:, None], np.where(looks, ke[:, None], 0)[:, None], problem.keys
        )

    def _sides(self, problem: Problem) -> tuple[tuple[tuple[int, ...] | None, int, int, str], ...]:
        return (self.queries, problem.queries, problem.batch, "queries"), (
            self.keys,
            problem.keys,
            problem.batch,
            "keys",
        )


def _whole(name: str, value: ArrayLike) -> tuple[int, ...]:
    array = np.asarray(value)
    if array.ndim == 0 or not (np.issubdtype(array.dtype, np.integer) or array.size == 0):
        what = f"{array.dtype} array of shape {array.shape}"
        raise ValueError(f"{name} must be whole numbers, one per batch element, got {what}")
    if (array < 0).any():
        raise ValueError(f"{name} must be 0 or more, got {int(array.min())}")
    return tuple(int(n) for n in array.ravel())


def _short(values: Sequence[int] | None) -> str:
    assert values is not None
    if len(values) <= 8:
        return str(list(values))
    return f"[{', '.join(map(str, values[:6]))}, ... {len(values)} in all]"


class Dense(Mask):
    """A mask given as booleans, True where query i may look at key j.

    Args:
        allowed: bool array that broadcasts to (B, H, N, M): (N, M), (H, N, M), (B, 1, 1, M) and so on. It is not
            copied.

    Raises:
        ValueError: if it isn't boolean (an additive mask of 0 and -inf, or one of 0 and 1 whose meaning libraries
            disagree on, has to be turned into booleans by its owner), or has fewer than two axes.

    >>> Dense(np.array([[True, False], [True, True]]))
    Dense(2 × 2, 75% allowed)
    """

    __slots__ = ("allowed",)

    def __init__(self, allowed: NDArray[np.bool_]) -> None:
        array = np.asarray(allowed)
        if array.dtype != np.bool_:
            raise ValueError(
                f"allowed must be an array of booleans, True where a query may look at a key, got {array.dtype}; "
                f"if 0 means allowed (an additive mask of 0 and -inf) pass allowed == 0, if 1 does pass allowed != 0"
            )
        if array.ndim < 2:
            raise ValueError(f"allowed must have axes for queries and keys, (..., N, M), got shape {array.shape}")
        self.allowed = array

    def __repr__(self) -> str:
        share = f"{self.allowed.mean():.0%} allowed" if self.allowed.size else "empty"
        return f"Dense({' × '.join(map(str, self.allowed.shape))}, {share})"

    def rule(self, problem: Problem) -> NDArray[np.bool_]:
        target = (*problem.lead, problem.heads, problem.queries, problem.keys)
        try:
            np.broadcast_to(self.allowed, target)
        except ValueError:
            raise ValueError(
                f"allowed must broadcast to (..., H, N, M) = {target}, got shape {self.allowed.shape}"
            ) from None
        if self.allowed.ndim <= 4 and len(problem.lead) == 1:
            return self.allowed.reshape((1,) * (4 - self.allowed.ndim) + self.allowed.shape)
        if self.allowed.ndim <= 3:
            return self.allowed.reshape((1,) * (4 - self.allowed.ndim) + self.allowed.shape)
        return np.broadcast_to(self.allowed, target).reshape(problem.shape)

    def lower(self, problem: Problem) -> Lowered:
        return _from_booleans(self.rule(problem), problem.keys)


def _from_booleans(allowed: NDArray[np.bool_], keys: int) -> Lowered:
    """Booleans as the interval that bounds each row's True, with the booleans beside it if any row has holes."""
    if not allowed.size:
        return Lowered(np.full((1, 1, max(allowed.shape[2], 1), 1, 2), keys, np.int32))
    if allowed.shape[3] != keys:
        # One boolean for all keys of a row: it is all or nothing.
        first, last = np.zeros(allowed.shape[:3], np.int64), np.where(allowed[..., 0], keys, 0)
        return _intervals(first, last, keys)
    any_ = allowed.any(axis=3)
    first = np.where(any_, allowed.argmax(axis=3), keys)
    last = np.where(any_, keys - allowed[..., ::-1].argmax(axis=3), keys)
    holes = bool((allowed.sum(axis=3) != last - first).any())
    return Lowered(_intervals(first, last, keys).bounds, allowed if holes else None)


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
        bounds = _ordered(pairs.reshape(*pairs.shape[:3], pairs.shape[3] * pairs.shape[4], 2), problem.keys)
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
            return _from_booleans(self.rule(problem), problem.keys)
        shape = np.broadcast_shapes(left.bounds.shape[:3], right.bounds.shape[:3])
        both = [np.broadcast_to(side.bounds, shape + side.bounds.shape[3:]) for side in (left, right)]
        return Lowered(_ordered(np.concatenate(both, axis=3), problem.keys))


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
            return _from_booleans(self.rule(problem), problem.keys)
        edges = inner.bounds
        ends = np.zeros((*edges.shape[:3], 1), np.int32)
        gaps = np.stack(
            [np.concatenate([ends, edges[..., 1]], 3), np.concatenate([edges[..., 0], ends + problem.keys], 3)], -1
        )
        return Lowered(_ordered(gaps, problem.keys))
