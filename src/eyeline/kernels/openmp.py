"""The process's own OpenMP team: the threads of an OpenMP library that another package, such as torch, has loaded.

Those threads spin for milliseconds after each of torch's products, waiting for the next one, so other threads would
have to share the processors with them. GNU's libgomp, LLVM's libomp and Intel's libiomp5 all export
`GOMP_parallel(function, data, threads, flags)`, which is what GCC compiles a parallel region to.

A library is used only if it is loaded already, and is looked for on Linux alone: elsewhere there is no team.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from eyeline.kernels.region import Region, code
from eyeline.words import worded

#: torch's own library, and the OpenMP libraries, whose names may have a hash, as in wheels, or a version.
_LIBRARIES = re.compile(rb"(/[^\n]*/lib(?:gomp|omp|iomp|torch_cpu)[-.\d][^/\n]*?)(?: \(deleted\))?\n")

_SUPPORTED = sys.platform == "linux" and sys.maxsize > 1 << 32


class Team(NamedTuple):
    """An OpenMP library's team.

    Attributes:
        library: its file.
        parallel: `GOMP_parallel`.
        size: `omp_get_max_threads`.
        number: the address of `omp_get_thread_num`.
    """

    library: str
    parallel: Callable[[int, int, int, int], None]
    size: Callable[[], int]
    number: int

    def run(self, region: Region, threads: int, most: int) -> None:
        """Run a region on `threads` threads, until no task is left; `most` is how many threads any call may use.

        The library may give fewer threads. Between two regions Python sees Ctrl-C; no thread is running then.
        """
        member = code().member
        # libgomp ends threads and starts them again when the size of the team changes, so ask for as many as its other
        # users do; those that aren't needed return at once.
        count = max(threads, min(self.size(), most))
        while region.left:
            self.parallel(member, region.address, count, 0)


def team() -> Team | None:
    """The team of the OpenMP library that torch uses, or else of the first that is loaded; None if there is none.

    Takes less than a microsecond if no library was loaded since the last call.
    """
    global _found
    if _forked or not _SUPPORTED:
        return None
    now = _loads()()
    if _found[0] != now:
        # Both at once: another thread may be here, too.
        _found = now, _find()
    return _found[1]


def why_none() -> str:
    """Why there is no team."""
    if not _SUPPORTED:
        return worded("an OpenMP team is looked for on Linux alone")
    if _forked:
        return worded("a forked process has none of its parent's threads")
    return worded("no OpenMP library is loaded; once torch is, its team runs the kernels")


def _find() -> Team | None:
    try:
        maps = Path("/proc/self/maps").read_bytes()
    except OSError:
        return None
    loaded = [os.fsdecode(name) for name in dict.fromkeys(_LIBRARIES.findall(maps))]
    torch = [name for name in loaded if "/libtorch_cpu" in name]
    # As the loader does for torch: first what is visible to all, then what torch depends on.
    wanted = next(filter(None, (_entry(name) for name in (None, *torch))), None)
    for name in loaded:
        if name not in torch and (entry := _entry(name)) and wanted in (entry, None):
            return _team_of(name)
    return None


def _entry(library: str | None) -> int | None:
    """The address of `GOMP_parallel` in a library that is loaded, or in what it depends on; in what is visible to all
    if None."""
    try:
        found = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        return ctypes.cast(found.GOMP_parallel, ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


def _team_of(library: str) -> Team:
    loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_uint)
    number = ctypes.cast(loaded.omp_get_thread_num, ctypes.c_void_p).value
    assert number is not None
    return Team(library, prototype(("GOMP_parallel", loaded)), loaded.omp_get_max_threads, number)


@cache
def _loads() -> Callable[[], tuple[int, int]]:
    """A function that says, in less than a microsecond, how many libraries were ever loaded and unloaded."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ssize_t, ctypes.c_ssize_t)
    iterate, look = prototype(("dl_iterate_phdr", ctypes.CDLL(None))), code().look

    def loads() -> tuple[int, int]:
        counts = (ctypes.c_int64 * 2)()
        iterate(look, ctypes.addressof(counts))
        return counts[0], counts[1]

    return loads


_found: tuple[tuple[int, int], Team | None] = ((-1, -1), None)
_forked = False


def _lose_team() -> None:
    """In a forked child, where the team's threads don't exist, and libgomp would wait for them forever."""
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lose_team)
