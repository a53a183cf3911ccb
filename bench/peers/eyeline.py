"""Eyeline through its public calls: on NumPy arrays, and on torch tensors for training and half types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray

import eyeline as el
from bench.peers.tensors import answers as torch_answers
from bench.peers.tensors import solved, tensors
from bench.problem import SEED, Arrays, Problem, Way


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    given: dict[str, Any] = {"mask": problem.mask}
    if problem.score is not None:
        given["scores"] = problem.score
    if problem.dropout:
        given |= {"dropout": problem.dropout, "seed": SEED}
    if problem.entropy_penalty:
        return [_penalised(problem, arrays, given)]
    if problem.read:
        read = [el.TopK(8), el.Entropy(), el.Received(), el.MeanDistance()]
        inputs = arrays.q, arrays.k, arrays.v
        return [Way("NumPy", lambda: el.observe(*inputs, read=read, **given), _seen)]
    if problem.train or problem.dtype != "float32":
        inputs = tensors(problem, arrays)
        return [Way("torch", solved(lambda: el.attention(*inputs[:3], **given), inputs, problem.train), torch_answers)]
    return [Way("NumPy", lambda: (el.attention(arrays.q, arrays.k, arrays.v, **given),), torch_answers)]


def output_alone(problem: Problem, arrays: Arrays) -> list[Way]:
    return ways(replace(problem, read=False), arrays)


def _seen(seen: el.Observation) -> dict[str, NDArray[Any]]:
    return {
        "output": seen.output,
        "largest": seen.top_k.weights,
        "entropy": seen.entropy,
        "received": seen.received,
        "distance": seen.mean_distance,
    }


def _penalised(problem: Problem, arrays: Arrays, given: dict[str, Any]) -> Way:
    q, k, v, gradient = tensors(problem, arrays)

    def call() -> tuple[torch.Tensor, ...]:
        seen = el.observe(q, k, v, read=[el.Entropy()], **given)
        loss = (seen.output * gradient).sum() + problem.entropy_penalty * seen.entropy.sum()
        return seen.output, *torch.autograd.grad(loss, (q, k, v))

    return Way("torch", call, torch_answers)
