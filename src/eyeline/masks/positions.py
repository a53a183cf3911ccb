"""Masks by position: the past, a window, and a prefix that all may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.masks.counts import short, whole
from eyeline.masks.lowered import LoweredMask, one_interval
from eyeline.masks.mask import Mask
from eyeline.masks.shape import AttentionShape

#: Where queries stand among keys: the first at the first, the last at the last, or the first at the key of a number.
Align = Literal["start", "end"] | int


def standing(problem: AttentionShape, align: Align | None, name: str) -> NDArray[np.int64]:
    """The key position at which each query stands, (N, 1); `name` is what asks, for the error."""
    N, M = problem.queries, problem.keys
    if N != M and align is None:
        raise ValueError(
            f"align must be given where queries and keys differ in number, got {name} for {N} queries and {M} keys; "
            f'say align="end" if the last query stands at the last key (decoding with a cache), or align="start" if '
            f"the first query stands at the first key"
        )
    first = M - N if align == "end" else 0 if align is None or align == "start" else align
    return np.arange(N)[:, None] + first


def check_align(align: object) -> None:
    number = isinstance(align, int) and not isinstance(align, bool)
    if not number and align not in (None, "start", "end"):
        raise ValueError(f'align must be "start", "end", a key\'s number or None, got {align!r}')


@dataclass(frozen=True, slots=True)
class Causal(Mask):
    """Query i may look at keys up to its own position, not at the future.

    Args:
        align: where unequal numbers of queries and keys meet: "end" (the last query stands at the last key, as in
            decoding with a cache), "start" (the first at the first), or a whole number: the key, counted from 0, at
            which the first query stands (a chunk of queries before room that isn't filled yet). Libraries disagree, so
            it must be said when they differ.

    >>> Causal(align="end").dense(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """

    align: Align | None = None

    def __post_init__(self) -> None:
        check_align(self.align)

    def __repr__(self) -> str:
        return f"Causal(align={self.align!r})" if self.align is not None else "Causal()"

    def rule(self, problem: AttentionShape) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.arange(problem.keys) <= standing(problem, self.align, repr(self))
        return result

    def lower(self, problem: AttentionShape) -> LoweredMask:
        i = standing(problem, self.align, repr(self))[:, 0]
        return one_interval(np.zeros_like(i), i + 1, problem.keys)


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
        check_align(self.align)
        if self.after is None:
            object.__setattr__(self, "after", self.before)
        for name in ("before", "after"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} must be a whole number, 0 or more, got {value!r}")
            object.__setattr__(self, name, int(value))

    def __repr__(self) -> str:
        return f"Window(before={self.before}, after={self.after}" + (
            f", align={self.align!r})" if self.align is not None else ")"
        )

    def rule(self, problem: AttentionShape) -> NDArray[np.bool_]:
        distance = np.arange(problem.keys) - standing(problem, self.align, repr(self))
        assert self.after is not None
        result: NDArray[np.bool_] = (-self.before <= distance) & (distance <= self.after)
        return result

    def lower(self, problem: AttentionShape) -> LoweredMask:
        i = standing(problem, self.align, repr(self))[:, 0]
        # A count beyond any position means the same as the number of keys, and can't overflow.
        far = problem.keys + problem.queries
        assert self.after is not None
        return one_interval(i - min(self.before, far), i + min(self.after, far) + 1, problem.keys)


@dataclass(frozen=True, slots=True, init=False)
class PrefixLM(Mask):
    """Every query may look at the first `n` keys, and beyond them at keys up to its own position (a prefix LM).

    Args:
        n: the length of the prefix, one whole number, or one per batch element; longer than the keys means all of them.
        align: as in `Causal`.

    >>> PrefixLM(2).dense(4).astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [1, 1, 1, 0],
           [1, 1, 1, 1]])
    """

    n: tuple[int, ...]
    align: Align | None

    def __init__(self, n: ArrayLike, align: Align | None = None) -> None:
        check_align(align)
        object.__setattr__(self, "n", whole("n", np.atleast_1d(np.asarray(n))))
        object.__setattr__(self, "align", align)

    def __repr__(self) -> str:
        n = str(self.n[0]) if len(self.n) == 1 else short(self.n)
        return f"PrefixLM({n}" + (f", align={self.align!r})" if self.align is not None else ")")

    def _ends(self, problem: AttentionShape) -> NDArray[np.int64]:
        """The first key that each query may not see, (B or 1, 1, N)."""
        if len(self.n) not in (1, problem.batch):
            raise ValueError(f"n must be one number per batch element ({problem.batch}), got {len(self.n)}: {self!r}")
        i = standing(problem, self.align, repr(self))[:, 0]
        most = [min(n, problem.keys) for n in self.n]
        return np.maximum(np.array(most, np.int64)[:, None, None], i + 1)

    def rule(self, problem: AttentionShape) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = np.arange(problem.keys) < self._ends(problem)[..., None]
        return result

    def lower(self, problem: AttentionShape) -> LoweredMask:
        ends = self._ends(problem)
        return one_interval(np.zeros_like(ends), ends, problem.keys)
