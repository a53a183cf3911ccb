"""How much a process grows beyond its inputs and results: `python -m bench.memory NUMBER`, on Linux."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.cases import MEMORY, THREADS
from bench.peers.eyeline import on_arrays
from bench.problem import Problem
from eyeline.kernels import threads


def measured(number: int) -> float:
    """The growth in megabytes of a process of its own that runs `MEMORY[number]`."""
    command = [sys.executable, "-m", "bench.memory", str(number)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def grown(problem: Problem) -> float:
    """The growth of this process in megabytes."""
    small = Problem((1, 1, 64, problem.shape[3]), read=problem.read)
    for way in on_arrays(small, small.arrays):
        way.call()  # to load the kernels
    way = on_arrays(problem, problem.arrays)[0]
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    found = way.answers(way.call())
    return _resident("VmHWM") - before - sum(x.nbytes for x in found.values()) / 2**20


def _resident(which: str) -> float:
    """This process's memory in megabytes: "VmRSS" is now, "VmHWM" the most since the mark was reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


if __name__ == "__main__":
    threads.set_threads(THREADS)
    print(grown(MEMORY[int(sys.argv[1])].problem))
