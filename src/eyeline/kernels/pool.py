"""A small thread pool, which runs machine code in parallel without the GIL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

_workers: list[SimpleQueue[_Job]] = []
_lock = threading.Lock()


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
