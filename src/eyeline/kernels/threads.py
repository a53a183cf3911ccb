"""A small pool of threads, which run machine code beside one another without the GIL."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

from eyeline.kernels.machine import SettingError

_chosen: int | None = None
_workers: list[SimpleQueue[tuple[Callable[[], None], SimpleQueue[BaseException | None]]]] = []
_lock = threading.Lock()


def get_threads() -> int:
    """How many threads a call may use.

    What `set_threads` said, else `EYELINE_THREADS`, else what torch uses if it is loaded, else the processors that this
    process may use.
    """
    if _chosen is not None:
        return _chosen
    if given := os.environ.get("EYELINE_THREADS"):
        try:
            return _checked("EYELINE_THREADS", given)
        except ValueError as error:
            raise SettingError(str(error)) from None
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_num_threads"):
        return int(torch.get_num_threads())
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(count: int | None) -> None:
    """Choose how many threads a call may use; None leaves the choice to `get_threads`. Results don't depend on it, to
    the bit.

    Raises:
        ValueError: if `count` isn't a whole number, 1 or more.

    >>> set_threads(2)
    >>> get_threads()
    2
    >>> set_threads(None)
    """
    global _chosen
    _chosen = None if count is None else _checked("count", count)


def _checked(name: str, value: object) -> int:
    try:
        count = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        count = 0
    if count < 1 or isinstance(value, float):
        raise ValueError(f"{name} must be a whole number of threads, 1 or more, got {value!r}")
    return int(count)


def run(work: Callable[[int], None], threads: int) -> None:
    """Run work(0) here and work(1) … on the pool, at once; return when all have ended.

    Whatever one of them raises is raised here, once all have ended.
    """
    if threads == 1:
        work(0)
        return
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    with _lock:
        while len(_workers) < threads - 1:
            queue: SimpleQueue[tuple[Callable[[], None], SimpleQueue[BaseException | None]]] = SimpleQueue()
            threading.Thread(target=_serve, args=(queue,), daemon=True, name=f"eyeline-{len(_workers) + 1}").start()
            _workers.append(queue)
        for number in range(1, threads):
            _workers[number - 1].put((lambda number=number: work(number), ended))  # type: ignore[misc]
    failure: BaseException | None = None
    try:
        work(0)
    except BaseException as error:
        failure = error
    for _ in range(1, threads):
        failure = ended.get() or failure
    if failure is not None:
        raise failure


def _serve(queue: SimpleQueue[tuple[Callable[[], None], SimpleQueue[BaseException | None]]]) -> None:
    while True:
        work, ended = queue.get()
        try:
            work()
        except BaseException as error:
            ended.put(error)
        else:
            ended.put(None)
        del work, ended


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _lock
    _lock = threading.Lock()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
