"""The threads that run kernels: how many, on which team, and each one's workspace."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from eyeline.kernels import openmp, pool
from eyeline.kernels.kernel_cache import Kernel
from eyeline.kernels.layouts import whole_lines
from eyeline.kernels.machine import SettingError
from eyeline.kernels.region import Region
from eyeline.words import worded

_chosen: int | None = None


def get_threads() -> int:
    """The number of threads that a call may use.

    In this order: the number that `limited` gives this Python thread, the number given to `set_threads`,
    `EYELINE_THREADS`, torch's number of threads if torch is loaded, the number of processors that this process may use.
    """
    if _own.limit is not None:
        return _own.limit
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
        raise ValueError(
            worded("{name} must be a whole number of threads, 1 or more, got {value!r}", name=name, value=value)
        )
    return int(count)


class _Own(threading.local):
    """What each Python thread keeps: a workspace's address, its size, and the memory; and how many threads its calls
    may use, None for as many as any."""

    workspace: tuple[int, int, object] = (0, -1, None)
    limit: int | None = None


_own = _Own()


@contextmanager
def limited(count: int) -> Iterator[None]:
    """Let calls from this Python thread use `count` threads, whatever other Python threads' may.

    >>> with limited(1):
    ...     get_threads()
    1
    """
    before, _own.limit = _own.limit, _checked("count", count)
    try:
        yield
    finally:
        _own.limit = before


def run(
    kernel: Kernel,
    params: int,
    workspace_size: int,
    most: int,
    threads: int,
) -> None:
    """Run `kernel(params, workspace, most)` on `threads` threads, each with a workspace of its own of `workspace_size`
    bytes on a cache line, again and again until no task is left: until it returns 0.

    The threads are the process's OpenMP team, or our pool's. Either may give fewer. None is running while Python is:
    between two rounds, each of at most `most` tasks per thread, where it sees Ctrl-C, and once this has ended.

    Raises:
        SettingError: if `EYELINE_TEAM` isn't one of its values, or there is no such team.
    """
    stride = whole_lines(workspace_size)
    address, _, memory = workspace(stride * threads)
    if threads == 1:
        while kernel(params, address, most):
            pass  # back in Python for a moment, where Ctrl-C is noticed
    else:
        team = _team()
        region = Region(kernel, params, address, stride, most, threads, team.number if team else 0)
        if team is None:
            pool.run(region, threads)
        else:
            team.run(region, threads, get_threads())
    del memory  # only now


def workspace(size: int) -> tuple[int, int, object]:
    """This thread's workspace, reused from call to call: its address, on a cache line, its size and its memory, which a
    larger one made meanwhile, by a signal's handler, must not free."""
    found = _own.workspace
    if found[1] < size:
        memory = np.empty(size + 64, np.uint8)
        # All three at once: Ctrl-C may come between any two lines.
        found = _own.workspace = whole_lines(memory.ctypes.data), size, memory
    return found


def _team_setting() -> str:
    setting = os.environ.get("EYELINE_TEAM") or "auto"
    if setting not in ("auto", "openmp", "pool"):
        raise SettingError(worded("EYELINE_TEAM must be auto, openmp or pool, got {setting!r}", setting=setting))
    return setting


def _team() -> openmp.Team | None:
    """The OpenMP team to run on; None for the pool."""
    setting = _team_setting()
    team = None if setting == "pool" else openmp.team()
    if team is None and setting == "openmp":
        raise SettingError(
            worded(
                "EYELINE_TEAM must be auto or pool where there is no OpenMP team, got 'openmp': {why_none}; "
                "import torch first, or set EYELINE_TEAM=auto",
                why_none=openmp.why_none(),
            )
        )
    return team


def describe_team() -> str:
    """The threads that a call on several threads would run on in this process, and why.

    Raises:
        SettingError: if `EYELINE_TEAM` isn't one of its values.
    """
    setting, team = _team_setting(), openmp.team()
    if setting == "pool":
        return worded("Eyeline's own (EYELINE_TEAM=pool)")
    if team is not None:
        return worded("the OpenMP team of {library}", library=team.library)
    there = worded("none, and EYELINE_TEAM=openmp") if setting == "openmp" else worded("Eyeline's own")
    return f"{there} ({openmp.why_none()})"
