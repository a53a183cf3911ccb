"""A problem that every side computes, and one way of a side to compute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eyeline as el

SEED = 0  # of Eyeline's dropout
Score = Callable[[Any, Any, Any, Any, Any], Any]


@dataclass(frozen=True)
class Problem:
    """One call of attention, with the results that are wanted.

    Attributes:
        shape: (B, H, N, D) of the queries; values are as wide as keys.
        keys: M, the number of keys, if it isn't N.
        key_heads: G, the number of key heads, if it isn't H.
        dtype: float32, float16 or bfloat16.
        mask: where a query may look at a key.
        score: a user's function (score, b, h, i, j) that changes the scores.
        dropout: the share of the weights that is dropped.
        read: whether the 8 largest weights, entropy, attention received and mean distance are wanted too.
        train: whether the gradients of q, k and v are wanted.
        entropy_penalty: the factor of the sum of all rows' entropies in the loss.
    """

    shape: tuple[int, int, int, int]
    keys: int | None = None
    key_heads: int | None = None
    dtype: str = "float32"
    mask: el.Mask | None = None
    score: Score | None = None
    dropout: float = 0.0
    read: bool = False
    train: bool = False
    entropy_penalty: float = 0.0

    @property
    def key_shape(self) -> tuple[int, int, int, int]:
        B, H, N, D = self.shape
        return B, self.key_heads or H, self.keys or N, D

    @property
    def matrix_shape(self) -> tuple[int, int, int, int]:
        return *self.shape[:3], self.key_shape[2]

    @property
    def sizes(self) -> str:
        """The shape as text: batch, heads, tokens, width."""
        B, H, N, D = self.shape
        heads = f"{H} over {self.key_heads}" if self.key_heads else H
        tokens = f"{N} × {self.keys}" if self.keys else N
        return f"{B}, {heads}, {tokens}, {D}"

    @property
    def group(self) -> int:
        """The number of query heads that share a key head."""
        return self.shape[1] // self.key_shape[1]

    @property
    def projection(self) -> tuple[int, int, int]:
        """The sizes of the product that precedes attention in a model, the projection to the values: its rows, their
        width and the width of the result."""
        B, H, N, D = self.shape
        return B * N, H * D, self.key_shape[1] * D

    @cached_property
    def arrays(self) -> Arrays:
        """q, k, v and the gradient of the output, float32, the same at every call."""
        rng = np.random.default_rng(0)
        shapes = self.shape, self.key_shape, self.key_shape, self.shape
        return Arrays(*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes))

    def of_heads(self, heads: int) -> tuple[Problem, Arrays]:
        """The same problem of the first heads alone, a multiple of the group."""
        B, _, N, D = self.shape
        arrays = self.arrays
        part = Arrays(
            arrays.q[:, :heads],
            arrays.k[:, : heads // self.group],
            arrays.v[:, : heads // self.group],
            arrays.gradient[:, :heads],
        )
        return replace(self, shape=(B, heads, N, D), key_heads=heads // self.group), part


@dataclass(frozen=True)
class Arrays:
    """q, k, v and the gradient of the output."""

    q: NDArray[Any]
    k: NDArray[Any]
    v: NDArray[Any]
    gradient: NDArray[Any]


@dataclass(frozen=True)
class Way:
    """One way to solve a problem.

    Attributes:
        name: its name among the side's ways.
        call: the call that is timed.
        answers: a function from its result to arrays by name: output, (B, H, N, D); dq, dk, dv; largest, (B, H, N, 8);
            entropy and distance, (B, H, N); received, (B, H, M).
        product: the product of the problem's projection, in the threads of the same library.
    """

    name: str
    call: Callable[[], Any]
    answers: Callable[[Any], dict[str, NDArray[Any]]]
    product: Callable[[], object]
