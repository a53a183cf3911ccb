"""Our own team of threads, for a process that has no OpenMP team.

Its threads are Python's, and run machine code without the GIL. After a region they wait for the next one for a while,
without sleeping: a model calls kernels one after the other, and waking a thread takes longer than many a kernel. They
yield their processor to whoever wants it meanwhile. After that they sleep, in Python.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from queue import SimpleQueue

from eyeline.kernels.region import SLOT, Region, code

#: The most threads beside the caller.
_MOST = 255
#: For how many rounds a thread waits for the next region without sleeping: about half a millisecond.
_SPINS = 1 << 14
_WAITING = 1


class _Worker:
    """A thread of the pool, and its slot (see `region.ll`)."""

    def __init__(self, number: int, slots: ctypes.Array[ctypes.c_int64], slot: int) -> None:
        self.number = number
        self.state = ctypes.c_int64.from_address(slot)
        # The thread writes to its slot as long as the process runs.
        self._slots, self._slot = slots, slot
        self._calls: SimpleQueue[None] = SimpleQueue()
        self._asked: Region | None = None
        self._begun = threading.Lock()

    def wake(self, region: Region) -> None:
        """Have the thread look for work, first of all in this region. It may be too late for it."""
        self._asked = region
        if not self._begun.locked():
            # Where there can't be another thread, the others do its work.
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._serve, daemon=True, name=f"eyeline-{self.number}").start()
        if self._calls.empty():
            self._calls.put(None)

    def _serve(self) -> None:
        # Two callers, or one that Ctrl-C interrupted, may have started a thread twice.
        if not self._begun.acquire(blocking=False):
            return
        serve = code().serve
        while True:
            self._calls.get()
            region = self._asked
            serve(self._slot, region.address if region is not None else 0, self.number, _SPINS)
            del region


class _Pool:
    def __init__(self) -> None:
        self._slots = (ctypes.c_int64 * ((_MOST + 1) * SLOT // 8))()
        self._first = -(-ctypes.addressof(self._slots) // SLOT) * SLOT
        self._workers: dict[int, _Worker] = {}

    def run(self, region: Region, threads: int) -> None:
        lead, beside = code().lead, min(threads - 1, _MOST)
        while True:
            for number in range(1, beside + 1):
                worker = self._workers.get(number) or self._add(number)
                if worker.state.value != _WAITING:
                    worker.wake(region)
            # Returns once nobody is in the region: whenever Ctrl-C comes, nothing is running.
            if not lead(region.address, self._first, beside):
                break

    def _add(self, number: int) -> _Worker:
        worker = _Worker(number, self._slots, self._first + (number - 1) * SLOT)
        return self._workers.setdefault(number, worker)  # another caller's, if it was earlier

    def forget(self) -> None:
        """In a forked child: the threads don't exist there."""
        self._workers.clear()
        ctypes.memset(self._slots, 0, ctypes.sizeof(self._slots))


_pool = _Pool()


def run(region: Region, threads: int) -> None:
    """Run a region here and on `threads` - 1 threads of the pool, until no task is left."""
    _pool.run(region, threads)


def _forget() -> None:
    global _pool
    _pool.forget()
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
