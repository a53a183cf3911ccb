"""The benchmarks, on problems so small that their times say nothing: all sides answer alike, and the table says it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import eyeline as el
from eyeline import reference

pytest.importorskip("torch")
from bench import cases, peers, table
from bench.measure import compared, measure
from bench.peers import matrix, rules
from bench.problem import Problem

MASKS = [
    el.Causal(),
    el.Causal() & el.Window(before=3, after=0),
    el.Window(2),
    el.Lengths([5, 9]),
    el.Documents([4, 1, 6]),
    el.Where(cases.near_and_every_64th),
]


@pytest.mark.parametrize("mask", MASKS, ids=repr)
def test_the_peers_are_told_the_same_mask(mask):
    problem = Problem((2, 3, 11, 8), mask=mask)
    found = np.broadcast_to(rules.booleans(problem).numpy(), problem.matrix_shape)
    np.testing.assert_array_equal(found, mask.dense(11, batch=2, heads=3))


@pytest.mark.parametrize("mask", [None, *MASKS[:5]], ids=repr)
def test_the_truth_is_the_reference(mask):
    problem = Problem((2, 4, 11, 8), key_heads=2, mask=mask, read=True)
    truth = matrix.truth(problem, problem.arrays)
    arrays = problem.arrays
    steps = reference.steps(arrays.q, arrays.k, arrays.v, mask=mask)
    seen = np.isfinite(truth["output"])
    np.testing.assert_allclose(truth["output"][seen], steps.output[seen], rtol=1e-12, atol=1e-14)
    if seen.all():
        np.testing.assert_allclose(truth["received"], steps.weights.sum(axis=-2), rtol=1e-12, atol=1e-14)


SOLVED = [
    ("torch SDPA", Problem((1, 4, 17, 8), mask=el.Causal())),
    ("torch SDPA", Problem((1, 4, 17, 8), mask=el.Documents([5, 12]), train=True)),
    ("torch SDPA", Problem((1, 4, 1, 8), keys=33, key_heads=2)),
    ("torch SDPA, heads as rows", Problem((1, 4, 1, 8), keys=33, key_heads=2)),
    ("torch, the matrix", Problem((1, 4, 17, 8), mask=el.Causal(), read=True)),
    ("torch, the matrix", Problem((1, 4, 17, 8), score=cases.nearer_by_head, train=True, entropy_penalty=0.1)),
    ("ONNX Runtime", Problem((1, 4, 17, 8))),
    ("ONNX Runtime", Problem((1, 4, 17, 8), mask=el.Causal())),
    ("JAX", Problem((1, 4, 17, 8), mask=el.Causal())),
    ("Keras", Problem((1, 4, 17, 8), mask=el.Causal())),
    ("Eyeline, the output alone", Problem((1, 4, 17, 8), mask=el.Causal())),
]


@pytest.mark.filterwarnings("default")  # what other libraries warn of when they are imported is theirs
@pytest.mark.parametrize(("peer", "problem"), SOLVED, ids=str)
def test_every_way_of_a_peer_solves_the_problem(peer, problem):
    try:
        ways = peers.solver(peer)(problem, problem.arrays)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{missing.name} isn't installed")
    truth = matrix.truth(problem, problem.arrays)
    for way in ways:
        errors = compared(way.answers(way.call()), truth)
        assert "output" in errors
        assert ("dq" in errors) == problem.train
        for name, error in errors.items():
            assert error["largest"] < 1e-5, (way.name, name)


def test_all_that_is_measured_is_named_once_and_has_someone_beside_it():
    labels = [case.label for case in cases.CASES]
    assert len(set(labels)) == len(labels)
    for case in cases.CASES:
        assert case.at_least
        assert set(case.at_least) <= set(peers._PLACES)


def test_a_case_is_measured_and_stands_in_the_table():
    case = cases.Case("forward", Problem((1, 2, 9, 8), mask=el.Causal()), {cases.TORCH: 1.2, cases.MATRIX: None}, 2)
    found = measure(case, 1, print)
    assert [rival["name"] for rival in found["rivals"]] == [cases.TORCH, cases.MATRIX]
    assert found["ours"]["errors"]["output"]["largest"] < 1e-6
    assert all(rival["ratio"] > 0 and rival["errors"]["output"]["largest"] < 1e-6 for rival in found["rivals"])
    first, second = table.rows({"case": case.name, "sizes": case.problem.sizes} | json.loads(json.dumps(found)))
    assert first.startswith("| forward | 1, 2, 9, 8 | ")
    assert "| torch SDPA |" in first
    assert first.endswith(" | 1.2 × |")
    assert second.startswith("|  |  |  |  | torch, the matrix | ")
    assert second.endswith("** |  |")


def test_a_peer_that_is_missing_is_left_out_and_said_so(monkeypatch):
    def missing(peer):
        raise ModuleNotFoundError("No module named 'jax'", name="jax")

    monkeypatch.setattr(peers, "solver", missing)
    said = []
    found = measure(cases.Case("forward", Problem((1, 1, 4, 4)), {cases.JAX: 1.2}, 1), 1, said.append)
    assert found["rivals"] == []
    assert said == ["JAX is left out: jax isn't installed"]
