"""The base class of masks, and the masks that `&`, `|` and `~` make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.functions import booleans, disjunction, negation
from eyeline.masks.lowered import LoweredMask, everywhere, from_booleans, ordered
from eyeline.masks.parts import is_plain, parts
from eyeline.masks.picture import draw, share
from eyeline.masks.shape import AttentionShape
from eyeline.words import worded


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
        return And(self, other) if isinstance(other, Mask) else _refused(other)

    def __or__(self, other: Mask) -> Mask:
        return Or(self, other) if isinstance(other, Mask) else _refused(other)

    def __rand__(self, other: object) -> Mask:
        return _refused(other)

    def __ror__(self, other: object) -> Mask:
        return _refused(other)

    def __invert__(self) -> Mask:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError(
            worded(
                "a mask is neither true nor false; join masks with &, | and ~, not and, or, not: {value!r}", value=self
            )
        )

    def dense(self, queries: int, keys: int | None = None, *, batch: int = 1, heads: int = 1) -> NDArray[np.bool_]:
        """The mask as a boolean array.

        Args:
            queries: N, the number of queries.
            keys: M, the number of keys; as many as queries if not given.
            batch: B.
            heads: H.

        Returns:
            bool array, (N, M) for one batch element and one head, else (B, H, N, M).

        Raises:
            ValueError: if the mask doesn't fit these sizes, or needs `align` because N and M differ.
        """
        shape = AttentionShape((batch,), heads, queries, queries if keys is None else keys)
        full: NDArray[np.bool_] = np.broadcast_to(self.rule(shape), shape.shape)
        return (full[0, 0] if batch == heads == 1 else full).copy()

    def share(self, queries: int, keys: int | None = None, *, batch: int = 1, heads: int = 1) -> float:
        """The share of the matrix that is allowed, from 0 to 1, which is also the cost relative to unmasked attention.

        The matrix isn't built. Pairs are counted one by one only for masks that aren't intervals (`Dense` with holes,
        `MaskFunction`).

        Args:
            queries, keys, batch, heads: as for `dense`.

        >>> from eyeline import Window
        >>> round(Window(256).share(8192), 4)
        0.0616
        """
        shape = AttentionShape((batch,), heads, queries, queries if keys is None else keys)
        return share(self.lower(shape), shape)

    def draw(
        self,
        queries: int,
        keys: int | None = None,
        *,
        batch: int = 1,
        heads: int = 1,
        at: tuple[int, int] = (0, 0),
        rows: int = 32,
        columns: int = 64,
    ) -> str:
        """The mask drawn in characters, to be printed: queries go down, keys go across.

        `█` is allowed and `·` is not. Where a character stands for several queries and keys, `░▒▓` are about a quarter,
        a half and three quarters allowed. (On a terminal without these characters: `#`, `.` and `-=%`.) Memory grows
        with N + M for masks that are intervals; others take some megabytes.

        Args:
            queries, keys, batch, heads: as for `dense`.
            at: which batch element and head to draw.
            rows: the most lines.
            columns: the most characters on a line.

        Raises:
            ValueError: if `at` isn't one of the batch elements and heads.

        >>> from eyeline import Causal, Window
        >>> print((Causal() & Window(1)).draw(4))
        ██······
        ████····
        ··████··
        ····████
        >>> print(Causal().draw(100_000, rows=4, columns=8))
        ▓░······
        ██▓░····
        ████▓░··
        ██████▓░
        """
        if not (0 <= at[0] < batch and 0 <= at[1] < heads):
            raise ValueError(
                worded(
                    "at must be a batch element of {batch} and a head of {heads}, got {at}",
                    batch=batch,
                    heads=heads,
                    at=at,
                )
            )
        if rows < 1 or columns < 1:
            raise ValueError(
                worded("rows and columns must be 1 or more, got {rows} and {columns}", rows=rows, columns=columns)
            )
        shape = AttentionShape((batch,), heads, queries, queries if keys is None else keys)
        return draw(self.lower(shape), shape, at, rows, columns)

    def parts(self) -> dict[str, Any]:
        """The mask's fields, by name; `type(mask)(**mask.parts())` equals the mask."""
        return parts(self)

    @property
    def is_plain(self) -> bool:
        """Whether it holds no array and no function. Then it is hashable, and its lowered form can be cached."""
        return all(is_plain(part) for part in self.parts().values())

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        """The mask's definition, as booleans that broadcast to (B, H, N, M)."""
        raise NotImplementedError

    def lower(self, shape: AttentionShape) -> LoweredMask:
        """The mask as intervals of keys per query, with booleans or functions where intervals can't express it."""
        raise NotImplementedError


def _refused(other: object) -> Mask:
    """Refuse an operand that isn't a mask: an array with advice, anything else with Python's own TypeError."""
    if hasattr(other, "dtype") and hasattr(other, "shape"):
        raise TypeError(
            worded(
                "a mask joins with masks alone, got an array; wrap booleans, True where a query may look at "
                "a key, as eyeline.Dense(array)"
            )
        )
    return NotImplemented  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class And(Mask):
    """Where both masks allow it. Made by `&`."""

    left: Mask
    right: Mask

    def __repr__(self) -> str:
        return " & ".join(f"({part!r})" if isinstance(part, Or) else repr(part) for part in (self.left, self.right))

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        return self.left.rule(shape) & self.right.rule(shape)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        left, right = self.left.lower(shape), self.right.lower(shape)
        a, b = left.bounds[..., :, None, :], right.bounds[..., None, :, :]
        pairs = np.stack([np.maximum(a[..., 0], b[..., 0]), np.minimum(a[..., 1], b[..., 1])], axis=-1)
        bounds = ordered(pairs.reshape(*pairs.shape[:3], pairs.shape[3] * pairs.shape[4], 2), shape.keys)
        functions = left.functions + tuple(f for f in right.functions if f not in left.functions)
        if left.allowed is None or right.allowed is None:
            return LoweredMask(bounds, right.allowed if left.allowed is None else left.allowed, functions)
        return LoweredMask(bounds, left.allowed & right.allowed, functions)


@dataclass(frozen=True, slots=True)
class Or(Mask):
    """Where either mask allows it. Made by `|`."""

    left: Mask
    right: Mask

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        return self.left.rule(shape) | self.right.rule(shape)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        left, right = self.left.lower(shape), self.right.lower(shape)
        if _is_function(left, shape) and _is_function(right, shape):
            return LoweredMask(left.bounds, functions=(disjunction(left.functions, right.functions),))
        if any(side.allowed is not None or side.functions for side in (left, right)):
            return from_booleans(booleans(left, shape) | booleans(right, shape), shape.keys)
        rows = np.broadcast_shapes(left.bounds.shape[:3], right.bounds.shape[:3])
        both = [np.broadcast_to(side.bounds, rows + side.bounds.shape[3:]) for side in (left, right)]
        return LoweredMask(ordered(np.concatenate(both, axis=3), shape.keys))


@dataclass(frozen=True, slots=True)
class Not(Mask):
    """Where a mask does not allow it. Made by `~`."""

    inner: Mask

    def __repr__(self) -> str:
        return f"~({self.inner!r})" if isinstance(self.inner, (And, Or)) else f"~{self.inner!r}"

    def rule(self, shape: AttentionShape) -> NDArray[np.bool_]:
        return ~self.inner.rule(shape)

    def lower(self, shape: AttentionShape) -> LoweredMask:
        # Negation is pushed inwards (De Morgan), so that functions and intervals stay apart.
        match self.inner:
            case Not(inner=inside):
                return inside.lower(shape)
            case And(left=left, right=right):
                return Or(Not(left), Not(right)).lower(shape)
            case Or(left=left, right=right):
                return And(Not(left), Not(right)).lower(shape)
        inner = self.inner.lower(shape)
        if _is_function(inner, shape):
            return LoweredMask(inner.bounds, functions=(negation(inner.functions),))
        if inner.allowed is not None:
            return from_booleans(~booleans(inner, shape), shape.keys)
        edges = inner.bounds
        ends = np.zeros((*edges.shape[:3], 1), np.int32)
        gaps = np.stack(
            [np.concatenate([ends, edges[..., 1]], 3), np.concatenate([edges[..., 0], ends + shape.keys], 3)], -1
        )
        return LoweredMask(ordered(gaps, shape.keys))


def _is_function(lowered: LoweredMask, shape: AttentionShape) -> bool:
    """Whether the mask is functions alone: all intervals are full, and there are no booleans."""
    alone = bool(lowered.functions) and lowered.allowed is None
    return alone and np.array_equal(lowered.bounds, everywhere(shape.keys))
