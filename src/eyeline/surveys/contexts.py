"""The text around a look: around the token, and around the keys that it looks at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eyeline.surveys.windows import Window

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


def context(window: Window, query: int, keys: Sequence[int], weights: Sequence[float]) -> Context:
    """The context of a look.

    Args:
        window: its window.
        query: the token's position in it.
        keys: the positions of its strongest keys, the strongest first; below 0 where there is none.
        weights: the weights of these keys.
    """
    count = len(window)
    shown = set(range(max(0, query - AROUND), min(count, query + AROUND + 1)))
    found = {}
    for rank, (key, weight) in enumerate(zip(keys, weights, strict=True)):
        if key >= 0:
            found[key] = weight
            if (weight >= STRONG or rank == 0) and abs(key - query) > AROUND:
                shown.update(range(max(0, key - AROUND_KEYS), min(count, key + AROUND_KEYS + 1)))
    positions = sorted(shown)
    texts, special = window.texts, window.special_places
    return Context(
        tuple([texts[place] for place in positions]),
        tuple(positions),
        tuple([found.get(place, 0.0) for place in positions]),
        tuple([place in special for place in positions]),
    )
