"""Keras: `ops.dot_product_attention` on torch, its fastest backend here; on JAX it took twice as long."""

from __future__ import annotations

import os

import torch

import eyeline as el
from bench.peers.tensors import array, product, tensors
from bench.problem import Arrays, Problem, Way

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras


def ways(problem: Problem, arrays: Arrays) -> list[Way]:
    if problem.mask not in (None, el.Causal()):
        raise NotImplementedError(f"nothing is written in Keras for {problem.mask!r}")
    by_token = [x.transpose(1, 2).contiguous() for x in tensors(problem, arrays)[:3]]

    @torch.no_grad()
    def call() -> torch.Tensor:
        return keras.ops.dot_product_attention(*by_token, is_causal=problem.mask is not None)

    return [Way("torch", call, lambda y: {"output": array(y.transpose(1, 2))}, product(problem))]
