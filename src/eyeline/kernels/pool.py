"""Our own team of threads, for a process that has no OpenMP team.

Its threads are Python's, and run machine code without the GIL (`region.serve`). After a region they wait for the next
one for a while, without sleeping: a model calls kernels one after the other, and to wake a thread takes longer than many
a kernel. They yield their processor to whoever wants it meanwhile. After that they sleep in Python.
"""

from __future__ import annotations

import ctypes
import os
import threading
from queue import SimpleQueue

from eyeline.kernels.region import SLOT, Region, code

#: The most threads beside the caller.
_MOST = 255
#: For how many rounds a thread waits for the next region, awake.
SPINS = 1 << 14


class _Worker:
    """A thread of the pool.

    Attributes:
        number: from 1.
        slots: owns the memory of its slot, which the thread uses as long as the process runs.
        slot: its slot's address.
        calls: wakes it up.
        asked: the region that it was woken up for last.
    """

    def __init__(self, number: int, slots: object, slot: int) -> None:
        self.number, self.slots, self.slot = number, slots, slot
        self.calls: SimpleQueue[None] = SimpleQueue()
        self.asked: Region | None = None
        self._begun = threading.Lock()

    def ensure_started(self) -> None:
        if not self._begun.locked():
            threading.Thread(target=self._serve, daemon=True, name=f"eyeline-{self.number}").start()

    def wake(self, region: Region) -> None:
        self.asked = region
        if self.calls.empty():
            self.calls.put(None)

    def _serve(self) -> None:
        # Ctrl-C may have come while it was started, so that it is started again.
        if not self._begun.acquire(blocking=False):
            return
        serve = code().serve
        while True:
            self.calls.get()
            region = self.asked
            serve(self.slot, region.address if region else 0, self.number, SPINS)


class _Pool:
    def __init__(self) -> None:
        self._slots = (ctypes.c_int64 * ((_MOST + 1) * SLOT // 8))()
        self._first = -(-ctypes.addressof(self._slots) // SLOT) * SLOT
        self._workers: list[_Worker] = []
        self._lock = threading.Lock()

    def run(self, region: Region, threads: int) -> None:
        lead, beside = code().lead, min(threads - 1, _MOST)
        if len(self._workers) < beside:
            self._grow(beside)
        workers = self._workers[:beside]
        while True:
            for worker in workers:
                if ctypes.c_int64.from_address(worker.slot).value != 1:
                    worker.wake(region)
            # Returns once nobody is in the region, so Ctrl-C, which Python sees in between, leaves nothing running.
            if not lead(region.address, self._first, len(workers)):
                break

    def _grow(self, count: int) -> None:
        with self._lock:
            while len(self._workers) < count:
                number = len(self._workers) + 1
                self._workers.append(_Worker(number, self._slots, self._first + (number - 1) * SLOT))
            for worker in self._workers[:count]:
                worker.ensure_started()

    def forget(self) -> None:
        """In a forked child, which has none of the threads."""
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
