"""The benchmarks, on problems so small that their times say nothing: all sides answer alike, and the table says it."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest
import torch

import eyeline as el
from bench import cases, peers, table, whole_models
from bench.measure import compared, measure
from bench.peers import matrix, rules
from bench.problem import Problem
from eyeline import reference
from eyeline.bench import growth, peak, products, short, turns
from eyeline.masks import Causal, Window
from eyeline.views import kept_growth
from eyeline.views.page import Page


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No time is spent on letting threads fall asleep, on keeping processors awake, or on finding what they can do."""
    monkeypatch.setattr(turns, "BETWEEN", 10)
    monkeypatch.setattr(turns, "PATIENCE", 0)
    monkeypatch.setattr(peak, "ROUNDS", 1000)


MASKS = [
    el.Causal(),
    el.Causal() & el.Window(before=3, after=0),
    el.Window(2),
    el.Padding([5, 9]),
    el.Documents([4, 1, 6]),
    el.MaskFunction(cases.near_and_every_64th),
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
    ("Eyeline on tensors", Problem((1, 4, 17, 8), mask=el.Causal(), dropout=0.2, train=True)),
    ("Eyeline on tensors", Problem((1, 4, 17, 8), score=cases.nearer_by_head, train=True, entropy_penalty=0.1)),
    ("Eyeline on tensors", Problem((1, 4, 17, 8), mask=el.Documents([5, 12]), read=True)),
    ("Eyeline on arrays", Problem((1, 4, 17, 8), mask=el.Causal())),
    ("Eyeline on arrays", Problem((1, 4, 17, 8), mask=el.Documents([5, 12]), read=True)),
    ("Eyeline, the output alone", Problem((1, 4, 17, 8), mask=el.Causal(), read=True)),
]


@pytest.mark.filterwarnings("default")  # what other libraries warn of when they are imported is theirs
# Without functions' addresses: every process that runs tests has to call them the same.
@pytest.mark.parametrize(("peer", "problem"), SOLVED, ids=lambda side: re.sub(r" at 0x\w+", "", str(side)))
def test_every_way_of_a_peer_solves_the_problem(peer, problem):
    try:
        ways = peers.solver(peer)(problem, problem.arrays)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{missing.name} isn't installed")
    truth = matrix.truth(problem, problem.arrays)
    for way in ways:
        way.product()  # may come between any two calls
        errors = compared(way.answers(way.call()), truth)
        assert "output" in errors
        assert ("dq" in errors) == problem.train
        for name, error in errors.items():
            assert error["largest"] < 1e-5, (way.name, name)


def test_all_that_is_measured_is_named_once_and_has_someone_beside_it():
    labels = [case.label for case in cases.CASES]
    assert len(set(labels)) == len(labels)
    for case in cases.CASES:
        assert case.targets
        assert set(case.targets) <= set(peers._PLACES)
        given = [peers.beside(peer) for peer in case.targets]
        assert given == sorted(given, reverse=True)  # tensors, then arrays: the table shows our time once for each
    labels = [workload.label for workload in whole_models.WORKLOADS]
    assert len(set(labels)) == len(labels)


def test_a_side_is_timed_right_after_its_own_product():
    happened = []
    sides = {name: lambda name=name: happened.append(f"{name} attends") for name in ("ours", "theirs")}
    before = {name: lambda name=name: happened.append(f"{name} multiplies") for name in sides}
    seconds = turns.after_products(sides, before, turns=2, threads=1)
    assert {name: len(times) for name, times in seconds.items()} == {"ours": 2, "theirs": 2}
    ours, theirs = ([f"{name} multiplies", f"{name} attends"] for name in sides)
    assert happened == [*ours, *theirs, *theirs, *ours]
    happened.clear()
    turns.turn_by_turn(sides, turns=1, threads=1)
    turns.back_to_back(sides, turns=1)
    assert happened == ["ours attends", "theirs attends"] * 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says which threads run")
def test_a_turn_waits_for_threads_that_spin(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", 60)
    states = [False, False, True, False, True]
    monkeypatch.setattr(turns, "_others_run", states.pop)
    turns._rest(1)  # until nothing runs twice in a row: it asks for these five, no fewer and no more
    assert states == []


def test_the_product_is_the_projection_to_the_values():
    problem = Problem((2, 4, 3, 8), key_heads=2)
    assert problem.projection == (6, 32, 16)
    assert short.Task("decoding", 4, 1, 8, keys=16, key_heads=2).projection == (1, 32, 16)
    assert products.array_product(*problem.projection)().shape == (6, 16)
    made = products.torch_product(*problem.projection, "bfloat16")()
    assert (made.shape, made.dtype, made.requires_grad) == ((6, 16), torch.bfloat16, False)


def test_a_case_is_measured_in_both_ways_and_stands_in_the_table(monkeypatch):
    happened = []
    for name in ("after_products", "turn_by_turn"):
        real = getattr(turns, name)
        monkeypatch.setattr(
            f"bench.measure.{name}", lambda *given, name=name, real=real: happened.append(name) or real(*given)
        )
    case = cases.Case("forward", Problem((1, 2, 9, 8), mask=el.Causal()), {cases.TORCH: 1.2, cases.MATRIX: None}, 2)
    found = measure(case, 1, print)
    assert happened == ["after_products", "turn_by_turn"]
    assert list(found["ours"]) == [cases.TENSORS]
    assert [peer["name"] for peer in found["peers"]] == [cases.TORCH, cases.MATRIX]
    for side in (*found["ours"].values(), *found["peers"]):
        assert side["errors"]["output"]["largest"] < 1e-6
        assert all(side["milliseconds"][way] > 0 for way in ("in_a_model", "alone"))
    assert all(peer["ratio"][way] > 0 for peer in found["peers"] for way in ("in_a_model", "alone"))
    first, second = table.case_rows({"case": case.name, "sizes": case.problem.sizes} | json.loads(json.dumps(found)))
    assert first.startswith("| forward | 1, 2, 9, 8 | ")
    assert "| torch SDPA: " in first
    assert first.endswith(" | 1.2 × |")
    assert second.startswith("|  |  |  | torch, the matrix: ")
    assert second.endswith(" × |  |")


def test_our_call_gets_what_the_peer_gets(monkeypatch):
    solver = peers.solver
    monkeypatch.setattr(peers, "solver", lambda peer: solver(cases.TORCH if peer == cases.ONNX else peer))
    case = cases.Case("forward", Problem((1, 2, 9, 8)), {cases.TORCH: 1.2, cases.ONNX: None}, 1)
    found = measure(case, 1, print)
    assert {kind: side["way"] for kind, side in found["ours"].items()} == {
        cases.TENSORS: "torch",
        cases.ARRAYS: "NumPy",
    }
    assert [peer["beside"] for peer in found["peers"]] == [cases.TENSORS, cases.ARRAYS]
    first, second = table.case_rows({"case": "forward", "sizes": "", **found})
    assert all(re.search(r"\| [\d.]+ ms, \d", row) for row in (first, second))  # each beside our own time


def test_a_peer_that_is_missing_is_left_out_and_said_so(monkeypatch):
    solver = peers.solver

    def missing(peer):
        if peer != cases.JAX:
            return solver(peer)
        raise ModuleNotFoundError("No module named 'jax'", name="jax")

    monkeypatch.setattr(peers, "solver", missing)
    said = []
    found = measure(cases.Case("forward", Problem((1, 1, 4, 4)), {cases.JAX: 1.2}, 1), 1, said.append)
    assert found["peers"] == []
    assert said == ["JAX is left out: jax isn't installed"]


TINY = [
    short.Task("forward", 2, 16, 8),
    short.Task("causal", 2, 16, 8, mask=Causal()),
    short.Task("the last 4", 2, 16, 8, mask=Causal() & Window(before=3, after=0)),
    short.Task("read", 2, 16, 8, read=True),
    short.Task("decoding", 4, 1, 8, keys=16, key_heads=2),
]


@pytest.mark.parametrize("installed", [True, False])
def test_the_command_prints_a_line_for_each_task(say, monkeypatch, installed):
    monkeypatch.setattr(short, "TASKS", TINY)
    if not installed:
        monkeypatch.setattr(short, "find_spec", lambda name: None)
    code, out, err = say("bench")
    assert code == 0
    assert f"measuring decoding, 5 of {len(TINY)}" in err
    head, lines = (part.splitlines() for part in out.split("\n\n"))
    names, *rows = lines
    assert ("beside torch" in head[0]) == installed
    assert ["in a model" in names, "alone" in names] == [True, True]
    assert ("torch" in names, "of peak" in names) == (installed, not installed)
    assert [row.split("  ")[0] for row in rows] == [task.name for task in TINY]
    assert all(re.search(r"[\d.]+ × +[\d.]+ ×$", row) for row in rows) == installed  # the ratios of both ways
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize("task", TINY, ids=lambda task: task.name)
def test_what_is_measured_is_right(task):
    here = short.surroundings()
    found = short.measured(task, here, turns=2)
    assert found.ours.seconds.in_a_model > 0
    assert found.ours.seconds.alone > 0
    assert found.ours.error < 1e-6
    assert found.torch.error < 1e-6
    assert (found.of_peak is None) == (task.name != "forward")


def test_growth_is_drawn_in_the_terminal_and_to_a_file(say, monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "SHORTEST", 8)
    monkeypatch.setattr(kept_growth, "path", lambda: tmp_path / "growth.json")
    picture = tmp_path / "growth.png"
    code, out, err = say("bench", "growth", "--longest", "40", "--figure", str(picture))
    assert code == 0
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert [line.split()[1] for line in err.splitlines() if line.startswith("measuring")] == ["8", "16", "32"]
    assert "● attention" in out
    assert "○ a GRU (torch)" in out
    assert "From 16 to 32 tokens, attention took" in " ".join(out.split())
    assert "kept: the tab Cost of pages" in err
    entry = kept_growth.kept()
    assert (entry["heads"], entry["head_dim"], entry["recurrent"]["name"]) == (8, 64, "a GRU (torch)")
    assert [tokens for tokens, _ in entry["attention"]["points"]] == [8, 16, 32]
    assert Page([]).header()["growth"] == entry


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": "eyeline.growth/1"}', '{"schema": "eyeline.growth/2"}', "\udcff"]
    + [
        json.dumps(
            {"schema": "eyeline.growth/1", "recurrent": {"points": [[1, 1], [2, 2]]}, "attention": {"points": wrong}}
        )
        for wrong in (
            None,
            [],
            [[1, 1]],
            [[1, 1], [2, 0]],
            [[1, 1], [2, "x"]],
            [[1, 1], [2]],
            [1, 2],
            [[1, 1], [True, 1]],
        )
    ],
)
def test_a_growth_file_that_can_t_be_read_is_none(monkeypatch, tmp_path, text):
    monkeypatch.setattr(kept_growth, "path", lambda: tmp_path / "growth.json")
    assert kept_growth.kept() is None
    (tmp_path / "growth.json").write_text(text, "utf-8", errors="surrogateescape")
    assert kept_growth.kept() is None


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["growth", "--longest", "5"], "--longest must be from 512 to 131072 tokens, got 5"),
        (["growth", "--figure", "a.pdf"], "--figure must be a file name that ends in .png, got 'a.pdf'"),
        (["growth", "--figure", "no/such/a.png"], "--figure must be in a folder that exists, got 'no/such/a.png'"),
        (["shrinkage"], "there is no command shrinkage; `eyeline bench -h` lists them"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_measured(say, arguments, line):
    code, out, err = say("bench", *arguments)
    assert (code, out) == (2, "")
    assert err == f"eyeline: {line}\n"


def test_ctrl_c_leaves_what_was_measured(say, monkeypatch):
    def interrupted(task, here):
        if task is not TINY[0]:
            raise KeyboardInterrupt
        return short.Measured(task.name, task.sizes, short.Timing(short.BothWays(1e-3, 1e-3), 1e-8), None, None, None)

    monkeypatch.setattr(short, "TASKS", TINY)
    monkeypatch.setattr(short, "measured", interrupted)
    code, out, _ = say("bench")
    assert code == 130
    assert out.splitlines()[-1].split()[:2] == ["forward", "2,"]


def test_the_gru_in_numpy_is_torchs():
    torch.manual_seed(0)
    layer = torch.nn.GRU(6, 6, bias=False).double()
    x = torch.randn(9, 6, dtype=torch.float64)
    with torch.no_grad():
        want = layer(x)[0].numpy()
        inner, outer = layer.weight_ih_l0.T.numpy(), layer.weight_hh_l0.T.numpy()
    np.testing.assert_allclose(growth.gru(x.numpy(), inner, outer), want, atol=1e-14)


def test_memory_counts_what_a_call_takes():
    taken = growth.megabytes(lambda: np.ones(8 * 2**20))
    assert taken is None or 63 < taken < 120  # 64, and whatever else the process took meanwhile
