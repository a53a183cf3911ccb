"""The text around a look: around the token, and around the keys that it looks at most."""

from __future__ import annotations

from collections.abc import Sequence
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


def context(window: TextWindow, query: int, keys: Sequence[int], weights: Sequence[float]) -> Context:
    """The context of a look.

    Args:
        window: its window.
        query: the token's position in it.
        keys: the positions of its strongest keys, the strongest first; below 0 where there is none.
        weights: the weights of these keys.
    """
    count = len(window)
    ranges = [(max(0, query - AROUND), min(count, query + AROUND + 1))]
    for rank, (key, weight) in enumerate(zip(keys, weights, strict=True)):
        if key >= 0 and abs(key - query) > AROUND and (weight >= STRONG or rank == 0):
            ranges.append((max(0, key - AROUND_KEYS), min(count, key + AROUND_KEYS + 1)))
    if len(ranges) > 1:
        ranges = _merged(ranges)
    found = dict(zip(keys, weights, strict=True))
    texts: list[str] = []
    special: list[bool] = []
    positions: list[int] = []
    shares: list[float] = []
    for first, last in ranges:
        texts += window.texts[first:last]
        special += window.special_list[first:last]
        positions += range(first, last)
        begin = len(shares)
        shares += [0.0] * (last - first)
        for key, weight in found.items():
            if first <= key < last:
                shares[begin + key - first] = weight
    return Context(tuple(texts), tuple(positions), tuple(shares), tuple(special))


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, those that overlap or touch as one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged
