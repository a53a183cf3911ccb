"""Gradients as the textbook has them, n × n, in float64 NumPy; and the kernel's for the same call."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from strategies import Case

from eyeline.kernels import run, run_backward
from eyeline.kernels.attention_spec import AttentionSpec


@dataclass(frozen=True)
class Call:
    """A case with four axes: arrays (B, heads, tokens, width), where queries may look, what the kernel is told."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    allowed: np.ndarray
    setting: AttentionSpec

    @classmethod
    def of(cls, case: Case) -> Call:
        q, k, v = (four_axes(x) for x in (case.q, case.k, case.v))
        scale = 1 / np.sqrt(max(q.shape[3], 1)) if case.scale is None else case.scale
        mask = None if case.mask is None else case.mask.lower(case.problem)
        allowed = case.allowed().reshape(*q.shape[:3], k.shape[2])
        return cls(q, k, v, allowed, AttentionSpec(scale, mask))

    def differentiate(self, d_output: np.ndarray) -> run_backward.Gradients:
        done = run.forward(self.q, self.k, self.v, self.setting)
        return run_backward.backward(
            self.q, self.k, self.v, self.setting, done.output, done.maxima, done.sums, d_output
        )


def four_axes(x: np.ndarray) -> np.ndarray:
    return x[(None,) * (4 - x.ndim)] if x.ndim < 4 else x.reshape(math.prod(x.shape[:-3]), *x.shape[-3:])


def textbook(
    call: Call, d_output: np.ndarray, dtype: type = np.float64
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """dq, dk, dv and the rows' totals by the formulas, computed in `dtype`; and for each, the same sums of absolute
    terms, which say how large its rounding may be."""
    q, k, v, d_output = (x.astype(dtype) for x in (call.q, call.k, call.v, d_output))
    B, H, _, _ = q.shape
    G, M = k.shape[1:3]
    group = H // max(G, 1)
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    scale = dtype(call.setting.scale)
    scores = np.where(call.allowed, q @ k.swapaxes(2, 3) * scale, dtype(-np.inf))
    top = scores.max(axis=3, keepdims=True, initial=-np.inf)
    exponentials = np.exp(scores - np.where(top == -np.inf, 0, top))
    total = exponentials.sum(axis=3, keepdims=True)
    w = exponentials / np.where(total == 0, 1, total)

    def chain(q, k, v, d_output, scale, minus):
        gains = d_output @ v.swapaxes(2, 3)
        totals = (w * gains).sum(axis=3, keepdims=True)
        changes = w * (gains + minus * totals) * scale
        dk, dv = changes.swapaxes(2, 3) @ q, w.swapaxes(2, 3) @ d_output
        shared = (x.reshape(B, G, group, M, x.shape[3]).sum(axis=2) for x in (dk, dv))
        return changes @ k, *shared, totals[..., 0]

    return chain(q, k, v, d_output, scale, -1), chain(*map(np.abs, (q, k, v, d_output, scale)), 1)
