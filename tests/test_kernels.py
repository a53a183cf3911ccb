"""Compiling, keeping and loading kernels; the processor they are for."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import eyeline as el
from eyeline.kernels import kernel_cache, machine
from eyeline.kernels.attention_spec import AttentionSpec
from eyeline.kernels.compiled.programs import PROGRAMS
from eyeline.kernels.forms import address_of, form_of
from eyeline.kernels.launch import Params
from eyeline.kernels.primitives import PrimitiveRoom, Primitives
from eyeline.kernels.run import SweepPlan
from eyeline.masks import AttentionShape

#: A call of every kind, in a process of its own; prints a digest of all the bits.
DIGEST = """
import hashlib, sys
import numpy as np
import eyeline as el
digest = hashlib.sha256()
rng = np.random.default_rng(0)
for N, M, D, E in [(9, 300, 5, 3), (37, 37, 64, 64), (130, 257, 33, 70)]:
    q, k, v = (rng.standard_normal((2, 4, n, w)).astype(DTYPE) for n, w in ((N, D), (M, D), (M, E)))
    for mask in (None, el.Causal("end"), el.Window(9, align="start") | el.Dense(rng.random((N, M)) < 0.5)):
        seen = el.observe(q, k[:, :2], v[:, :2], mask=mask, read=[el.Weights()])
        for array in (seen.output, seen.lse, seen.weights):
            digest.update(array.tobytes())
print(digest.hexdigest())
"""


#: How many of an ARM processor's vector multiply-adds are in the code made for it here.
ARM = """
import re
from eyeline.kernels.compiled.compile import to_assembly
from eyeline.kernels.machine import TILES, Target
arm = Target("neoverse-n1", "", "aarch64-unknown-linux-gnu", 128, *TILES[128])
assembly = to_assembly("forward", "float32", arm)
print(len(re.findall(r"\\bfmla\\s+v\\d+\\.4s, v\\d+\\.4s, v\\d+\\.", assembly)))
"""
#: How much Numba has to do for a kernel, and LLVM after it: functions, the specialisations of the one that has most,
#: bytes of IR; and what the IR calls beside LLVM's own functions.
WORK = """
import re, sys
from collections import Counter
from eyeline.kernels.compiled.compile import to_llvm
from eyeline.kernels.machine import target
source = to_llvm(sys.argv[1], "float32", target())
names = re.findall(r'^define .*?@"(.*?)"', source, re.M)
print(len(names), max(Counter(re.sub(r"[.]\\d+$", "", name) for name in names).values()), len(source))
print(*[name for name in re.findall(r'^declare .*?@"(.*?)"', source, re.M) if not name.startswith("llvm.")])
"""
LINE = "eyeline: compiling the forward kernel for float32 (once per machine, a few seconds)\n"


def start(code, *arguments, cwd=None, **surroundings):
    return subprocess.Popen(
        [sys.executable, "-c", code.replace("DTYPE", "np.float32"), *arguments],
        cwd=cwd,
        env={**os.environ, **{name: str(value) for name, value in surroundings.items()}},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out, err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("caches")


@pytest.fixture(scope="module")
def compiling(folder):
    """Processes that compile, each for a test, all begun at once since each takes seconds."""
    (folder / "file").write_text("not a folder")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text("print('welcome')\n")
    (folder / "here").mkdir()
    (folder / "here" / "numba.py").write_text("print('a file of the user, who never asked for it to be run')\n")
    no_python = f"import sys; sys.executable = {str(folder / 'no-python')!r}\n"
    narrower = min(256, machine.target().bits)
    begun = {
        "one": start(DIGEST, EYELINE_CACHE=folder / "both"),
        "other": start(DIGEST, EYELINE_CACHE=folder / "both"),
        "here": start(no_python + DIGEST, EYELINE_CACHE=folder / "file" / "below", EYELINE_VECTOR_BITS=128),
        "noisy": start(
            DIGEST,
            cwd=folder / "here",
            EYELINE_CACHE=folder / "noisy",
            EYELINE_VECTOR_BITS=narrower,
            PYTHONPATH=os.pathsep.join([str(folder / "site"), *sys.path]),
        ),
        "arm": start(ARM),
        **{program: start(WORK, program) for program in PROGRAMS},
    }
    yield begun
    for process in begun.values():
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def digest():
    """What this machine's kernels, from the warm cache, make of `DIGEST`."""
    out, err = finish(start(DIGEST))
    assert err == ""
    return out


def test_two_processes_compile_at_once_and_a_third_finds_the_kernel(compiling, folder, digest):
    for name in ("one", "other"):
        assert finish(compiling[name]) == (digest, LINE)
    assert [file.suffix for file in (folder / "both" / "kernels").iterdir()] == [".o"]
    assert finish(start(DIGEST, EYELINE_CACHE=folder / "both")) == (digest, "")


def test_without_a_python_to_start_or_a_folder_to_write_it_compiles_here_and_says_so(compiling, folder, digest):
    """And the narrowest vectors give the same bits."""
    out, err = finish(compiling["here"])
    assert out == digest
    assert err.startswith(LINE)
    assert "RuntimeWarning: compiled kernels can't be kept in" in err
    assert "set EYELINE_CACHE to a folder that can be written" in err
    assert (folder / "file").read_text() == "not a folder"


def test_what_a_child_prints_is_not_code(compiling, folder, digest):
    """A site's own start-up code may print; what lies in the current folder isn't run. And narrower vectors give the
    same bits."""
    out, err = finish(compiling["noisy"])
    assert out == "welcome\n" + digest
    assert err == LINE
    narrower = min(256, machine.target().bits)
    assert finish(start(DIGEST, EYELINE_CACHE=folder / "noisy", EYELINE_VECTOR_BITS=narrower)) == (digest, "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiling_stays_little_work(program, compiling):
    """A kernel's time to compile is Numba's for each function and each specialisation, and LLVM's for its IR."""
    counts, others = finish(compiling[program])[0].splitlines()
    functions, specialisations, size = map(int, counts.split())
    assert functions <= 88
    assert specialisations <= 3, "decoding has three widths, and all else is compiled once for all its callers"
    assert size <= 1_300_000
    assert others == "", "a kernel must stand alone"


def test_an_arm_processors_code_multiplies_and_adds_at_once(compiling):
    assert int(finish(compiling["arm"])[0]) > 50


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A cache of one kernel in a folder of its own, with compiling replaced by a count of how often it is asked for."""
    whole = kernel_cache.path("forward", "float32", machine.target()).read_bytes()
    code = whole.partition(b"\n")[2]
    asked = []
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_loaded", {})
    monkeypatch.setattr(kernel_cache, "_compile", lambda program, dtype: asked.append(dtype) or code)
    linked = []
    link = kernel_cache._link
    monkeypatch.setattr(kernel_cache, "_link", lambda found: linked.append(found) or link(found))
    file = kernel_cache.path("forward", "float32", machine.target())
    file.parent.mkdir()
    return file, whole, code, asked, linked


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: whole + b"\0",
        lambda whole: whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:],
        lambda whole: b"x" + whole,
        lambda whole: whole.partition(b"\n")[2],
    ],
    ids=["empty", "half", "short", "long", "one bit", "other head", "no head"],
)
def test_a_damaged_file_is_never_run(shelf, damage):
    file, whole, code, asked, linked = shelf
    file.write_bytes(damage(whole))
    kernel_cache.kernel("forward", "float32")
    assert asked == ["float32"]
    assert linked == [code]
    assert file.read_bytes() == whole
    assert list(file.parent.iterdir()) == [file]


def test_a_whole_file_is_found_once_per_process(shelf):
    file, whole, code, asked, linked = shelf
    file.write_bytes(whole)
    assert kernel_cache.kernel("forward", "float32") is kernel_cache.kernel("forward", "float32")
    assert asked == []
    assert linked == [code]


def test_a_folder_that_cannot_be_written_is_a_warning(shelf, tmp_path, monkeypatch):
    _, _, code, asked, linked = shelf
    (tmp_path / "file").touch()
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path / "file" / "below"))
    with pytest.warns(RuntimeWarning, match=r"can't be kept in .*; set EYELINE_CACHE to a folder that can be written"):
        kernel_cache.kernel("forward", "float32")
    assert asked == ["float32"]
    assert linked == [code]


def test_a_file_left_unwritten_leaves_nothing(shelf, monkeypatch):
    file = shelf[0]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kernel_cache.kernel("forward", "float32")
    assert list(file.parent.iterdir()) == []


def test_code_for_another_processor_or_version_is_another_file(monkeypatch):
    here = machine.target()
    files = {kernel_cache.path("forward", dtype, here) for dtype in ("float32", "float64")}
    assert len(files) == 2
    files |= {
        kernel_cache.path("forward", "float32", replace(here, cpu="other")),
        kernel_cache.path("forward", "float32", replace(here, features="+x")),
    }
    files.add(kernel_cache.path("forward", "float32", replace(here, bits=64)))
    monkeypatch.setattr(kernel_cache, "version", lambda package: "0")
    files.add(kernel_cache.path("forward", "float32", here))
    assert len(files) == 6


@pytest.mark.parametrize("bits", ["64", "1024", "wide", ""])
def test_vector_bits_must_be_a_width(monkeypatch, bits):
    monkeypatch.setenv("EYELINE_VECTOR_BITS", bits)
    with pytest.raises(ValueError, match=f"EYELINE_VECTOR_BITS must be 128, 256 or 512, and at most .*, got '{bits}'"):
        machine.target.__wrapped__()


def test_vector_bits_choose_the_target(monkeypatch):
    monkeypatch.setenv("EYELINE_VECTOR_BITS", "128")
    narrow = machine.target.__wrapped__()
    assert narrow.bits == 128
    assert (narrow.lanes("float32"), narrow.lanes("float64")) == (4, 2)
    here = machine.target()
    files = [kernel_cache.path("forward", "float32", on) for on in (narrow, here)]
    assert files[0] != files[1] or here.bits == 128


@pytest.mark.parametrize(
    "array",
    [
        np.ones((2, 3), np.float16),
        np.zeros((2, 0, 3)),
        np.ones((4, 6))[1:, ::2],
        np.broadcast_to(np.ones(3), (2, 3)),
        np.frombuffer(b"12345678", np.int64),
    ],
    ids=["made", "empty", "strided", "spread", "read-only"],
)
def test_an_arrays_address_is_found_of_whatever_kind_it_is(array):
    assert address_of(array) == array.ctypes.data


def test_importing_and_calling_load_neither_numba_nor_torch():
    code = """
import sys
import numpy as np
import eyeline as el
heavy = {"numba", "llvmlite", "torch", "transformers", "matplotlib", "tokenizers", "typer", "rich"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
x = np.ones((3, 4), np.float32)
el.attention(x, x, x, mask=el.Causal())
assert heavy & set(sys.modules) == {"llvmlite"}, heavy & set(sys.modules)
"""
    assert finish(start(code)) == ("", "")


def test_room_for_scores_grows_with_what_a_mask_lets_a_query_see():
    """Readouts of a long sequence take no more of it than of a short one."""

    def size(mask: el.masks.Mask | None, tokens: int) -> int:
        x = np.zeros((1, 1, tokens, 4), np.float32)
        spec = AttentionSpec(1.0, None if mask is None else mask.lower(AttentionShape((1,), 1, tokens, tokens)))
        room = PrimitiveRoom.of(Primitives(row_log_weights=True), tokens)
        params = Params("forward", (form_of(x),) * 3, spec)
        return SweepPlan(params, tokens, room, spec.mask).params.workspace_size

    assert size(el.Window(300, 0), 1 << 16) == size(el.Window(300, 0), 1 << 12)
    assert size(el.Documents([200] * 300), 60_000) == size(el.Documents([200] * 30), 6000)
    assert size(None, 1 << 16) > 10 * size(el.Window(300, 0), 1 << 16)
