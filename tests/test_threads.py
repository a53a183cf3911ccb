"""The threads that run kernels, on the pool and on torch's team: Ctrl-C, fork, several callers, how many."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from comparing import same_bits

import eyeline as el
from eyeline.kernels import launch, openmp, pool, region, threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_computes_the_same():
    code = """
import os, signal, sys
import numpy as np
import eyeline as el
from eyeline.kernels import launch, threads
launch.WORTH_A_THREAD = 0
threads.set_threads(3)
q = np.random.default_rng(0).standard_normal((4, 200, 16)).astype(np.float32)
want = el.attention(q, q, q)
child = os.fork()
if not child:
    signal.alarm(20)
    os._exit(0 if el.attention(q, q, q).tobytes() == want.tobytes() else 1)
assert os.waitpid(child, 0)[1] == 0
assert el.attention(q, q, q).tobytes() == want.tobytes()
"""
    # Newer Pythons warn of a fork beside threads.
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], check=True, timeout=60)


@pytest.fixture(params=["pool", "openmp"])
def team(request, monkeypatch):
    """Either team, on which the smallest call is shared."""
    if request.param == "openmp":
        pytest.importorskip("torch")
        if openmp.team() is None:
            pytest.skip("torch has no OpenMP team here")
    monkeypatch.setenv("EYELINE_TEAM", request.param)
    monkeypatch.setattr(launch, "WORTH_A_THREAD", 0)
    yield request.param
    threads.set_threads(None)


def kernel(function):
    """A kernel of one task that is a Python function of the workspace's address."""
    lock, taken = threading.Lock(), []

    def one(params, workspace, most):
        with lock:
            taken.append(workspace)
        function(workspace)
        return 0

    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_ssize_t, ctypes.c_ssize_t, ctypes.c_int64)(one)
    return made, taken


def go(made, count, size=100):
    threads.run(made, 0, size, 1, count)


def meet(count):
    """Have `count` threads at once in one region, which the pool rarely gives fewer: one that falls asleep just then
    isn't woken. Returns their workspaces."""
    together = threading.Barrier(count)

    def wait(_):
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(1)

    made, workspaces = kernel(wait)
    for _ in range(20):
        workspaces.clear()
        together.reset()
        go(made, count)
        if not together.broken:
            return sorted(workspaces)
    raise AssertionError(f"{count} threads never met in 20 regions, the last had {len(set(workspaces))}")


def test_every_thread_has_a_workspace_of_its_own_on_a_cache_line(team):
    first = meet(3)
    assert all(workspace % 64 == 0 for workspace in first)
    assert first[1] - first[0] >= 128 <= first[2] - first[1]
    for _ in range(4):
        assert meet(3) == first  # kept from call to call


def test_no_more_threads_than_asked_for_though_the_team_is_larger(team):
    workspaces = meet(4)
    small, some = kernel(lambda _: time.sleep(0.01))
    for _ in range(10):
        some.clear()
        go(small, 2)
        assert set(some) <= set(workspaces[:2])


def test_nobody_waits_behind_another_calls_work(team):
    busy, free = threading.Semaphore(0), threading.Event()
    long, _ = kernel(lambda _: (busy.release(), free.wait(100)))
    other = threading.Thread(target=go, args=(long, 2))
    other.start()
    assert busy.acquire(timeout=100)
    busy.acquire(timeout=1)  # the pool's thread too, if it came
    short, done = kernel(lambda _: None)
    go(short, 2)
    assert done
    assert other.is_alive()
    free.set()
    other.join(100)
    assert not other.is_alive()


def test_eight_python_threads_at_once(team):
    r = np.random.default_rng(2)
    cases = [r.standard_normal((heads, n, 16)).astype(np.float32) for heads, n in ((1, 20), (3, 64), (2, 300))]
    threads.set_threads(1)
    want, wrong = [el.attention(q, q, q).tobytes() for q in cases], []

    def compute(first):
        for index in range(first, first + 30):
            q = cases[index % 3]
            if el.attention(q, q, q).tobytes() != want[index % 3]:
                wrong.append(index)

    for count in (2, 3, 8):
        threads.set_threads(count)
        others = [threading.Thread(target=compute, args=(first,)) for first in range(8)]
        for other in others:
            other.start()
        for other in others:
            other.join(100)
            assert not other.is_alive()
    assert not wrong


def test_a_call_within_a_signals_handler(team, monkeypatch):
    """It comes between two rounds of a call, whose workspace it must leave alone, though it needs a larger one."""
    monkeypatch.setattr(launch, "BETWEEN_LOOKS", 1)
    q, large = (
        np.random.default_rng(3).standard_normal((6, n, d)).astype(np.float32) for n, d in ((300, 8), (64, 512))
    )
    threads.set_threads(1)
    want, large_want = el.attention(q, q, q), el.attention(large, large, large)
    found = []
    before = signal.signal(signal.SIGALRM, lambda *_: found.append(el.attention(large, large, large)))
    try:
        for count in (1, 3):
            threads.set_threads(count)
            # A thread without a workspace yet: the handler's is the first that is large enough.
            threads._own = threads._Own()
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.002)
            for _ in range(20):
                same_bits(el.attention(q, q, q), want)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert found
            for one in found:
                same_bits(one, large_want)
            found.clear()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_between_two_rounds_ends_the_call(team, monkeypatch):
    """Of the tasks that nobody has begun, none is done; and the next call is as ever."""
    monkeypatch.setattr(launch, "BETWEEN_LOOKS", 1)
    threads.set_threads(2)
    q = np.random.default_rng(1).standard_normal((8, 300, 16)).astype(np.float32)
    want, rounds = el.attention(q, q, q), []

    def then_ctrl_c(real):
        def one(*arguments):
            rounds.append(1)
            result = real(*arguments)
            if len(rounds) == 3:
                signal.raise_signal(signal.SIGINT)
            return result

        return one

    with monkeypatch.context() as patch:
        if team == "pool":
            code = region.code()
            code = code._replace(lead=then_ctrl_c(code.lead))
            patch.setattr(pool, "code", lambda: code)
        else:
            found = openmp.team()
            found = found._replace(parallel=then_ctrl_c(found.parallel))
            patch.setattr(openmp, "team", lambda: found)
        with pytest.raises(KeyboardInterrupt):
            el.attention(q, q, q)
        assert len(rounds) == 3
        same_bits(el.attention(q, q, q), want)
        assert len(rounds) > 8


@pytest.mark.parametrize("count", [1, 3])
def test_ctrl_c_at_any_line(team, count, monkeypatch):
    monkeypatch.setattr(launch, "BETWEEN_LOOKS", 1)
    threads.set_threads(count)
    q = np.random.default_rng(1).standard_normal((2, 100, 16)).astype(np.float32)
    want = el.attention(q, q, q)
    files = {module.__file__ for module in (threads, pool, openmp, region)}
    lines = 0

    def interrupt_after(left):
        def trace(frame, event, argument):
            nonlocal left
            if frame.f_code.co_filename in files and event == "line":
                left -= 1
                if left < 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        return trace

    while True:
        # All is new: threads to start, libraries to look for.
        monkeypatch.setattr(pool, "_pool", pool._Pool())
        monkeypatch.setattr(openmp, "_found", ((-1, -1), None))
        before = sys.gettrace()
        try:
            sys.settrace(interrupt_after(lines))
            el.attention(q, q, q)
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        same_bits(el.attention(q, q, q), want)
        lines += 1
    assert lines > (3 if count == 1 else 25)  # a small call is one native call


@pytest.mark.parametrize("name", ["pool", "openmp"])
def test_the_interpreter_ends_while_a_thread_computes(name):
    code = f"""
import threading
{"import torch" if name == "openmp" else ""}
import numpy as np
import eyeline as el
from eyeline.kernels import launch, threads
launch.WORTH_A_THREAD = 0
threads.set_threads(3)
small, large = (np.ones((4, n, 64), np.float32) for n in (64, 30000))
el.attention(small, small, small)
began = threading.Event()
def compute():
    began.set()
    el.attention(large, large, large)
for _ in range(2):
    threading.Thread(target=compute, daemon=True).start()
began.wait()
el.attention(small, small, small)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env={**os.environ, "EYELINE_TEAM": name})


def test_the_code_is_right_for_other_processors_and_older_llvms():
    """It is parsed and compiled for ARM; before LLVM 17, pointers had types."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = Path(region.__file__).with_name("region.ll").read_text()
    for triple, pause in (("aarch64-unknown-linux-gnu", "yield"), ("x86_64-unknown-linux-gnu", "pause")):
        whole = text
        for word, meaning in region._words(triple, llvm.llvm_version_info[0]).items():
            whole = whole.replace(word, meaning)
        machine = llvm.Target.from_triple(triple).create_target_machine()
        assert pause in machine.emit_assembly(llvm.parse_assembly(whole))
    assert region._words("riscv64-unknown-linux-gnu", 20)["PAUSE"] == ""
    assert region._words("x86_64-unknown-linux-gnu", 15)["i64*"] == "i64*"


def test_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("EYELINE_THREADS", "7")
    assert threads.get_threads() == 7
    threads.set_threads(3)
    assert threads.get_threads() == 3
    threads.set_threads(None)
    assert threads.get_threads() == 7
    for wrong in (0, -1, 1.5, "many", []):
        with pytest.raises(ValueError, match="count must be a whole number of threads, 1 or more, got"):
            threads.set_threads(wrong)
    for wrong in ("0", "two", "1.5"):
        monkeypatch.setenv("EYELINE_THREADS", wrong)
        with pytest.raises(
            ValueError, match=f"EYELINE_THREADS must be a whole number of threads, 1 or more, got '{wrong}'"
        ):
            threads.get_threads()


def test_a_small_call_wakes_no_one(monkeypatch):
    used, real = [], threads.run

    def run(kernel, params, size, most, count, *rest):
        used.append(count)
        real(kernel, params, size, most, 1, *rest)

    monkeypatch.setattr(threads, "run", run)
    threads.set_threads(4)
    try:
        small, large = np.ones((2, 16, 32), np.float32), np.ones((8, 256, 32), np.float32)
        el.attention(small, small, small)
        el.attention(large, large, large)
    finally:
        threads.set_threads(None)
    assert used == [1, 4]
