"""Time several sides in alternation in one process, so that other load on the machine affects all of them equally."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from eyeline.bench.peak import work

BETWEEN = 3_000_000  # rounds of multiply-adds, about 10 ms


def turn_by_turn(sides: Mapping[str, Callable[[], object]], turns: int, threads: int) -> dict[str, list[float]]:
    """The time of each side in each turn, alone, in seconds.

    Before every turn `threads` processors do multiply-adds for some milliseconds. Meanwhile the threads of other
    libraries fall asleep (OpenMP's keep spinning for a while after their work, and would take a processor from the next
    side), and the processors stay awake. The first side changes from turn to turn.
    """
    return _in_alternation(sides, turns, lambda name: work(threads, BETWEEN))


def after_products(
    sides: Mapping[str, Callable[[], object]],
    products: Mapping[str, Callable[[], object]],
    turns: int,
    threads: int,
) -> dict[str, list[float]]:
    """The time of each side in each turn as in a model, in seconds: at once after a matrix product.

    Before every turn `threads` processors do multiply-adds, as in `turn_by_turn`, so that only the threads of the
    side's own library are awake; then the side's product is made once, whose threads may still be spinning, and whose
    arrays fill the caches, when the turn begins.

    Args:
        sides: the call of each side.
        products: the product before each side's call, made by the library of that side.
        turns: how often each side is timed.
        threads: the number of threads that do multiply-adds.
    """

    def before(name: str) -> None:
        work(threads, BETWEEN)
        products[name]()

    return _in_alternation(sides, turns, before)


def back_to_back(sides: Mapping[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """The time of each side in each turn, in seconds, without a pause: of whole models, whose threads are the same."""
    return _in_alternation(sides, turns, lambda name: None)


def _in_alternation(
    sides: Mapping[str, Callable[[], object]], turns: int, before: Callable[[str], None]
) -> dict[str, list[float]]:
    """Call `before` with a side's name, then time that side, `turns` times for each side."""
    names = list(sides)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(turns):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            before(name)
            start = time.perf_counter()
            sides[name]()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def times_as_long(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Their time divided by ours: the median over the pairs of turns.

    >>> times_as_long([2.0, 9.0, 4.0], [1.0, 3.0, 2.0])
    2.0
    """
    return statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
