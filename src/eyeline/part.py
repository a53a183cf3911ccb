"""Which part of a larger attention a call is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Part:
    """Which part of a larger attention a call is: so that masks, scores and readouts mean the whole's positions.

    Args:
        first_key: the number of the first of these keys among all.
        keys: how many keys there are in all; as many as are given if not said.
        first_query: the number of the first of these queries among all.
        queries: how many queries there are in all.

    Raises:
        ValueError: if one of them isn't a whole number, 0 or more.

    >>> Part(first_key=1000, keys=3000)
    Part(first_key=1000, keys=3000, first_query=0, queries=None)
    """

    first_key: int = 0
    keys: int | None = None
    first_query: int = 0
    queries: int | None = None

    def __post_init__(self) -> None:
        for name in ("first_key", "keys", "first_query", "queries"):
            value = getattr(self, name)
            if value is None and name in ("keys", "queries"):
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} must be a whole number, 0 or more, got {value!r}")

    def of(self, queries: int, keys: int) -> tuple[int, int]:
        """How many queries and keys there are in all, if so many are here."""
        found = []
        for name, first, here, all_ in (
            ("queries", self.first_query, queries, self.queries),
            ("keys", self.first_key, keys, self.keys),
        ):
            whole = first + here if all_ is None else all_
            if whole < first + here:
                raise ValueError(f"part must hold the {here} {name} given, from {first} on, got {whole} {name} in all")
            found.append(whole)
        return found[0], found[1]
