"""Measure: `python -m bench`, or `python -m bench WORD ...` for the rows whose names hold one of the words.

Results go to bench/results/, one file per processor, after each row; a row that is measured again replaces its old
result there. `python bench/table.py` makes the README's tables of them.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

import eyeline as el
from bench import memory, small_calls, surveys, whole_models
from bench.cases import CASES, MEMORY, THREADS, Case, Growth
from bench.measure import measure, versions
from bench.problem import Problem
from bench.results_file import PARTS, RESULTS, ResultsFile
from eyeline import kernels
from eyeline.bench.peak import gigaflops
from eyeline.kernels import machine

Row = Callable[[], dict[str, Any]]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="only rows whose names hold one of the words")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; may be given again")
    parser.add_argument("--missing", action="store_true", help="only rows that the results file lacks")
    parser.add_argument("--busy", action="store_true", help="although other programs are running; keeps nothing")
    options = parser.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):  # not every library can be told how many threads to take
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    el.set_threads(THREADS)
    torch.set_num_threads(THREADS)
    peak = gigaflops(THREADS)
    say(f"peak {peak:.0f} GF/s on {THREADS} threads")
    if not options.busy and peak < 0.9 * THREADS * gigaflops(1):
        sys.exit("something else keeps a processor busy; nothing was measured (--busy measures, and keeps nothing)")
    here = machine.target()
    about = {
        "processor": here.cpu,
        "vector_bits": here.bits,
        "threads": THREADS,
        "team": kernels.report()["team of threads"].rsplit("/", 1)[-1],  # the library's name, not its folder
        "peak_gigaflops": round(peak, 1),
        "versions": {"python": platform.python_version(), **versions()},
    }
    file = ResultsFile(None if options.busy else RESULTS / f"{here.cpu}-{here.bits}.json", about)
    for part, rows in parts(peak).items():
        for label, row in rows.items():
            if (
                (not options.part or part in options.part)
                and (not options.words or any(word in label for word in options.words))
                and not (options.missing and file.has(part, label))
            ):
                start = time.perf_counter()
                file.put(part, label, row(), list(rows))
                say(f"    in {time.perf_counter() - start:.0f} s")
                gc.collect()


def parts(peak: float) -> dict[str, dict[str, Row]]:
    """All rows by part and label, each a function that measures it, says what it found, and returns its entry."""
    return {
        "kernels": {case.label: partial(kernel_row, case, peak) for case in CASES},
        "models": {workload.label: partial(model_row, workload) for workload in whole_models.WORKLOADS},
        "calls": {f"a call on {given}": partial(call_row, given) for given in small_calls.TARGETS},
        "memory": {f"memory, {growth.name}": partial(memory_row, number) for number, growth in enumerate(MEMORY)},
        "surveys": {workload.label: partial(survey_row, workload) for workload in surveys.WORKLOADS},
    }


def kernel_row(case: Case, peak: float) -> dict[str, Any]:
    """One case, with its share of the measured peak where nothing is masked."""
    found, problem = measure(case, THREADS, say), case.problem
    say(case.label)
    for kind, ours in found["ours"].items():
        if problem == Problem(problem.shape):
            B, H, N, D = problem.shape
            operations = 4 * B * H * N * N * D
            ours["of_peak"] = {
                way: round(operations / milliseconds / 1e6 / peak, 3)
                for way, milliseconds in ours["milliseconds"].items()
            }
        say(f"    {kind}  {ours['milliseconds']} ms  {ours['errors']}")
    for peer in found["peers"]:
        target = "" if peer["target"] is None else f", target {peer['target']}"
        say(f"    {peer['name']} ({peer['way']})  {peer['milliseconds']} ms  {peer['ratio']} x{target}")
    return {"case": case.name, "sizes": problem.sizes, **found}


def model_row(workload: whole_models.Workload) -> dict[str, Any]:
    found = whole_models.measure(workload)
    say(f"{workload.label}  {found}, target {workload.target}")
    targets = {"target": workload.target, "watched_at_most": whole_models.WATCHED_AT_MOST}
    return {"model": workload.model, "sizes": workload.sizes, **found, **targets}


def call_row(given: str) -> dict[str, Any]:
    found = small_calls.measure(given)
    say(f"a call on {given}  {found['warm']} µs warm, {found['cold']} µs with cold caches")
    return found


def memory_row(number: int) -> dict[str, Any]:
    growth: Growth = MEMORY[number]
    megabytes = round(memory.measured(number), 1)
    say(f"memory, {growth.name}  {megabytes} MB")
    return {
        "case": growth.name,
        "sizes": growth.problem.sizes,
        "matrix_gigabytes": round(4 * math.prod(growth.problem.matrix_shape) / 1e9, 1),
        "megabytes": megabytes,
        "at_most": growth.at_most,
    }


def survey_row(workload: surveys.Workload) -> dict[str, Any]:
    found = surveys.measure(workload)
    say(f"{workload.label}  {found}")
    return found


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
