"""Masks by position: the past, and a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks.lowered import Lowered, Problem, one_interval
from eyeline.masks.mask import Mask

Align = Literal["start", "end"]


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
        return one_interval(i - min(self.before, far), i + min(self.after, far) + 1, problem.keys)
