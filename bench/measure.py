"""Measuring one case: the fastest way of every side, timed turn by turn in two ways and compared with float64."""

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
from bench.cases import TENSORS, Case
from bench.peers import matrix
from bench.problem import Way
from eyeline.bench.turns import after_products, times_as_long, turn_by_turn

TRUTH_AT_MOST = 2**26  # numbers in the float64 matrix, which limits the heads that are compared


def measure(case: Case, threads: int, say: Callable[[str], None]) -> dict[str, Any]:
    """One case's entry of the results file: Eyeline on what the peers get, tensors or arrays, and each peer.

    Times and ratios are measured in two ways, in a model and alone.

    Args:
        case: the case.
        threads: how many threads each side may use.
        say: is called with a line for each peer that is left out.
    """
    problem, arrays = case.problem, case.problem.arrays
    there = {}
    for peer in case.targets:
        try:
            there[peer] = fastest(peers.solver(peer)(problem, arrays))
        except ModuleNotFoundError as missing:
            say(f"{peer} is left out: {missing.name} isn't installed")
    beside = {peer: peers.beside(peer) for peer in there}
    ours = {kind: fastest(peers.solver(kind)(problem, arrays)) for kind in [*beside.values()] or [TENSORS]}
    chosen = ours | there
    heads = problem.group * max(1, min(2, TRUTH_AT_MOST // (problem.group * math.prod(problem.matrix_shape[2:]))))
    truth = matrix.truth(*problem.of_heads(min(heads, problem.shape[1])))
    errors = {
        name: compared(way.answers(way.call()), truth)
        for name, way in chosen.items()
        if name in ours or not problem.dropout  # others drop other weights
    }
    calls, products = ({name: getattr(way, of) for name, way in chosen.items()} for of in ("call", "product"))
    seconds = {
        "in_a_model": after_products(calls, products, case.turns, threads),
        "alone": turn_by_turn(calls, case.turns, threads),
    }

    def side(name: str) -> dict[str, Any]:
        milliseconds = {way: round(statistics.median(times[name]) * 1e3, 4) for way, times in seconds.items()}
        return {"way": chosen[name].name, "milliseconds": milliseconds, "errors": errors.get(name, {})}

    def ratio(peer: str) -> dict[str, float]:
        return {way: round(times_as_long(times[peer], times[beside[peer]]), 3) for way, times in seconds.items()}

    found = [
        {
            "name": peer,
            "beside": beside[peer],
            **side(peer),
            "ratio": ratio(peer),
            "target": None if case.targets[peer] is None else round(case.targets[peer], 3),
        }
        for peer in there
    ]
    return {"ours": {kind: side(kind) for kind in ours}, "peers": found}


def fastest(ways: list[Way]) -> Way:
    """The fastest way, not counting each way's first call, which may compile; those far behind get one turn alone."""
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
    """The root mean square and the largest error of each answer, over the heads that the truth holds.

    Rows in which the truth is NaN, where a query may look at nothing, are left out: libraries differ there.
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
    """The versions of all packages that are measured."""
    names = ("eyeline", "numpy", "numba", "torch", "transformers", "onnxruntime", "jax", "keras")
    metadata = importlib.import_module("importlib.metadata")
    there = {}
    for name in names:
        try:
            there[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return there
