"""Masks as functions (b, h, i, j) on tensors, as FlexAttention takes them."""

from __future__ import annotations

from collections.abc import Callable

import torch

import eyeline as el
from bench.problem import Problem
from eyeline.masks import And

Rule = Callable[..., torch.Tensor]


def rule(mask: el.Mask, problem: Problem) -> Rule:
    """A function: may query i look at key j? Written by hand for each mask, so that it also checks Eyeline's own."""
    match mask:
        case And(left=left, right=right):
            one, other = rule(left, problem), rule(right, problem)
            return lambda b, h, i, j: one(b, h, i, j) & other(b, h, i, j)
        case el.Causal():
            return lambda b, h, i, j: i >= j
        case el.Window(before=before, after=after):
            return lambda b, h, i, j: (i - j <= before) & (j - i <= after)
        case el.Padding():
            real = torch.tensor(mask.keys, dtype=torch.int32)
            return lambda b, h, i, j: (i < real[b]) & (j < real[b])
        case el.Documents(lengths=(lengths,)):
            count = torch.arange(len(lengths), dtype=torch.int32)
            document = torch.repeat_interleave(count, torch.tensor(lengths))
            return lambda b, h, i, j: document[i] == document[j]
        case el.MaskFunction(function=function):
            return function
    raise NotImplementedError(f"no rule is written for {mask!r}")


def places(problem: Problem) -> tuple[torch.Tensor, ...]:
    """The indices b, h, i and j, which broadcast to (B, H, N, M)."""
    return tuple(
        torch.arange(size).reshape([-1 if axis == place else 1 for axis in range(4)])
        for place, size in enumerate(problem.matrix_shape)
    )


def booleans(problem: Problem) -> torch.Tensor | None:
    """The mask as booleans that broadcast to (B, H, N, M)."""
    return None if problem.mask is None else rule(problem.mask, problem)(*places(problem))
