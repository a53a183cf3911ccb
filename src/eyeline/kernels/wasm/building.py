"""Making the module: each program's object by Numba and LLVM, in a process of its own, and the linker's `wasm-ld`.

An object's bytes depend on the versions of Python, Numba and llvmlite, so those that made the module's objects are kept
beside their hashes (`objects.json`). The linker may be of any version since LLVM 14.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eyeline.kernels.compiled.programs import Program
from eyeline.kernels.wasm import EXPORTED
from eyeline.words import worded

#: The bytes of the module's stack, which is at the beginning of its memory.
STACK = 1 << 16


class LinkerError(RuntimeError):
    """There is no `wasm-ld`, or it failed."""


def made_object(program: Program, folder: Path) -> Path:
    """A program's object file, in this folder.

    Raises:
        subprocess.CalledProcessError: if it doesn't compile.
    """
    file = folder / f"{program}.o"
    # The order of sets of words must not matter, but nothing holds Numba to that.
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-P", "-m", "eyeline.kernels.compiled.compile", program, "float32", str(file), "wasm32"]
    subprocess.run(command, env=surroundings, stdin=subprocess.DEVNULL, check=True)
    return file


def made_objects(folder: Path) -> list[Path]:
    """All programs' object files, in this folder."""
    return [made_object(program, folder) for program in EXPORTED]


def linked(objects: list[Path], module: Path) -> None:
    """Link objects to a module.

    Raises:
        LinkerError: if that can't be done.
    """
    linker = shutil.which("wasm-ld")
    if linker is None:
        raise LinkerError(
            worded("wasm-ld must be on the path, got none; install LLVM's linker, as with `apt install lld`")
        )
    exports = [f"--export={name}" for name in (*EXPORTED, "__heap_base")]
    settings = ["--no-entry", "--import-memory", "--strip-all", "--stack-first", "-z", f"stack-size={STACK}"]
    command = [linker, *settings, *exports, *map(str, objects), "-o", str(module)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise LinkerError(worded("wasm-ld must link the objects, got: {strip}", strip=done.stderr.strip()))


def fingerprint(objects: list[Path]) -> dict[str, Any]:
    """The objects' SHA-256, and the versions that make them: what `objects.json` holds."""
    return {
        "versions": versions(),
        "sha256": {file.stem: hashlib.sha256(file.read_bytes()).hexdigest() for file in objects},
    }


def versions() -> dict[str, str]:
    """The versions that an object's bytes depend on."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": python, "numba": version("numba"), "llvmlite": version("llvmlite")}
