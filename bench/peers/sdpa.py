"""torch: `scaled_dot_product_attention` on its flash kernel and on plain matrix products."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import eyeline as el
from bench.peers.rules import booleans
from bench.peers.tensors import Tensor, answers, product, solved, tensors
from bench.problem import Arrays, Problem, Way

MATRIX_AT_MOST = 2**30  # bytes: larger matrices make plain products too slow to be the fastest way
_BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    inputs = tensors(problem, arrays)
    backends = dict(_BACKENDS)
    if problem.dropout:
        del backends["flash"]  # it refuses
    elif 4 * math.prod(problem.matrix_shape) > MATRIX_AT_MOST:
        del backends["math"]
    masks: dict[str, dict[str, Any]] = {"": {}}
    if problem.mask is not None:
        masks = {" with booleans": {"attn_mask": booleans(problem)}}
        if problem.mask == el.Causal():
            masks[" with is_causal"] = {"is_causal": True}
    found, before = [], product(problem)
    for backend in backends:
        for said, mask in masks.items():
            forward = _forward(_BACKENDS[backend], inputs, problem, mask)
            found.append(Way(backend + said, solved(forward, inputs, problem.train), answers, before))
    return found


def _forward(backend: SDPBackend, inputs: tuple[Tensor, ...], problem: Problem, mask: dict[str, Any]) -> Any:
    def forward() -> Tensor:
        with sdpa_kernel([backend]):
            return torch.nn.functional.scaled_dot_product_attention(
                *inputs[:3], dropout_p=problem.dropout, enable_gqa=problem.group > 1, **mask
            )

    return forward


def heads_as_rows(problem: Problem, arrays: Arrays) -> list[Way]:
    """Several heads with one query each and shared keys, given as one head with several queries."""
    q, k, v, _ = tensors(problem, arrays)
    B, H, N, D = problem.shape
    assert N == 1

    @torch.no_grad()
    def call() -> tuple[Tensor]:
        rows = q.reshape(B, H // problem.group, problem.group, D)
        return (torch.nn.functional.scaled_dot_product_attention(rows, k, v).reshape(B, H, 1, D),)

    return [Way("flash", call, answers, product(problem))]
