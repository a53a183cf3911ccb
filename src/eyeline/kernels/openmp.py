"""The process's own OpenMP team: the threads of an OpenMP library that another package has loaded, such as torch.

Those threads spin for milliseconds after each of torch's products, waiting for the next one, so a second set of threads
would have to share the processors with them. GNU's libgomp, LLVM's libomp and Intel's libiomp5 all have the entry point
of a parallel region that GCC compiles to, `GOMP_parallel(function, data, threads, flags)`. The function run by the team
is made here with LLVM: it calls a kernel with the workspace of the thread's number.

A library is only used if it is loaded already. It is looked for on Linux alone; elsewhere there is no team.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from eyeline.kernels.kernel_cache import Kernel, native_code

#: torch's own library, and the OpenMP libraries, whose names may have a hash, as in wheels, or a version.
_LIBRARIES = re.compile(rb"(/[^\n]*/lib(?:gomp|omp|iomp|torch_cpu)[-.\d][^/\n]*)\n")
#: What a member of the team reads: the fields of the data of a region, each of 8 bytes.
_FIELDS = ("kernel", "params", "workspace", "stride", "most", "threads", "number", "left")
_Region = ctypes.c_int64 * len(_FIELDS)


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

    def run(self, kernel: Kernel, params: int, workspace: int, stride: int, most: int, threads: int) -> None:
        """Run `kernel(params, workspace, most)` on `threads` threads, again and again until it returns 0. The threads'
        workspaces begin at `workspace`, `stride` bytes apart.

        The library may give fewer threads. Between two regions, each of at most `most` tasks per thread, Python sees
        Ctrl-C; no thread is running then.
        """
        function = _native().member
        # A function of ctypes is a buffer that holds its address: a third of the time of a cast.
        address = ctypes.c_int64.from_buffer(kernel).value  # type: ignore[arg-type]
        region = _Region(address, params, workspace, stride, most, threads, self.number, 1)
        data = ctypes.addressof(region)
        # libgomp ends threads and starts them again when the size of the team changes, so ask for as many as the others
        # do; those that aren't needed return at once.
        count = max(threads, self.size())
        while region[-1]:
            self.parallel(function, data, count, 0)


def team() -> Team | None:
    """The team of the OpenMP library that torch uses, or else of the first that is loaded; None if there is none, or in
    a forked child, whose parent's team isn't there.

    Takes less than a microsecond if no library was loaded since the last call.
    """
    global _found
    if _forked or sys.platform != "linux" or sys.maxsize < 1 << 32:
        return None
    now = _native().libraries_loaded()
    if _found[0] != now:
        # Both at once: another thread may be here, too.
        _found = now, _find()
    return _found[1]


def _find() -> Team | None:
    try:
        with open("/proc/self/maps", "rb") as file:
            loaded = [os.fsdecode(name) for name in dict.fromkeys(_LIBRARIES.findall(file.read()))]
    except OSError:
        return None
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


class _Native(NamedTuple):
    """What is made with LLVM.

    Attributes:
        member: the address of what each member of a team runs.
        libraries_loaded: how many libraries this process has ever loaded and unloaded.
        code: the object that owns the machine code.
    """

    member: int
    libraries_loaded: Callable[[], tuple[int, int]]
    code: object


@cache
def _native() -> _Native:
    import llvmlite.binding as llvm
    from llvmlite import ir

    module = ir.Module()
    _write_member(ir, module)
    _write_look(ir, module)
    with native_code:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
        engine.finalize_object()
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ssize_t, ctypes.c_ssize_t)
    iterate, look = prototype(("dl_iterate_phdr", ctypes.CDLL(None))), engine.get_function_address("look")

    def libraries_loaded() -> tuple[int, int]:
        counts = (ctypes.c_int64 * 2)()
        iterate(look, ctypes.addressof(counts))
        return counts[0], counts[1]

    return _Native(engine.get_function_address("member"), libraries_loaded, engine)


def _write_member(ir: Any, module: Any) -> None:
    """`void member(region)`: one call of the kernel with this thread's workspace."""
    i64, i32 = ir.IntType(64), ir.IntType(32)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [i64]), "member")
    builder = ir.IRBuilder(function.append_basic_block())

    def place(name: str) -> Any:
        offset = i64(8 * _FIELDS.index(name))
        return builder.inttoptr(builder.add(function.args[0], offset), i64.as_pointer())

    def call(address: Any, kind: Any, *arguments: Any) -> Any:
        return builder.call(builder.inttoptr(address, kind.as_pointer()), arguments)

    field = {name: builder.load(place(name)) for name in _FIELDS}
    number = builder.zext(call(field["number"], ir.FunctionType(i32, [])), i64)
    with builder.if_then(builder.icmp_unsigned("<", number, field["threads"])):
        workspace = builder.add(field["workspace"], builder.mul(number, field["stride"]))
        left = call(field["kernel"], ir.FunctionType(i64, [i64] * 3), field["params"], workspace, field["most"])
        with builder.if_then(builder.icmp_unsigned("==", left, i64(0))):
            builder.store_atomic(i64(0), place("left"), "monotonic", 8)
    builder.ret_void()


def _write_look(ir: Any, module: Any) -> None:
    """`int look(info, size, counts)`, which `dl_iterate_phdr` calls for the first library: copies its two counts."""
    i64, i32 = ir.IntType(64), ir.IntType(32)
    function = ir.Function(module, ir.FunctionType(i32, [i64] * 3), "look")
    builder = ir.IRBuilder(function.append_basic_block())
    info, _, counts = function.args
    for index, offset in enumerate((32, 40)):  # dlpi_adds and dlpi_subs
        count = builder.load(builder.inttoptr(builder.add(info, i64(offset)), i64.as_pointer()))
        builder.store(count, builder.inttoptr(builder.add(counts, i64(8 * index)), i64.as_pointer()))
    builder.ret(i32(1))  # no need to see the others


_found: tuple[tuple[int, int], Team | None] = ((-1, -1), None)
_forked = False


def _lose_team() -> None:
    """In a forked child: the team's threads don't exist, and libgomp would wait for them forever."""
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lose_team)
