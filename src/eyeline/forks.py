"""Locks that are free in a forked child, even if another thread held them in the parent."""

from __future__ import annotations

import os
import threading
from types import TracebackType


class ForkSafeLock:
    """A lock for a module. A forked child gets a new one: the thread that would release the old one isn't there.

    >>> lock = ForkSafeLock()
    >>> with lock:
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
