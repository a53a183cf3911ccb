"""The text around a look: around the token, and around the keys that it looks at most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from eyeline.surveys.windows import TextWindow

#: The tokens of context on either side of the token.
AROUND = 24
#: The tokens of context on either side of each strong key elsewhere.
AROUND_KEYS = 3
#: The weight of a strong key.
STRONG = 0.02


class Context(NamedTuple):
    """The tokens around a look, as `Example` has them."""

    tokens: tuple[str, ...]
    positions: tuple[int, ...]
    weights: tuple[float, ...]
    special: tuple[bool, ...]


class Contexts:
    """Makes the contexts of looks; those of the same tokens share their texts."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[Context, dict[int, int]]] = {}

    def context(self, window: TextWindow, query: int, keys: Sequence[int], weights: Sequence[float]) -> Context:
        """The context of a look.

        Args:
            window: its window.
            query: the token's position in it.
            keys: the positions of its strongest keys, the strongest first; below 0 where there is none.
            weights: the weights of these keys.
        """
        ranges = [(query - AROUND, query + AROUND + 1)]
        for rank, (key, weight) in enumerate(zip(keys, weights, strict=True)):
            if key >= 0 and abs(key - query) > AROUND and (weight >= STRONG or rank == 0):
                ranges.append((key - AROUND_KEYS, key + AROUND_KEYS + 1))
        name = (window, *sorted(ranges))
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = _of_ranges(window, ranges)
        plain, places = known
        shares = list(plain.weights)
        for key, weight in zip(keys, weights, strict=True):
            place = places.get(key)
            if place is not None:
                shares[place] = weight
        return plain._replace(weights=tuple(shares))


def _of_ranges(window: TextWindow, ranges: Sequence[tuple[int, int]]) -> tuple[Context, dict[int, int]]:
    """A context of some positions, without weights, and the place in it of each position."""
    every = set(chain.from_iterable(range(*one) for one in ranges))
    positions = tuple(sorted(every & set(range(len(window)))))
    special = window.special.tolist()
    context = Context(
        tuple([window.texts[at] for at in positions]),
        positions,
        (0.0,) * len(positions),
        tuple([special[at] for at in positions]),
    )
    return context, {position: place for place, position in enumerate(positions)}
