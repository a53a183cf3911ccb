"""A problem's arrays as torch tensors, and torch's results as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bench.problem import Arrays, Problem
from eyeline.bench.products import torch_product

Tensor = torch.Tensor


def tensors(problem: Problem, arrays: Arrays, dtype: torch.dtype | None = None) -> tuple[Tensor, ...]:
    """q, k and v, which require gradients where the problem trains, and the gradient of the output."""
    chosen = getattr(torch, problem.dtype) if dtype is None else dtype
    found = [torch.from_numpy(x).to(chosen) for x in (arrays.q, arrays.k, arrays.v, arrays.gradient)]
    return *(x.requires_grad_(problem.train) for x in found[:3]), found[3]


def solved(forward: Callable[[], Tensor], inputs: tuple[Tensor, ...], train: bool) -> Callable[[], tuple[Tensor, ...]]:
    """A call of the forward pass without a graph, or of both passes; the output's gradient is the last input."""
    if not train:
        forward = torch.no_grad()(forward)
        return lambda: (forward(),)

    def both() -> tuple[Tensor, ...]:
        output = forward()
        return output, *torch.autograd.grad(output, inputs[:3], inputs[3])

    return both


def product(problem: Problem) -> Callable[[], object]:
    """The projection before attention, in torch's threads."""
    return torch_product(*problem.projection, problem.dtype)


def answers(found: tuple[Tensor, ...]) -> dict[str, NDArray[Any]]:
    """The output, and the gradients if there are any."""
    return {name: array(x) for name, x in zip(("output", "dq", "dk", "dv"), found, strict=False)}


def array(x: Tensor | NDArray[Any]) -> NDArray[Any]:
    """The tensor as an array; half types as float32, since NumPy lacks bfloat16."""
    if isinstance(x, np.ndarray):
        return x
    x = x.detach()
    return (x.float() if x.dtype in (torch.float16, torch.bfloat16) else x).numpy()
