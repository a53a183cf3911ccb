"""A region: a kernel's run on one team of threads. Its layout in memory, and the machine code that the threads run.

The code stands in `region.ll`, in LLVM's own language, and is made once per process, in some milliseconds. Its
functions, whose arguments are addresses and whole numbers:

- `member(region)` is what each thread of an OpenMP team runs: it calls the kernel, with the workspace of its number;
- `lead(region, slots, count)` is what the pool's caller runs: it opens the region, gives it to those of the pool's
  threads that wait in the first `count` slots, calls the kernel itself, closes the region, and returns once nobody is
  in it. The result is 0 if no task is left;
- `serve(slot, region, number, spins)` is what a thread of the pool runs: it waits in its slot for regions, until there
  was none for `spins` rounds; `region` is the one it was woken up for, or 0;
- `look(info, size, counts)` is called by `dl_iterate_phdr` (see `openmp.py`).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from eyeline.kernels.kernel_cache import Kernel, native_code

#: Bytes between two threads' slots: processors fetch cache lines in pairs.
SLOT = 128
#: The fields of a region: kernel, params, workspaces, stride, most, left, state, threads, number.
_Fields = ctypes.c_int64 * 9
_LEFT = 5
#: Added to a region's state while it is open: more than there are threads.
_OPEN = 1 << 32


class Region:
    """A kernel's run on several threads: `kernel(params, workspace, most)` on each, until no task is left.

    Attributes:
        address: where it lies. Its memory lives as long as the object.
    """

    def __init__(
        self, kernel: Kernel, params: int, workspaces: int, stride: int, most: int, threads: int, number: int = 0
    ) -> None:
        """At most `threads` threads will run it, with workspaces `stride` bytes apart, from `workspaces` on.

        `number` is the address of `omp_get_thread_num` for an OpenMP team.
        """
        # A function of ctypes is a buffer that holds its address: half the time of a cast.
        function = ctypes.c_int64.from_buffer(kernel).value  # type: ignore[arg-type]
        self._fields = _Fields(function, params, workspaces, stride, most, 1, 0, threads, number)
        self.address = ctypes.addressof(self._fields)

    @property
    def left(self) -> bool:
        """Whether a task may be left."""
        return self._fields[_LEFT] != 0


class Code(NamedTuple):
    """The functions of `region.ll`: the addresses of those that native code calls; Python calls the others, without the
    GIL. `owner` owns their memory."""

    member: int
    look: int
    lead: Callable[[int, int, int], int]
    serve: Callable[[int, int, int, int], None]
    small: Callable[[int, int, int, int, int, int, int], int]
    owner: object


_made: Code | None = None


def code() -> Code:
    """This process's machine code."""
    global _made
    if _made is None:
        with native_code:
            # Only once: a thread may already be in the first.
            if _made is None:
                _made = _make()
    return _made


def _make() -> Code:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    text = Path(__file__).with_name("region.ll").read_text()
    for name, meaning in _words(triple, llvm.llvm_version_info[0]).items():
        text = text.replace(name, meaning)
    machine = llvm.Target.from_triple(triple).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    address, word = engine.get_function_address, ctypes.c_ssize_t
    lead = ctypes.CFUNCTYPE(ctypes.c_int64, word, word, word)(address("lead"))
    serve = ctypes.CFUNCTYPE(None, word, word, word, word)(address("serve"))
    small = ctypes.CFUNCTYPE(ctypes.c_int64, *[word] * 7)(address("small"))
    return Code(address("member"), address("look"), lead, serve, small, engine)


def _words(triple: str, llvm_version: int) -> dict[str, str]:
    """What stands for the words in capitals, and for pointers, which have had no types since LLVM 17."""
    pause = ""
    if triple.startswith(("x86_64", "amd64")):
        pause = "void @llvm.x86.sse2.pause()"
    elif triple.startswith(("aarch64", "arm64")):
        pause = "void @llvm.aarch64.hint(i32 1)"
    opaque = llvm_version >= 17
    return {
        "DECLARE_PAUSE": pause and f"declare {pause.replace(' 1', '')}",
        "PAUSE": pause and f"call {pause}",
        "YIELD": "SwitchToThread" if sys.platform == "win32" else "sched_yield",
        "OPEN": str(_OPEN),
        "SLOT": str(SLOT),
        "KERNEL": "ptr" if opaque else "i64 (i64, i64, i64)*",
        "NUMBER": "ptr" if opaque else "i32 ()*",
        "i64*": "ptr" if opaque else "i64*",
    }
