"""The key/value cache of a decoder, so that a new token computes only its own keys and values."""

from __future__ import annotations

import numpy as np

from eyeline.models.checkpoints import Array


class KeyValueCache:
    """One layer's keys and values. The capacity doubles when it is full, so most steps copy only new tokens.

    Attributes:
        length: the number of tokens.
    """

    def __init__(self) -> None:
        self.length = 0
        self._room: tuple[Array, Array] | None = None

    def append(self, k: Array, v: Array) -> tuple[Array, Array]:
        """Append k and v of new tokens, (B, G, N, D); returns k and v of all tokens, (B, G, length, D).

        >>> cache, x = KeyValueCache(), np.ones((1, 1, 3, 2), np.float32)
        >>> [cache.append(x, x)[0].shape for _ in range(2)]
        [(1, 1, 3, 2), (1, 1, 6, 2)]
        """
        first, last = self.length, self.length + k.shape[2]
        if self._room is None or last > self._room[0].shape[2]:
            self._grow(k, v, max(last, 2 * first))
        assert self._room is not None
        for room, new in zip(self._room, (k, v), strict=True):
            room[:, :, first:last] = new
        self.length = last
        return self._room[0][:, :, :last], self._room[1][:, :, :last]

    def _grow(self, k: Array, v: Array, capacity: int) -> None:
        """Allocate new arrays; arrays that were returned before stay as they are."""
        more = tuple(np.empty((*x.shape[:2], capacity, x.shape[3]), x.dtype) for x in (k, v))
        for old, new in zip(self._room or (), more, strict=False):
            new[:, :, : self.length] = old[:, :, : self.length]
        self._room = (more[0], more[1])
