"""The key/value cache of the attention layers, for decoding."""

from __future__ import annotations

import torch
from torch import Tensor

from eyeline.words import worded

_LEAST = 64


class Cache:
    """The keys and values of the tokens so far; use one for each attention layer and sequence.

    Its capacity doubles when it is full, so adding a token takes amortised constant time.

    >>> cache = Cache()
    >>> k, v = cache.append(torch.zeros(1, 2, 5, 8), torch.zeros(1, 2, 5, 8))
    >>> k, v = cache.append(torch.zeros(1, 2, 1, 8), torch.zeros(1, 2, 1, 8))
    >>> cache.length, k.shape
    (6, torch.Size([1, 2, 6, 8]))
    """

    def __init__(self) -> None:
        self.length = 0
        self._held: tuple[Tensor, Tensor] | None = None

    def __len__(self) -> int:
        return self.length

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add tokens, k (..., G, n, D) and v (..., G, n, E); returns all keys and values so far, as views.

        Raises:
            ValueError: if k or v requires a gradient, which would be lost; or doesn't fit the tokens in the cache.
        """
        if torch.is_grad_enabled() and (k.requires_grad or v.requires_grad):
            raise ValueError(
                worded(
                    "k and v must need no gradient where a cache keeps them, got ones that do; decode in "
                    "torch.no_grad()"
                )
            )
        before, self.length = self.length, self.length + k.shape[-2]
        held = tuple(self._room(at, x, before) for at, x in enumerate((k, v)))
        self._held = held[0], held[1]
        for mine, x in zip(held, (k, v), strict=True):
            mine[..., before : self.length, :] = x
        return self.all()

    def all(self) -> tuple[Tensor, Tensor]:
        """All keys and values so far.

        Raises:
            ValueError: if there are none.
        """
        if self._held is None:
            raise ValueError(worded("cache must hold something, got an empty one; call append first"))
        k, v = self._held
        return k[..., : self.length, :], v[..., : self.length, :]

    def _room(self, at: int, x: Tensor, before: int) -> Tensor:
        """Memory for all tokens, with the first `before` copied."""
        mine = None if self._held is None else self._held[at]
        name = "kv"[at]
        if mine is not None:
            if mine.shape[:-2] + mine.shape[-1:] != x.shape[:-2] + x.shape[-1:] or mine.dtype != x.dtype:
                self.length = before
                wanted = (*mine.shape[:-2], "n", mine.shape[-1])
                raise ValueError(
                    worded(
                        "{name} must be {wanted} of {dtype}, got {shape} of {got}",
                        name=name,
                        wanted=wanted,
                        dtype=mine.dtype,
                        shape=tuple(x.shape),
                        got=x.dtype,
                    )
                )
            if mine.shape[-2] >= self.length:
                return mine
        room = x.new_empty(*x.shape[:-2], max(2 * before, self.length, _LEAST), x.shape[-1])
        if mine is not None:
            room[..., :before, :] = mine[..., :before, :]
        return room
