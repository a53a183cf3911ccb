"""Measure: `python -m bench`, or `python -m bench WORD ...` for the cases whose names hold one of the words.

Results go to bench/results/, one file per processor; a case that is measured again replaces its old result there.
`python bench/table.py` makes the README's table of them. `--busy` measures although other programs are running, and
keeps nothing.
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import eyeline as el
from bench import memory
from bench.cases import CASES, MEMORY, THREADS, Case
from bench.measure import measure, versions
from bench.problem import Problem
from eyeline.bench.peak import gigaflops
from eyeline.kernels import machine

RESULTS = Path(__file__).with_name("results")


def main(arguments: list[str]) -> None:
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return
    words = [word for word in arguments if word != "--busy"]
    keep = "--busy" not in arguments
    if hasattr(os, "sched_setaffinity"):  # not every library can be told how many threads to take
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    el.set_threads(THREADS)
    torch.set_num_threads(THREADS)
    peak = gigaflops(THREADS)
    say(f"peak {peak:.0f} GF/s on {THREADS} threads")
    if keep and peak < 0.9 * THREADS * gigaflops(1):
        sys.exit("something else keeps a processor busy; nothing was measured (--busy measures, and keeps nothing)")
    here = machine.target()
    file = RESULTS / f"{here.cpu}-{here.bits}.json"
    results = json.loads(file.read_text()) if keep and file.exists() else {"cases": {}, "memory": {}}
    about = {"processor": here.cpu, "vector_bits": here.bits, "threads": THREADS, "peak_gigaflops": round(peak, 1)}
    results |= about | {"versions": {"python": platform.python_version(), **versions()}}
    for case in CASES:
        if chosen(case.label, words):
            found = measure(case, THREADS, say)
            results["cases"][case.label] = described(case, peak, found) | found
            report(case.label, found)
    for number, growth in enumerate(MEMORY):
        if chosen(label := f"memory, {growth.name}", words):
            megabytes = round(memory.measured(number), 1)
            say(f"{label}  {megabytes} MB")
            results["memory"][label] = {
                "case": growth.name,
                "sizes": growth.problem.sizes,
                "matrix_gigabytes": round(4 * math.prod(growth.problem.matrix_shape) / 1e9, 1),
                "megabytes": megabytes,
                "at_most": growth.at_most,
            }
    if not words:
        results["small_call_microseconds"] = round(small_call(), 1)
    if keep:
        measured = results["cases"]
        results["cases"] = {case.label: measured[case.label] for case in CASES if case.label in measured}
        RESULTS.mkdir(exist_ok=True)
        file.write_text(json.dumps(results, indent=2) + "\n")


def chosen(label: str, words: list[str]) -> bool:
    return not words or any(word in label for word in words)


def described(case: Case, peak: float, found: dict[str, Any]) -> dict[str, Any]:
    """The cells of the table that name a case, and its share of the measured peak."""
    problem = case.problem
    row: dict[str, Any] = {"case": case.name, "sizes": problem.sizes}
    if problem == Problem(problem.shape):
        B, H, N, D = problem.shape
        row["of_peak"] = round(4 * B * H * N * N * D / found["ours"]["milliseconds"] / 1e6 / peak, 3)
    return row


def report(name: str, found: dict[str, Any]) -> None:
    say(f"{name}  {found['ours']['milliseconds']} ms  {found['ours']['errors']}")
    for peer in found["peers"]:
        target = "" if peer["target"] is None else f", target {peer['target']}"
        say(f"    {peer['name']} ({peer['way']})  {peer['milliseconds']} ms  {peer['ratio']} x{target}")


def small_call() -> float:
    """Microseconds of one call at (1, 2, 16, 32), from start to end: the median of 2,000."""
    x = np.random.default_rng(0).standard_normal((1, 2, 16, 32), dtype=np.float32)
    times = []
    for _ in range(2000):
        start = time.perf_counter()
        el.attention(x, x, x)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
