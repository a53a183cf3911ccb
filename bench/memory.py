"""By how much a process grows beyond its inputs and what comes back: `python -m bench.memory NUMBER`, on Linux."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.cases import MEMORY, THREADS
from bench.peers.eyeline import ways
from bench.problem import Problem
from eyeline.kernels import threads


def measured(number: int) -> float:
    """Megabytes that a process of its own grew by in so-manieth case of `MEMORY`."""
    command = [sys.executable, "-m", "bench.memory", str(number)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def grown(problem: Problem) -> float:
    """Megabytes that this process grows by."""
    small = Problem((1, 1, 64, problem.shape[3]), read=problem.read)
    for way in ways(small, small.arrays):
        way.call()  # loads the kernels
    way = ways(problem, problem.arrays)[0]
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # takes the high-water mark back to now
    found = way.answers(way.call())
    return _resident("VmHWM") - before - sum(x.nbytes for x in found.values()) / 2**20


def _resident(which: str) -> float:
    """Megabytes of this process in memory: "VmRSS" now, or "VmHWM" at most since the mark was taken back."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


if __name__ == "__main__":
    threads.set_threads(THREADS)
    print(grown(MEMORY[int(sys.argv[1])].problem))
