"""One case: every side's fastest way, timed turn by turn and held against float64."""

from __future__ import annotations

import importlib
import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import peers
from bench.cases import OURS, Case
from bench.peers import matrix
from bench.problem import Way
from eyeline.bench.turns import times_as_long, turn_by_turn

TRUTH_AT_MOST = 2**26  # numbers in the float64 matrix: the truth is had of so many heads


def measure(case: Case, threads: int, say: Callable[[str], None]) -> dict[str, Any]:
    """What the results file holds of a case.

    Args:
        case: what to measure.
        threads: how many threads each side may use.
        say: hears what is left out, and why.
    """
    problem, arrays = case.problem, case.problem.arrays
    chosen = {}
    for peer in (OURS, *case.at_least):
        try:
            chosen[peer] = fastest(peers.solver(peer)(problem, arrays))
        except ModuleNotFoundError as missing:
            say(f"{peer} is left out: {missing.name} isn't installed")
    heads = problem.group * max(1, min(2, TRUTH_AT_MOST // (problem.group * math.prod(problem.matrix_shape[2:]))))
    truth = matrix.truth(*problem.of_heads(min(heads, problem.shape[1])))
    errors = {
        name: compared(way.answers(way.call()), truth)
        for name, way in chosen.items()
        if name == OURS or not problem.dropout  # others drop other weights
    }
    seconds = turn_by_turn({name: way.call for name, way in chosen.items()}, case.turns, threads)

    def side(name: str) -> dict[str, Any]:
        milliseconds = round(statistics.median(seconds[name]) * 1e3, 3)
        return {"way": chosen[name].name, "milliseconds": milliseconds, "errors": errors.get(name, {})}

    rivals = [
        {
            "name": peer,
            **side(peer),
            "ratio": round(times_as_long(seconds[peer], seconds[OURS]), 3),
            "at_least": None if case.at_least[peer] is None else round(case.at_least[peer], 3),
        }
        for peer in case.at_least
        if peer in chosen
    ]
    return {"ours": side(OURS), "rivals": rivals}


def fastest(ways: list[Way]) -> Way:
    """The way that is fastest after its first call, which may compile; those far behind get one turn alone."""
    best, least = ways[0], math.inf
    for way in ways if len(ways) > 1 else []:
        way.call()
        seconds = math.inf
        for _ in range(3):
            start = time.perf_counter()
            way.call()
            seconds = min(seconds, time.perf_counter() - start)
            if seconds > 1.5 * least:
                break
        if seconds < least:
            best, least = way, seconds
    return best


def compared(answers: dict[str, NDArray[Any]], truth: dict[str, NDArray[Any]]) -> dict[str, dict[str, float]]:
    """Each answer's root mean square and largest error, in the heads of which the truth is known.

    Where the truth is NaN, in rows that may look at nothing, nothing is compared: libraries differ there.
    """
    found = {}
    for name, answer in answers.items():
        true = truth[name]
        error = (np.asarray(answer, np.float64)[:, : true.shape[1]] - true)[np.isfinite(true)]
        found[name] = {
            "rms": float(f"{np.sqrt((error**2).mean()):.1e}"),
            "largest": float(f"{np.abs(error).max():.1e}"),
        }
    return found


def versions() -> dict[str, str]:
    """Of all that was measured."""
    names = ("eyeline", "numpy", "numba", "torch", "onnxruntime", "jax", "keras")
    metadata = importlib.import_module("importlib.metadata")
    there = {}
    for name in names:
        try:
            there[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return there
