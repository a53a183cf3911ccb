"""Machine code on disk and in memory: compiled once per machine, kept in the user's cache folder, loaded in every
process.

A file's name contains a hash of everything that its code depends on (the processor, the vector width, the kernels'
source, the compilers' versions), so code for another processor is never loaded. Its first line is a hash of the code
itself, so a damaged file is never run. Files are written under a temporary name and renamed: two processes may compile
at once, and both find a whole file. Where no folder can be written, the code is compiled in every process, with a
warning.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from eyeline.caches import cache_folder, write_whole
from eyeline.forks import ForkSafeLock
from eyeline.kernels.compiled.programs import ENTRY, Program
from eyeline.kernels.machine import DType, Target, target
from eyeline.words import system_message, worded

Kernel = Callable[[int, int, int], int]
#: The source that a kernel's code depends on: everything compiled, the tiles' sizes, and dropout's constants.
_HERE = Path(__file__).parent
_SOURCES = (*sorted((_HERE / "compiled").glob("*.py")), _HERE / "machine.py", _HERE.parent / "dropout.py")
_MAGIC = b"eyeline kernel "
_loaded: dict[tuple[Program, DType], Kernel] = {}
_keep: list[Any] = []  # engines own the memory of the kernels' code
_lock = ForkSafeLock()
#: Held while LLVM or Numba is compiling or linking. A fork waits for it: the child would inherit their half-finished
#: state, and locks that nobody releases.
native_code = threading.RLock()


def kernels_folder() -> Path:
    """The folder of compiled kernels."""
    return cache_folder() / "kernels"


def kernel(program: Program, dtype: DType) -> Kernel:
    """The function `kernel(params, workspace, most)`: two addresses and a number of tasks, called without the GIL."""
    found = _loaded.get((program, dtype))
    if found is None:
        with _lock:
            found = _loaded.get((program, dtype))
            if found is None:
                found = _loaded[program, dtype] = _link(_code(program, dtype, target()))
    return found


def path(program: Program, dtype: DType, on: Target) -> Path:
    """The file for this kernel on this processor."""
    digest = hashlib.sha256(repr((on, dtype, _versions())).encode())
    for file in _SOURCES:
        digest.update(file.read_bytes())
    return kernels_folder() / f"{program}-{dtype}-{on.cpu}-{on.bits}-{digest.hexdigest()[:20]}.o"


def _versions() -> tuple[str, ...]:
    found = []
    for package in ("eyeline", "numba", "llvmlite"):
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("?")
    return tuple(found)


def _code(program: Program, dtype: DType, on: Target) -> bytes:
    file = path(program, dtype, on)
    code = _read(file)
    if code is None:
        what = worded("the {program} kernel for {dtype}", program=program, dtype=dtype)
        print(
            worded("eyeline: compiling {what} (once per machine, a few seconds)", what=what),
            file=sys.stderr,
            flush=True,
        )
        code = _compile(program, dtype)
        _write(file, code)
    return code


def _read(file: Path) -> bytes | None:
    try:
        head, _, code = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    return code if head == _MAGIC + hashlib.sha256(code).hexdigest().encode() else None


def _write(file: Path, code: bytes) -> None:
    try:
        write_whole(file, _MAGIC + hashlib.sha256(code).hexdigest().encode() + b"\n" + code)
    except OSError as error:
        warnings.warn(
            worded(
                "compiled kernels can't be kept in {parent} ({value}), so every process compiles them again; "
                "set EYELINE_CACHE to a folder that can be written",
                parent=file.parent,
                value=system_message(error),
            ),
            RuntimeWarning,
            stacklevel=2,
        )


def _compile(program: Program, dtype: DType) -> bytes:
    # The child gets this process's paths, to find the same Eyeline.
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with contextlib.suppress(OSError, subprocess.CalledProcessError), tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel")
        command = [sys.executable, "-P", "-m", "eyeline.kernels.compiled.compile", program, dtype, str(file)]
        subprocess.run(command, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return file.read_bytes()
    # No Python could be started, as in a program that embeds it, or the child failed: compile here, to see the error.
    from eyeline.kernels.compiled import compile as compiler

    with native_code:
        return compiler.to_object(program, dtype, target())


def _link(code: bytes) -> Kernel:
    import llvmlite.binding as llvm

    with native_code:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _keep.append(engine)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_int64)
        return prototype(engine.get_function_address(ENTRY))


def _wait_for_compilers() -> None:
    """Before a fork: wait until no thread is in LLVM or Numba, including the user's own use of Numba."""
    native_code.acquire()
    if numba := sys.modules.get("numba.core.compiler_lock"):
        numba.global_compiler_lock.acquire()
        _held.append(numba.global_compiler_lock)


def _go_on() -> None:
    """After a fork, in the parent and the child: release the locks, which the forking thread holds."""
    while _held:
        _held.pop().release()
    native_code.release()


_held: list[Any] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_compilers, after_in_parent=_go_on, after_in_child=_go_on)
