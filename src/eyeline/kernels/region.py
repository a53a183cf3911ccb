"""A region: what one team of threads runs at once. Its layout, and the machine code that runs it, written in LLVM's own
language and made once per process, in some milliseconds.

The functions, on addresses:

- `work(region, number)`: one thread's part, with the workspace of that number, until no task is left or it has done as
  many as it may;
- `member(region)`: the same for a thread of an OpenMP team, which knows its number;
- `lead(region, slots, count)`: opens the region, gives it to those of the pool's threads that wait in the first `count`
  slots, does the caller's own part, closes the region, and returns once nobody is in it; the result is 0 if no task is
  left;
- `serve(slot, region, number, spins)`: what a thread of the pool does: it waits in its slot for a region, and works,
  until there was none for `spins` rounds. It also enters `region` as soon as it is open, unless that is 0;
- `look(info, size, counts)`, called by `dl_iterate_phdr` for the first library, copies the numbers of libraries that
  were ever loaded and unloaded.

A slot holds 0 while its thread isn't waiting, 1 while it is, and else the address of the region that it was given. A
region's `state` is the number of threads of the pool that are in it, plus `OPEN`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import NamedTuple

from eyeline.kernels.kernel_cache import Kernel, native_code

#: Bytes between two threads' slots: processors fetch cache lines in pairs.
SLOT = 128
#: Added to a region's state while it is open.
OPEN = 1 << 32
#: The fields of a region, each of 8 bytes, as numbered below.
_Region = ctypes.c_int64 * 9

_CODE = """
declare i32 @YIELD()
DECLARE_PAUSE

define void @work(i64* %region, i64 %number) {
  %kernel_field = getelementptr i64, i64* %region, i64 0
  %params_field = getelementptr i64, i64* %region, i64 1
  %workspaces_field = getelementptr i64, i64* %region, i64 2
  %stride_field = getelementptr i64, i64* %region, i64 3
  %most_field = getelementptr i64, i64* %region, i64 4
  %left_field = getelementptr i64, i64* %region, i64 5
  %kernel_address = load i64, i64* %kernel_field
  %params = load i64, i64* %params_field
  %workspaces = load i64, i64* %workspaces_field
  %stride = load i64, i64* %stride_field
  %most = load i64, i64* %most_field
  %kernel = inttoptr i64 %kernel_address to KERNEL
  %offset = mul i64 %number, %stride
  %workspace = add i64 %workspaces, %offset
  %left = call i64 %kernel(i64 %params, i64 %workspace, i64 %most)
  %none = icmp eq i64 %left, 0
  br i1 %none, label %last, label %end
last:
  store atomic i64 0, i64* %left_field monotonic, align 8
  br label %end
end:
  ret void
}

define void @member(i64* %region) {
  %threads_field = getelementptr i64, i64* %region, i64 7
  %number_field = getelementptr i64, i64* %region, i64 8
  %threads = load i64, i64* %threads_field
  %number_address = load i64, i64* %number_field
  %get_number = inttoptr i64 %number_address to NUMBER
  %short = call i32 %get_number()
  %number = zext i32 %short to i64
  %needed = icmp ult i64 %number, %threads
  br i1 %needed, label %do, label %end
do:
  call void @work(i64* %region, i64 %number)
  br label %end
end:
  ret void
}

define i64 @lead(i64* %region, i64 %slots, i64 %count) {
  %left_field = getelementptr i64, i64* %region, i64 5
  %state = getelementptr i64, i64* %region, i64 6
  %address = ptrtoint i64* %region to i64
  store atomic i64 1, i64* %left_field monotonic, align 8
  store atomic i64 OPEN, i64* %state seq_cst, align 8
  br label %next
next:
  %i = phi i64 [ 0, %0 ], [ %i_next, %given ], [ %i_next, %refused ]
  %i_next = add i64 %i, 1
  %more = icmp ult i64 %i, %count
  br i1 %more, label %give, label %own
give:
  %place = mul i64 %i, SLOT
  %slot_address = add i64 %slots, %place
  %slot = inttoptr i64 %slot_address to i64*
  %in = atomicrmw add i64* %state, i64 1 seq_cst
  %exchange = cmpxchg i64* %slot, i64 1, i64 %address seq_cst seq_cst
  %taken = extractvalue { i64, i1 } %exchange, 1
  br i1 %taken, label %given, label %refused
given:
  br label %next
refused:
  %out = atomicrmw sub i64* %state, i64 1 seq_cst
  br label %next
own:
  call void @work(i64* %region, i64 0)
  %closed = atomicrmw sub i64* %state, i64 OPEN seq_cst
  br label %wait
wait:
  %round = phi i64 [ 0, %own ], [ %round_next, %again ]
  %round_next = add i64 %round, 1
  %inside = load atomic i64, i64* %state acquire, align 8
  %empty = icmp eq i64 %inside, 0
  br i1 %empty, label %end, label %again
again:
  call void @relax(i64 %round_next)
  br label %wait
end:
  %result = load atomic i64, i64* %left_field monotonic, align 8
  ret i64 %result
}

define void @serve(i64* %slot, i64* %asked, i64 %number, i64 %spins) {
  %asked_state = getelementptr i64, i64* %asked, i64 6
  %asked_address = ptrtoint i64* %asked to i64
  %nobody = icmp eq i64 %asked_address, 0
  br label %waits
waits:
  %done = phi i1 [ %nobody, %0 ], [ %done_now, %leave ], [ true, %too_late ]
  store atomic i64 1, i64* %slot seq_cst, align 8
  br label %spin
spin:
  %round = phi i64 [ 0, %waits ], [ %round_next, %idle ]
  %given = load atomic i64, i64* %slot acquire, align 8
  %has = icmp ne i64 %given, 1
  br i1 %has, label %take, label %ask
ask:
  br i1 %done, label %idle, label %see
see:
  %seen = load atomic i64, i64* %asked_state acquire, align 8
  %open = icmp uge i64 %seen, OPEN
  br i1 %open, label %withdraw, label %idle
withdraw:
  %exchange = cmpxchg i64* %slot, i64 1, i64 0 seq_cst seq_cst
  %free = extractvalue { i64, i1 } %exchange, 1
  br i1 %free, label %enter, label %take
enter:
  %before = load atomic i64, i64* %asked_state acquire, align 8
  %still_open = icmp uge i64 %before, OPEN
  br i1 %still_open, label %try, label %too_late
try:
  %after = add i64 %before, 1
  %entry = cmpxchg i64* %asked_state, i64 %before, i64 %after seq_cst seq_cst
  %entered = extractvalue { i64, i1 } %entry, 1
  br i1 %entered, label %do, label %enter
too_late:
  br label %waits
take:
  %handed = load atomic i64, i64* %slot acquire, align 8
  br label %do
do:
  %mine = phi i64 [ %handed, %take ], [ %asked_address, %try ]
  %region = inttoptr i64 %mine to i64*
  call void @work(i64* %region, i64 %number)
  br label %leave
leave:
  %state = getelementptr i64, i64* %region, i64 6
  %out = atomicrmw sub i64* %state, i64 1 seq_cst
  %was_asked = icmp eq i64 %mine, %asked_address
  %done_now = or i1 %done, %was_asked
  br label %waits
idle:
  %round_next = add i64 %round, 1
  call void @relax(i64 %round_next)
  %on = icmp ult i64 %round_next, %spins
  br i1 %on, label %spin, label %stop
stop:
  %withdrawal = cmpxchg i64* %slot, i64 1, i64 0 seq_cst seq_cst
  %away = extractvalue { i64, i1 } %withdrawal, 1
  br i1 %away, label %end, label %take
end:
  ret void
}

define void @relax(i64 %round) {
  PAUSE
  %low = and i64 %round, 63
  %often = icmp eq i64 %low, 0
  br i1 %often, label %yield, label %end
yield:
  %ignored = call i32 @YIELD()
  br label %end
end:
  ret void
}

define i32 @look(i64* %info, i64 %size, i64* %counts) {
  %adds_field = getelementptr i64, i64* %info, i64 4
  %subs_field = getelementptr i64, i64* %info, i64 5
  %subs_place = getelementptr i64, i64* %counts, i64 1
  %adds = load i64, i64* %adds_field
  %subs = load i64, i64* %subs_field
  store i64 %adds, i64* %counts
  store i64 %subs, i64* %subs_place
  ret i32 1
}
"""


class Code(NamedTuple):
    """The functions above: addresses, and those that Python calls, which give up the GIL meanwhile.

    Attributes:
        owner: the object that owns the machine code.
    """

    member: int
    look: int
    lead: Callable[[int, int, int], int]
    serve: Callable[[int, int, int, int], None]
    owner: object


_made: Code | None = None


def code() -> Code:
    """This process's machine code."""
    global _made
    if _made is None:
        with native_code:
            # Once: a thread may already run the first.
            if _made is None:
                _made = _make()
    return _made


def _make() -> Code:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    text = _CODE.replace("OPEN", str(OPEN)).replace("SLOT", str(SLOT))
    text = text.replace("YIELD", "SwitchToThread" if sys.platform == "win32" else "sched_yield")
    declaration, pause = _pause(triple)
    text = text.replace("DECLARE_PAUSE", declaration).replace("PAUSE", pause)
    if llvm.llvm_version_info >= (17,):
        text = text.replace("i64*", "ptr").replace("KERNEL", "ptr").replace("NUMBER", "ptr")
    else:  # pointers have types
        text = text.replace("KERNEL", "i64 (i64, i64, i64)*").replace("NUMBER", "i32 ()*")
    machine = llvm.Target.from_triple(triple).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    address, word = engine.get_function_address, ctypes.c_ssize_t
    lead = ctypes.CFUNCTYPE(ctypes.c_int64, word, word, word)(address("lead"))
    serve = ctypes.CFUNCTYPE(None, word, word, word, word)(address("serve"))
    return Code(address("member"), address("look"), lead, serve, engine)


def _pause(triple: str) -> tuple[str, str]:
    """The processor's instruction for a loop that waits: its declaration and its call."""
    if triple.startswith(("x86_64", "amd64")):
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if triple.startswith(("aarch64", "arm64")):
        return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
    return "", ""


class Region:
    """One region in memory.

    Attributes:
        address: its address.
    """

    def __init__(
        self, kernel: Kernel, params: int, workspaces: int, stride: int, most: int, threads: int, number: int = 0
    ) -> None:
        """A region that runs `kernel(params, workspace, most)` on up to `threads` threads, whose workspaces begin at
        `workspaces`, `stride` bytes apart; `number` is the address of `omp_get_thread_num`, for an OpenMP team."""
        # A function of ctypes is a buffer that holds its address: half the time of a cast.
        address = ctypes.c_int64.from_buffer(kernel).value  # type: ignore[arg-type]
        self._memory = _Region(address, params, workspaces, stride, most, 1, 0, threads, number)
        self.address = ctypes.addressof(self._memory)

    @property
    def left(self) -> bool:
        """Whether a task may be left."""
        return self._memory[5] != 0
