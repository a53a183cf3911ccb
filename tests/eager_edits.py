"""Transformers' eager attention, edited by hand on the whole matrix: what `el.edit` is held against.

A model's own eager function runs, with its softmax caught: changes are made to q, k and v before it, to the scores and
the weights around the softmax, and to the output after it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.models.llama.modeling_llama import repeat_kv

NAME = "by_hand"


@dataclass
class Matrix:
    """One call's tensors: q, k, v (B, H, tokens, width), keys repeated for each query head; scores and weights, (B, H,
    N, M), with a column more for a sink; and the output, (B, N, H, E). Changes write into them. `number` counts the
    module's calls in the block."""

    q: Tensor
    k: Tensor
    v: Tensor
    number: int
    s: Any = None
    w: Any = None
    y: Any = None


@dataclass
class ByHand:
    """What is done at each stage: functions of the `Matrix`."""

    inputs: Callable[[Matrix], None] | None = None
    scores: Callable[[Matrix], None] | None = None
    weights: Callable[[Matrix], None] | None = None
    output: Callable[[Matrix], None] | None = None


@dataclass
class Changed:
    """The changes by module, and each module's last matrix."""

    changes: dict[Any, ByHand] = field(default_factory=dict)
    seen: dict[Any, Matrix] = field(default_factory=dict)


_NOW: list[Changed] = []


def _attend(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any) -> Any:
    change = _NOW[-1].changes.get(module, ByHand())
    group = query.shape[1] // key.shape[1]
    before = _NOW[-1].seen.get(module)
    matrix = Matrix(query, repeat_kv(key, group), repeat_kv(value, group), 0 if before is None else before.number + 1)

    def at(stage: str) -> None:
        function = getattr(change, stage)
        if function is not None:
            function(matrix)

    def softmax(s: Tensor, dim: int, **given: Any) -> Tensor:
        matrix.s = s
        at("scores")
        matrix.w = torch.softmax(matrix.s, dim, **given)
        at("weights")
        return matrix.w

    at("inputs")
    eager = inspect.unwrap(type(module).forward).__globals__["eager_attention_forward"]
    groups = getattr(module, "num_key_value_groups", None)
    try:
        if groups is not None:
            module.num_key_value_groups = 1
        with mock.patch("torch.nn.functional.softmax", softmax):
            output, weights = eager(module, matrix.q, matrix.k, matrix.v, mask, **more)
    finally:
        if groups is not None:
            module.num_key_value_groups = groups
    matrix.y = output
    at("output")
    _NOW[-1].seen[module] = matrix
    return matrix.y.contiguous(), weights


AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, eager_mask)


@contextmanager
def by_hand(model: Any, changes: dict[str, ByHand]) -> Iterator[Changed]:
    """Within the block, a model runs on eager attention with these changes, by path."""
    before = model.config._attn_implementation
    model.set_attn_implementation(NAME)
    _NOW.append(Changed({model.get_submodule(path): change for path, change in changes.items()}))
    try:
        yield _NOW[-1]
    finally:
        _NOW.pop()
        model.set_attn_implementation(before)


def with_heads(x: Tensor, head: int, new: Tensor, axis: int = 1) -> Tensor:
    """A copy with one head replaced, through which gradients go."""
    parts = list(x.unbind(axis))
    parts[head] = new
    return torch.stack(parts, axis)
