"""The threads that run kernels: Ctrl-C, fork, errors, how many."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from comparing import same_bits

import eyeline as el
from eyeline.kernels import kernel_cache, launch, pool, threads


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


@pytest.fixture
def two_threads(monkeypatch):
    monkeypatch.setattr(launch, "WORTH_A_THREAD", 0)
    threads.set_threads(2)
    yield
    threads.set_threads(None)


def test_ctrl_c_stops_a_run_and_leaves_the_pool_usable(two_threads, monkeypatch):
    q = np.random.default_rng(1).standard_normal((8, 300, 16)).astype(np.float32)
    want = el.attention(q, q, q)
    real, calls = kernel_cache.kernel("forward", "float32"), []

    def interrupted(address, scratch, most):
        calls.append(most)
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
        else:
            time.sleep(0.01)
        return real(address, scratch, most)

    with monkeypatch.context() as patch:
        patch.setattr(kernel_cache, "kernel", lambda program, dtype: interrupted)
        patch.setattr(launch, "BETWEEN_LOOKS", 1)
        with pytest.raises(KeyboardInterrupt):
            el.attention(q, q, q)
    assert 1 <= len(calls) <= 3
    assert set(calls) == {1}
    same_bits(el.attention(q, q, q), want)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system can't send a thread a signal")
def test_ctrl_c_while_others_work_waits_for_them():
    """They write to arrays that are gone once the call has ended."""
    began, ended, stopped = threading.Event(), threading.Event(), threading.Event()

    def work():
        if threading.current_thread() is threading.main_thread():
            assert began.wait(10)
            return
        began.set()
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        assert stopped.wait(10)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        pool.run(work, 2, stopped.set)
    assert ended.is_set()


def test_what_a_thread_raises_is_raised_once_all_have_ended():
    together, ended = threading.Barrier(3, timeout=10), []

    def work():
        place = together.wait()
        if place == 0:
            raise ZeroDivisionError("of the first")
        time.sleep(0.05)
        ended.append(place)

    with pytest.raises(ZeroDivisionError, match="of the first"):
        pool.run(work, 3, lambda: None)
    assert sorted(ended) == [1, 2]


def test_nobody_waits_behind_another_calls_work():
    busy, free = threading.Event(), threading.Event()

    def long():
        busy.set()
        assert free.wait(10)

    other = threading.Thread(target=pool.run, args=(long, 2, lambda: None))
    other.start()
    assert busy.wait(10)
    done = []
    pool.run(lambda: done.append(threading.current_thread()), 2, lambda: None)
    assert done[0] is threading.main_thread()
    free.set()
    other.join(10)
    assert not other.is_alive()


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
