"""Attention as an operator: PyTorch's own check of it, `torch.compile` without graph breaks, and `torch.export`."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from tensors import HOLES, MASKS, READOUTS, bent, inputs, numbers, odd, parameters, scores, seen

import eyeline as el
from eyeline.torch.operator import attend
from eyeline.torch.spec import Telling, spec


def arguments(mask: str, changes: str, *read: str, portable: bool = False, dropout: float = 0.0):
    telling = Telling()
    seed = telling.seed(dropout, 2**64 - 3 if dropout else None)
    text = spec(
        lead=(2,),
        scale=None,
        mask="null" if MASKS[mask] is None else telling.value(MASKS[mask]),
        changes=[telling.value(score) for score in scores()[changes]],
        dropout=dropout,
        seed=seed,
        read=[telling.value(READOUTS[name]) for name in read],
        portable=portable,
    )
    return *inputs(), telling.parameters, telling.facts, text


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize(
    ("mask", "changes", "read", "dropout"),
    [
        ("none", "none", (), 0.0),
        (
            "joined",
            "all",
            ("top-k", "entropy", "received mean", "mean distance", "group mass", "pooled", "weights"),
            0.3,
        ),
    ],
)
def test_pytorch_finds_no_fault(mask, changes, read, dropout, portable):
    found = torch.library.opcheck(attend, arguments(mask, changes, *read, portable=portable, dropout=dropout))
    assert set(found.values()) == {"SUCCESS"}


def compiled_alike(function, *leaves, backend="aot_eager"):
    """Compiled whole, it has the results and gradients that it has in eager mode."""
    torch._dynamo.reset()
    results = []
    for run in (function, torch.compile(function, fullgraph=True, backend=backend)):
        torch.manual_seed(0)
        found = run(*leaves)
        found = tuple(seen(found).values()) if isinstance(found, el.Observation) else (found,)
        results.append((found, torch.autograd.grad(sum(x.sin().sum() for x in found), leaves, allow_unused=True)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("name", MASKS)
def test_compiled_with_a_mask_from_outside(name):
    compiled_alike(lambda q, k, v: el.attention(q, k, v, mask=MASKS[name]), *inputs())


@pytest.mark.parametrize(
    "make",
    [
        lambda: el.Causal("end"),
        lambda: el.Causal("end") & el.Padding(keys=[2, 5]) | el.Window(1, align="start"),
        lambda: el.Documents([[1, 2], [2, 0]], keys=[[3, 2], [1, 4]]),
        lambda: el.PrefixLM(2, "start"),
        lambda: el.MaskFunction(lambda b, h, i, j: (i + j) % 3 != 0),
        lambda: el.MaskFunction(odd),
    ],
)
def test_compiled_with_a_mask_made_inside(make):
    compiled_alike(lambda q, k, v: el.attention(q, k, v, mask=make()), *inputs())


def test_compiled_with_a_mask_of_data():
    """Booleans may change from run to run without compiling again."""
    torch._dynamo.reset()
    q, k, v = inputs()
    run = torch.compile(
        lambda q, k, v, allowed: el.attention(q, k, v, mask=el.Dense(allowed) & el.Causal("end")),
        fullgraph=True,
        backend="eager",
    )
    with torch.compiler.set_stance("default"):
        first = torch.from_numpy(HOLES)
        assert torch.equal(run(q, k, v, first), el.attention(q, k, v, mask=el.Dense(first) & el.Causal("end")))
    with torch.compiler.set_stance("fail_on_recompile"):
        assert torch.equal(run(q, k, v, ~first), el.attention(q, k, v, mask=el.Dense(~first) & el.Causal("end")))


@pytest.mark.parametrize("name", scores())
def test_compiled_with_scores(name):
    changes = scores()[name]
    compiled_alike(lambda q, k, v, *_: el.attention(q, k, v, scores=changes), *inputs(), *parameters(changes))


def test_compiled_with_a_function():
    compiled_alike(lambda q, k, v: el.attention(q, k, v, scores=bent), *inputs())


@pytest.mark.parametrize("name", READOUTS)
def test_compiled_with_a_readout(name):
    compiled_alike(lambda q, k, v: el.observe(q, k, v, mask=MASKS["joined"], read=READOUTS[name]), *inputs())


def test_compiled_by_inductor():
    def run(q, k, v):
        return el.observe(q * 2, k, v, mask=el.Causal("end"), read=[el.Received(), el.TopK(2)])

    compiled_alike(run, *inputs(), backend="inductor")


def test_compiled_once_for_all_seeds():
    torch._dynamo.reset()
    q, k, v = inputs()
    run = torch.compile(
        lambda q, k, v, seed: el.attention(q, k, v, dropout=0.5, seed=seed), fullgraph=True, backend="eager"
    )
    run(q, k, v, torch.tensor(1))
    with torch.compiler.set_stance("fail_on_recompile"):
        for seed in (2, 3):
            got = run(q, k, v, torch.tensor(seed))
            assert torch.equal(got, el.attention(q, k, v, dropout=0.5, seed=seed))


def test_compiled_once_for_all_places_of_a_chunk():
    torch._dynamo.reset()
    q, k, v = inputs()
    run = torch.compile(
        lambda q, k, v, mask: el.attention(q, k, v, mask=mask.of), fullgraph=True, dynamic=True, backend="eager"
    )
    for align in (0, 1):
        run(q, k, v, SimpleNamespace(of=el.Causal(align)))
    with torch.compiler.set_stance("fail_on_recompile"):
        for align in (2, 3):
            mask = el.Causal(align)
            assert torch.equal(run(q, k, v, SimpleNamespace(of=mask)), el.attention(q, k, v, mask=mask))


def test_compiled_for_any_length():
    torch._dynamo.reset()

    def run(q, k, v):
        return el.attention(q, k, v, mask=el.Window(1), scale=0.5, scores=el.Softcap(2.0))

    compiled = torch.compile(run, fullgraph=True, dynamic=True, backend="aot_eager")
    for length in (3, 7, 12):
        q, k, v = (numbers(1, 2, length, 4, seed=seed) for seed in (1, 2, 3))
        torch.testing.assert_close(compiled(q, k, v), run(q, k, v))
    with torch.compiler.set_stance("fail_on_recompile"):
        q, k, v = (numbers(1, 2, 17, 4, seed=seed) for seed in (1, 2, 3))
        torch.testing.assert_close(compiled(q, k, v), run(q, k, v))


class Looking(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.sinks = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))

    def forward(self, q, k, v):
        mask = MASKS["joined"] & el.Causal("end")
        found = el.observe(q, k, v, mask=mask, scores=el.Sinks(self.sinks), read=el.TopK(2))
        return found.output, found.top_k.keys, found.lse


def test_exported():
    module = Looking()
    given = tuple(x.detach() for x in inputs())
    program = torch.export.export(module, given)
    assert any("eyeline.attend" in str(node.target) for node in program.graph.nodes)
    for got, want in zip(program.module()(*given), module(*given), strict=True):
        assert torch.equal(got, want)


def test_copies_and_functions_of_the_same_code_are_compiled_once():
    from eyeline.torch.functions import name_of, named

    def made(n):
        return lambda b, h, i, j: i - j < n

    assert name_of(made(1)) == name_of(made(1))
    assert name_of(made(1)) != name_of(made(2))
    assert named(name_of(made(2)))(0, 0, 3, 2)
    with pytest.raises(ValueError, match="function must be one that this process has seen, got 'gone#0'"):
        named("gone#0")


def test_eyeline_needs_no_torch():
    code = "import sys, eyeline; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
