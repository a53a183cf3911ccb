"""How each library solves a problem: one file per library, whose function `ways` returns its ways, ready to run.

A library may have several ways (backends, layouts, block sizes); the fastest one is compared with Eyeline.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from bench import cases
from bench.problem import Arrays, Problem, Way

Solver = Callable[[Problem, Arrays], list[Way]]

_PLACES = {
    cases.TORCH: "sdpa.ways",
    cases.ROWS: "sdpa.heads_as_rows",
    cases.FLEX: "flex.ways",
    cases.MATRIX: "matrix.ways",
    cases.ONNX: "onnx.ways",
    cases.JAX: "jax.ways",
    cases.KERAS: "keras.ways",
    cases.TENSORS: "eyeline.on_tensors",
    cases.ARRAYS: "eyeline.on_arrays",
    cases.ALONE: "eyeline.output_alone",
    cases.SUMMED: "summed.ways",
}


def beside(peer: str) -> str:
    """What Eyeline is called with beside a peer: what the peer gets, `cases.TENSORS` or `cases.ARRAYS`."""
    return cases.ARRAYS if peer in (cases.ONNX, cases.JAX) else cases.TENSORS


def solver(peer: str) -> Solver:
    """The `ways` of a peer, or of Eyeline on tensors or arrays.

    Raises:
        ModuleNotFoundError: if the peer isn't installed.
    """
    module, _, function = _PLACES[peer].partition(".")
    found: Solver = getattr(import_module(f"bench.peers.{module}"), function)
    return found
