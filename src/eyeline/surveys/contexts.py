"""The text around a look: around the token, and around the keys that it looks at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Makes the contexts of looks; those of one token share their texts."""

    def __init__(self) -> None:
        self._known: dict[tuple[TextWindow, int], Context] = {}

    def context(self, window: TextWindow, query: int, keys: Sequence[int], weights: Sequence[float]) -> Context:
        """The context of a look.

        Args:
            window: its window.
            query: the token's position in it.
            keys: the positions of its strongest keys, the strongest first; below 0 where there is none.
            weights: the weights of these keys.
        """
        around = max(0, query - AROUND), min(len(window), query + AROUND + 1)
        away = [
            (max(0, key - AROUND_KEYS), min(len(window), key + AROUND_KEYS + 1))
            for rank, (key, weight) in enumerate(zip(keys, weights, strict=True))
            if not around[0] <= key < around[1] and key >= 0 and (weight >= STRONG or rank == 0)
        ]
        if away:
            return _of_ranges(window, _joined([around, *away]), dict(zip(keys, weights, strict=True)))
        known = self._known.get((window, query))
        if known is None:
            known = self._known[window, query] = _of_ranges(window, [around], {})
        first = around[0]
        shares = [0.0] * (around[1] - first)
        for key, weight in zip(keys, weights, strict=True):
            if first <= key < around[1]:
                shares[key - first] = weight
        return Context(known.tokens, known.positions, tuple(shares), known.special)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, those that overlap or touch as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def _of_ranges(window: TextWindow, ranges: Sequence[tuple[int, int]], weights: Mapping[int, float]) -> Context:
    """The context of some ranges of positions, with the weights of some."""
    texts: list[str] = []
    positions: list[int] = []
    special: list[bool] = []
    shares: list[float] = []
    for first, last in ranges:
        own = [0.0] * (last - first)
        for key, weight in weights.items():
            if first <= key < last:
                own[key - first] = weight
        shares += own
        texts += window.texts[first:last]
        positions += range(first, last)
        special += window.special[first:last].tolist()
    return Context(tuple(texts), tuple(positions), tuple(shares), tuple(special))
