"""FlexAttention of torch, compiled, with its block mask."""

from __future__ import annotations

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from bench.peers.rules import rule
from bench.peers.tensors import answers, product, solved, tensors
from bench.problem import Arrays, Problem, Way

torch._dynamo.config.recompile_limit = 64  # beyond it, torch would run without compiling


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    """One way per block size. The block mask is made beforehand and isn't timed."""
    inputs = tensors(problem, arrays)
    B, _, N, M = problem.matrix_shape
    found, before = [], product(problem)
    for block in (64, 128):
        compiled = torch.compile(flex_attention, dynamic=False)
        mask = None
        if problem.mask is not None:
            mask = create_block_mask(
                rule(problem.mask, problem), B if B > 1 else None, None, N, M, device="cpu", BLOCK_SIZE=block
            )

        def forward(compiled=compiled, mask=mask):
            return compiled(*inputs[:3], block_mask=mask, score_mod=problem.score, enable_gqa=problem.group > 1)

        found.append(Way(f"blocks of {block}", solved(forward, inputs, problem.train), answers, before))
        if mask is None:
            break
    return found
