"""Time several sides in alternation in one process, so that other load on the machine affects all of them equally."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eyeline.bench.peak import work

BETWEEN = 3_000_000  # rounds of multiply-adds, about 10 ms
PATIENCE = 0.5  # seconds to wait for other threads, at most


def turn_by_turn(sides: Mapping[str, Callable[[], object]], turns: int, threads: int) -> dict[str, list[float]]:
    """The time of each side in each turn, alone, in seconds.

    Before every turn all other threads of the process fall asleep, since those of most libraries keep spinning for a
    while after their work and would take a processor from the next side; then `threads` processors do multiply-adds for
    some milliseconds, so that they are awake. The first side changes from turn to turn.
    """
    return _in_alternation(sides, turns, lambda name: _rest(threads))


def after_products(
    sides: Mapping[str, Callable[[], object]],
    products: Mapping[str, Callable[[], object]],
    turns: int,
    threads: int,
) -> dict[str, list[float]]:
    """The time of each side in each turn as in a model, in seconds: at once after a matrix product.

    Before every turn the other sides' threads fall asleep, and the processors are kept awake, as in `turn_by_turn`;
    then the side's product is made once: when the turn begins, its threads may still be spinning, and its arrays fill
    the caches.

    Args:
        sides: the call of each side.
        products: the product before each side's call, made by the library of that side.
        turns: how often each side is timed.
        threads: the number of threads that do multiply-adds.
    """

    def before(name: str) -> None:
        _rest(threads)
        products[name]()

    return _in_alternation(sides, turns, before)


def back_to_back(sides: Mapping[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """The time of each side in each turn, in seconds, without a pause: of whole models, whose threads are the same."""
    return _in_alternation(sides, turns, lambda name: None)


def _rest(threads: int) -> None:
    """Wait until no other thread of this process runs, then keep `threads` processors busy for some milliseconds.

    After a product of 512 × 768 × 768, threads of OpenMP were seen spinning for 10 ms, those of ONNX Runtime for 40,
    and those of OpenBLAS, which NumPy uses, for 110.
    """
    end, quiet = time.perf_counter() + PATIENCE, 0
    while quiet < 2 and time.perf_counter() < end:
        quiet = 0 if _others_run() else quiet + 1
        time.sleep(0.001)
    work(threads, BETWEEN)


def _others_run() -> bool:
    """Whether another thread of this process is running, as Linux says; always, elsewhere."""
    own = str(threading.get_native_id())
    try:
        # A thread's state comes after its name, which stands in brackets and may hold any character.
        states = [
            (thread / "stat").read_text().rpartition(")")[2].split()[0]
            for thread in Path("/proc/self/task").iterdir()
            if thread.name != own
        ]
    except OSError:  # no Linux; or a thread has ended meanwhile
        return True
    return "R" in states


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
