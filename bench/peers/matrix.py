"""The formula in torch with the whole matrix of weights, as people write it who want more than the output.

In float64 it is also the truth that every side is compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray

from bench.peers import tensors as arrays_of
from bench.peers.rules import booleans, places
from bench.peers.tensors import Tensor, product, tensors
from bench.problem import SEED, Arrays, Problem, Way
from eyeline import dropout, masks

Softmax = Callable[[Tensor], tuple[Tensor, Tensor]]


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    before = product(problem)
    return [
        Way("softmax", solver(problem, tensors(problem, arrays), _softmax), answers, before),
        Way("log_softmax", solver(problem, tensors(problem, arrays), _log_softmax), answers, before),
    ]


def truth(problem: Problem, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """All answers in float64 from the rounded inputs; NaN in rows that may look at nothing.

    Dropout is Eyeline's: which weights another library drops can't be known.
    """
    rounded = [x.detach().double().requires_grad_(problem.train) for x in tensors(problem, arrays)]
    kept = None
    if problem.dropout:
        _, H, N, M = problem.matrix_shape
        which = dropout.kept(SEED, problem.dropout, masks.AttentionShape(problem.shape[:1], H, N, M))
        kept = torch.from_numpy(which) / (1 - problem.dropout)
    return answers(solver(problem, tuple(rounded), _log_softmax, kept)())


def _softmax(s: Tensor) -> tuple[Tensor, Tensor]:
    weights = s.softmax(-1)
    return weights, -torch.special.xlogy(weights, weights).sum(-1)


def _log_softmax(s: Tensor) -> tuple[Tensor, Tensor]:
    logs = s.log_softmax(-1)
    weights = logs.exp()
    return weights, -(weights * logs.clamp(min=torch.finfo(s.dtype).min)).sum(-1)


def solver(
    problem: Problem, inputs: tuple[Tensor, ...], softmax: Softmax, kept: Tensor | None = None
) -> Callable[[], dict[str, Tensor]]:
    """A function that computes every answer wanted. `kept` are factors of the weights in place of dropout."""
    q, k, v, gradient = inputs
    allowed = booleans(problem)
    _, _, i, j = places(problem)
    distances = (i - j).abs()[0, 0].to(q.dtype)

    def call() -> dict[str, Tensor]:
        keys, values = (x.repeat_interleave(problem.group, 1) if problem.group > 1 else x for x in (k, v))
        s = q @ keys.transpose(-1, -2) / q.shape[-1] ** 0.5
        if problem.score is not None:
            s = problem.score(s, *places(problem))
        if allowed is not None:
            s = s.masked_fill(~allowed, -torch.inf)
        weights, entropy = softmax(s)
        left = torch.dropout(weights, problem.dropout, problem.dropout > 0) if kept is None else weights * kept
        found = {"output": left @ values}
        if problem.read:
            found["largest"] = weights.topk(8).values
            found["entropy"] = entropy
            found["received"] = weights.sum(-2)
            found["distance"] = torch.einsum("bhij,ij->bhi", weights, distances)
        if problem.train:
            loss = (found["output"] * gradient).sum() + problem.entropy_penalty * entropy.sum()
            found |= zip(("dq", "dk", "dv"), torch.autograd.grad(loss, (q, k, v)), strict=True)
        return found

    return call if problem.train else torch.no_grad()(call)


def answers(found: dict[str, Tensor]) -> dict[str, NDArray[Any]]:
    return {name: arrays_of.array(x) for name, x in found.items()}
