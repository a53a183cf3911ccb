"""The process's OpenMP team: which library's, with which threads, and where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from comparing import same_bits

import eyeline as el
from eyeline.kernels import openmp, report, threads
from eyeline.kernels.machine import SettingError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a team is looked for on Linux alone")

#: What every process below begins with: attention whose work is shared however small, and its bits in one thread.
BEGIN = """
import ctypes, os, signal, sys, threading
import numpy as np
import eyeline as el
from eyeline.kernels import launch, openmp, pool, threads

launch.WORTH_A_THREAD = 0
q = np.random.default_rng(0).standard_normal((4, 300, 16)).astype(np.float32)
attend = lambda: el.attention(q, q, q, mask=el.Causal()).tobytes()
el.set_threads(1)
want = attend()

def same(*counts):
    for count in counts:
        el.set_threads(count)
        assert attend() == want, count

def product():
    import torch
    return torch.ones(300, 300) @ torch.ones(300, 300)
"""


def run(code, folder=None, **surroundings):
    """Run Python code after `BEGIN`, in a process that has to end well within a minute; returns what it printed."""
    # From a file: what is started with spawn imports it. Newer Pythons warn of a fork beside threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning"]
    command += ["-c", BEGIN + code] if folder is None else [str(write(folder, code))]
    environment = {**os.environ, **surroundings}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(folder, code):
    file = folder / "script.py"
    file.write_text(BEGIN + code)
    return file


def test_torch_is_found_when_it_is_loaded_and_nothing_is_loaded_before():
    run("""
same(1, 2, 3, 4, 8)
assert openmp.team() is None and threads.describe_team().startswith("Eyeline's own (no OpenMP library is loaded")
assert "gomp" not in open("/proc/self/maps").read()
product()
import torch
team = openmp.team()
assert os.path.dirname(team.library) == os.path.join(os.path.dirname(torch.__file__), "lib")
assert threads.describe_team() == "the OpenMP team of " + team.library
same(1, 2, 3, 4, 8)
before = len(os.listdir("/proc/self/task"))
os.environ["EYELINE_TEAM"] = "pool"
same(1, 2, 3, 4, 8)
assert len(os.listdir("/proc/self/task")) == before  # the pool's threads were there already
""")


def test_a_call_looks_for_libraries_only_after_one_was_loaded(two_threads, monkeypatch):
    looks, find = [], openmp._find
    monkeypatch.setattr(openmp, "_find", lambda: looks.append(1) or find())
    monkeypatch.setattr(openmp, "_found", ((-1, -1), None))
    q = np.ones((2, 64, 8), np.float32)
    for _ in range(20):
        el.attention(q, q, q)
    assert len(looks) == 1


def another_library(folder, soname):
    """A copy of torch's OpenMP library; with another soname of the same length it is another library to the loader."""
    found = next(Path(torch.__file__).parent.joinpath("lib").glob("libgomp*"), None)
    if found is None or b"libgomp.so.1\0" not in found.read_bytes():
        pytest.skip("this torch has another OpenMP library")
    copy = folder / "libgomp-0123abcd.so.1"
    shutil.copy(found, copy)
    copy.write_bytes(copy.read_bytes().replace(b"libgomp.so.1\0", soname + b"\0"))
    return str(copy)


#: Says whether the team is torch's, and its file.
IS_TORCHS = """
import torch
for count in (3, 2):
    torch.set_num_threads(count)
    assert openmp.team().size() == count
same(1, 2, 3, 8)
print(os.path.dirname(openmp.team().library))
"""


def test_of_several_libraries_it_is_the_one_that_torch_uses(tmp_path):
    theirs = str(Path(torch.__file__).parent / "lib")
    other = another_library(tmp_path, b"libgom2.so.1")
    loaded = f"""
ctypes.CDLL({other!r})
assert openmp.team().library == {other!r}
same(2, 3)
"""
    assert run(loaded + IS_TORCHS).split() == [theirs]
    # Preloaded, its functions come first, for torch as well.
    assert run(IS_TORCHS, LD_PRELOAD=other).split() == [str(tmp_path)]
    # And where it has the name that torch asks for, torch takes it.
    same_name = another_library(tmp_path, b"libgomp.so.1")
    assert run(f"ctypes.CDLL({same_name!r})" + IS_TORCHS).split() == [str(tmp_path)]


def test_a_team_with_fewer_threads_than_asked_for():
    code = "product()\nsame(2, 4, 8)\nassert openmp.team() is not None"
    for name, value in (("OMP_THREAD_LIMIT", "1"), ("OMP_THREAD_LIMIT", "3"), ("OMP_DYNAMIC", "true")):
        run(code, **{name: value, "EYELINE_TEAM": "openmp"})


def test_a_call_from_inside_a_team(monkeypatch):
    """Each of three threads of torch's team calls attention, whose own regions have one thread there, or more."""
    code = """
product()
el.set_threads(3)
team, found = openmp.team(), []
inside = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: found.append(attend() == want))
team.parallel(ctypes.cast(inside, ctypes.c_void_p).value, 0, 3, 0)
assert found == [True] * 3
same(2, 3)
"""
    run(code)
    run(code, OMP_MAX_ACTIVE_LEVELS="2")


def test_the_team_keeps_the_size_that_torch_gave_it(two_threads, monkeypatch):
    """libgomp ends threads and starts them again where the size changes."""
    monkeypatch.setenv("EYELINE_TEAM", "openmp")
    team, sizes, before = openmp.team(), [], torch.get_num_threads()

    def parallel(function, data, count, flags):
        sizes.append(count)
        team.parallel(function, data, count, flags)

    spy = team._replace(parallel=parallel)
    monkeypatch.setattr(openmp, "team", lambda: spy)
    q = np.random.default_rng(0).standard_normal((8, 64, 8)).astype(np.float32)
    try:
        torch.set_num_threads(5)
        threads.set_threads(1)
        want = el.attention(q, q, q)
        for chosen, size in ((None, 5), (3, 3), (7, 7)):
            threads.set_threads(chosen)
            same_bits(el.attention(q, q, q), want)
            assert sizes.pop() == size
    finally:
        torch.set_num_threads(before)
    assert not sizes


FORKS = """
def child():
    signal.alarm(100)
    same(1, 2, 4)
    assert openmp.team() is None and "forked" in threads.describe_team()

def fork():
    pid = os.fork()
    if not pid:
        try:
            child()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""


def test_a_child_forked_after_torch_and_we_used_the_team_computes_the_same():
    run(FORKS + "product()\nsame(2, 4)\nfork()\nsame(2, 4)\nassert openmp.team() is not None")


@pytest.mark.parametrize("team", ["openmp", "pool"])
def test_children_forked_while_other_threads_compute(team):
    code = """
product()
el.set_threads(3)
on, wrong = True, []
def compute():
    while on:
        if attend() != want:
            wrong.append(1)
others = [threading.Thread(target=compute) for _ in range(3)]
for other in others:
    other.start()
for _ in range(5):
    os.environ["EYELINE_TEAM"] = "auto"
    fork()
    os.environ["EYELINE_TEAM"] = TEAM
on = False
for other in others:
    other.join()
assert not wrong
"""
    run(FORKS + code.replace("TEAM", repr(team)))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_loaders_worker(method, tmp_path):
    run(
        f"""
import torch

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, index):
        same(index + 1, index + 3)
        return index

if __name__ == "__main__":
    product()
    same(2)
    loader = torch.utils.data.DataLoader(Rows(), num_workers=1, multiprocessing_context="{method}", timeout=100)
    assert [int(row) for row in loader] == [0, 1]
""",
        tmp_path,
    )


def test_the_setting(monkeypatch):
    monkeypatch.setenv("EYELINE_TEAM", "gomp")
    with pytest.raises(SettingError, match="EYELINE_TEAM must be auto, openmp or pool, got 'gomp'"):
        report()
    monkeypatch.setenv("EYELINE_TEAM", "pool")
    assert report()["team of threads"] == "Eyeline's own (EYELINE_TEAM=pool)"
    for nothing in ("", "auto"):
        monkeypatch.setenv("EYELINE_TEAM", nothing)
        assert report()["team of threads"].startswith("the OpenMP team of /")


def test_a_team_that_cant_be_had(two_threads, monkeypatch):
    monkeypatch.setenv("EYELINE_TEAM", "openmp")
    monkeypatch.setattr(openmp, "team", lambda: None)
    assert report()["team of threads"].startswith("none, and EYELINE_TEAM=openmp (")
    q = np.ones((2, 64, 8), np.float32)
    with pytest.raises(SettingError) as error:
        el.attention(q, q, q)
    assert str(error.value) == (
        "EYELINE_TEAM must be auto or pool where there is no OpenMP team, got 'openmp': no OpenMP library is loaded; "
        "once torch is, its team runs the kernels; import torch first, or set EYELINE_TEAM=auto"
    )
