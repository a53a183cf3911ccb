"""Eyeline through its public calls: on torch tensors beside peers that get tensors, on NumPy arrays beside others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray

import eyeline as el
from bench.peers.tensors import answers as torch_answers
from bench.peers.tensors import array, product, solved, tensors
from bench.problem import SEED, Arrays, Problem, Way
from eyeline.bench.products import array_product

READ = [el.TopK(8), el.Entropy(), el.Received(), el.MeanDistance()]


def on_tensors(problem: Problem, arrays: Arrays) -> list[Way]:
    given, inputs = _given(problem), tensors(problem, arrays)
    if problem.entropy_penalty:
        return [_penalised(problem, inputs, given)]
    if problem.read:
        return [Way("torch", lambda: el.observe(*inputs[:3], read=READ, **given), _seen, product(problem))]
    call = solved(lambda: el.attention(*inputs[:3], **given), inputs, problem.train)
    return [Way("torch", call, torch_answers, product(problem))]


def on_arrays(problem: Problem, arrays: Arrays) -> list[Way]:
    """Without gradients, in float32."""
    given, inputs, before = _given(problem), (arrays.q, arrays.k, arrays.v), array_product(*problem.projection)
    if problem.read:
        return [Way("NumPy", lambda: el.observe(*inputs, read=READ, **given), _seen, before)]
    return [Way("NumPy", lambda: (el.attention(*inputs, **given),), torch_answers, before)]


def output_alone(problem: Problem, arrays: Arrays) -> list[Way]:
    return on_tensors(replace(problem, read=False), arrays)


def _given(problem: Problem) -> dict[str, Any]:
    given: dict[str, Any] = {"mask": problem.mask}
    if problem.score is not None:
        given["scores"] = problem.score
    if problem.dropout:
        given |= {"dropout": problem.dropout, "seed": SEED}
    return given


def _seen(seen: Any) -> dict[str, NDArray[Any]]:
    found = {
        "output": seen.output,
        "largest": seen.top_k.weights,
        "entropy": seen.entropy,
        "received": seen.received,
        "distance": seen.mean_distance,
    }
    return {name: array(x) for name, x in found.items()}


def _penalised(problem: Problem, inputs: tuple[torch.Tensor, ...], given: dict[str, Any]) -> Way:
    q, k, v, gradient = inputs

    def call() -> tuple[torch.Tensor, ...]:
        seen = el.observe(q, k, v, read=[el.Entropy()], **given)
        loss = (seen.output * gradient).sum() + problem.entropy_penalty * seen.entropy.sum()
        return seen.output, *torch.autograd.grad(loss, (q, k, v))

    return Way("torch", call, torch_answers, product(problem))
