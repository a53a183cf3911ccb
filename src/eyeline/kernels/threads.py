"""A small thread pool, which runs machine code in parallel without the GIL."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

from eyeline.kernels.machine import SettingError

_chosen: int | None = None
_workers: list[SimpleQueue[_Job]] = []
_lock = threading.Lock()


def get_threads() -> int:
    """The number of threads that a call may use.

    In this order: the number given to `set_threads`, `EYELINE_THREADS`, torch's number of threads if torch is loaded,
    the number of processors that this process may use.
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
    """Set the number of threads that a call may use; None for the default (see `get_threads`). Results don't depend on
    it, bit for bit.

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


class _Job:
    """Work for one thread of the pool, unless the caller claims it first by waiting."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.failure: BaseException | None = None
        self._ended = threading.Event()
        self._claim = threading.Lock()

    def do(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        try:
            self.work()
        except BaseException as error:
            self.failure = error
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Return once the work has ended; cancels it if no thread has begun it."""
        if not self._claim.acquire(blocking=False):
            self._ended.wait()


def run(work: Callable[[], None], threads: int, stop: Callable[[], None]) -> None:
    """Run the same work here and on `threads` - 1 threads of the pool, in parallel; return when all have ended.

    An exception in any of them, or Ctrl-C, is raised here once all have ended; `stop` is called to end them early.
    """
    if threads == 1:
        work()
        return
    handed: list[_Job] = []
    failure: BaseException | None = None
    try:
        _hand_out(work, threads - 1, handed)
        work()
    except BaseException as error:
        failure = error
        stop()
    while True:
        try:
            for job in handed:
                job.wait()
            break
        except BaseException as error:
            failure = failure or error
            stop()
    failure = failure or next((job.failure for job in handed if job.failure is not None), None)
    if failure is not None:
        raise failure


def _hand_out(work: Callable[[], None], count: int, handed: list[_Job]) -> None:
    with _lock:
        while len(_workers) < count:
            queue: SimpleQueue[_Job] = SimpleQueue()
            threading.Thread(target=_serve, args=(queue,), daemon=True, name=f"eyeline-{len(_workers) + 1}").start()
            _workers.append(queue)
        for queue in _workers[:count]:
            job = _Job(work)
            queue.put(job)
            handed.append(job)


def _serve(queue: SimpleQueue[_Job]) -> None:
    while True:
        job = queue.get()
        job.do()
        del job  # and with it the arrays that its work holds


def _forget() -> None:
    """In a forked child: forget the parent's threads, which don't exist there."""
    global _lock
    _lock = threading.Lock()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
