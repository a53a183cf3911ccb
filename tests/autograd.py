"""Attention with all that can change its scores and all that can be read of its weights, n × n, in torch and float64:
what autograd says of it is what the backward kernel is held against."""

from __future__ import annotations

import numpy as np
import torch

from eyeline.scores import Added, Called, Capped, Relative, Step


def lots(seed: int, shape: tuple[int, int, int, int]) -> np.ndarray:
    """The dropout generator's numbers, uint32 (B, H, N, M)."""

    def mixed(x):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    b, h, i, j = np.ogrid[tuple(slice(n) for n in shape)]
    row = mixed(np.full((1, 1, 1, 1), seed, np.uint64))
    for place in (b, h, i):
        row = mixed(row + place.astype(np.uint64))
    low, high = row.astype(np.uint32), (row >> np.uint64(32)).astype(np.uint32)
    x = low + j.astype(np.uint32) * np.uint32(0x9E3779B9)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = ((x ^ (x >> np.uint32(15))) + high) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


class Dense:
    """The textbook's tensors: q, k, v, the steps' arrays and the sinks are leaves; the rest follows from them."""

    def __init__(self, q, k, v, allowed, scale, steps: tuple[Step, ...] = (), sinks=None, dropout=0.0, seed=0) -> None:
        def leaf(x):
            return torch.tensor(np.ascontiguousarray(x), dtype=torch.float64, requires_grad=True)

        self.q, self.k, self.v = (leaf(x) for x in (q, k, v))
        self.arrays = [
            leaf(s.table) if isinstance(s, Relative) else leaf(s.bias) if isinstance(s, Added) else None for s in steps
        ]
        self.sinks = None if sinks is None else leaf(sinks)
        (B, H, N, _), M = q.shape, k.shape[2]
        k, v = (x.repeat_interleave(H // x.shape[1], 1) for x in (self.k, self.v))
        s = self.q @ k.mT * scale
        i, j = torch.arange(N)[:, None], torch.arange(M)
        for step, array in zip(steps, self.arrays, strict=True):
            if isinstance(step, Relative):
                s = s + array[:, i - j + M - 1]
            elif isinstance(step, Added):
                s = s + array
            elif isinstance(step, Capped):
                s = step.cap * torch.tanh(s / step.cap)
            elif isinstance(step, Called):
                s = step.function(s, *torch.meshgrid(*map(torch.arange, (B, H, N, M)), indexing="ij"))
        s = s.masked_fill(~torch.from_numpy(np.array(allowed)), -torch.inf)
        sees = torch.from_numpy(allowed.any(axis=3))
        logits = s if self.sinks is None else torch.cat([s, self.sinks[:, None, None].expand(B, H, N, 1)], 3)
        # A row that may look at nothing has lse -inf, and autograd would make NaN of it.
        safe = logits.masked_fill(~sees[..., None], 0.0)
        self.lse = torch.logsumexp(safe, 3)
        self.weights = torch.where(sees[..., None], torch.exp(s - self.lse[..., None]), 0.0)
        kept = self.weights
        if dropout:
            kept = torch.where(torch.from_numpy(lots(seed, s.shape) >= int(dropout * 2**32)), kept / (1 - dropout), 0.0)
        self.output = kept @ v
        positive = self.weights > 0
        self.entropy = -(self.weights * torch.where(positive, self.weights, 1.0).log()).sum(3)
        self.sees = sees
