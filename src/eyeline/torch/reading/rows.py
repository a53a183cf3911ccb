"""What is read of each row of the weights."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from eyeline.torch.portable_block import Block
from eyeline.torch.reading.reading import Reading


class Entropy(Reading):
    def start(self) -> None:
        self.entropy = self.zeros(self.problem.queries)

    def add(self, block: Block) -> None:
        logs = block.weights.log().masked_fill(block.weights == 0, 0.0)
        self.entropy[:, :, block.rows] = -(block.weights * logs).sum(dim=3)

    def results(self) -> list[Tensor]:
        return [self.entropy]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        slope = -(block.weights.log() + 1).masked_fill(block.weights == 0, -1.0)
        d_weights += self.d[:, :, block.rows, None] * slope


class MeanDistance(Reading):
    def start(self) -> None:
        self.distance = self.zeros(self.problem.queries)

    def _apart(self, block: Block) -> Tensor:
        """How far each key is from each query, (n, m)."""
        positions = self.whole(self.readout.positions(self.problem)[block.rows])
        return (positions[:, None] - self.numbers(block.keys)).abs().to(self.dtype)

    def add(self, block: Block) -> None:
        self.distance[:, :, block.rows] = (block.weights * self._apart(block)).sum(dim=3)

    def results(self) -> list[Tensor]:
        return [self.distance]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        d_weights += self.d[:, :, block.rows, None] * self._apart(block)


class GroupMass(Reading):
    def start(self) -> None:
        self.onto = self.zeros(self.problem.queries, self.readout.count)

    def _labels(self, block: Block) -> Tensor:
        """The label of every key, `count` for none, (B, H, n, m)."""
        groups = self.readout.labels(self.problem)[:, block.keys]
        labels = self.whole(np.where(groups < 0, self.readout.count, groups))[:, None, None]
        return labels.expand(block.weights.shape)

    def add(self, block: Block) -> None:
        sums = self.zeros(block.weights.shape[2], self.readout.count + 1)
        self.onto[:, :, block.rows] = sums.scatter_add_(3, self._labels(block), block.weights)[..., :-1]

    def results(self) -> list[Tensor]:
        return [self.onto]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        d = torch.nn.functional.pad(self.d[:, :, block.rows], (0, 1))
        d_weights += d.gather(3, self._labels(block))


class TopK(Reading):
    count = 2

    def start(self) -> None:
        N, k = self.problem.queries, self.readout.k
        self.weights = self.zeros(N, k)
        self.keys = torch.full_like(self.weights, -1, dtype=torch.int64)
        self.looks_first = True

    def add(self, block: Block) -> None:
        weights = block.weights.masked_fill(block.hidden, -1.0)  # after all that is visible
        some = min(self.readout.k, weights.shape[3])
        most, keys = (x[..., :some] for x in weights.sort(dim=3, descending=True, stable=True))
        self.weights[:, :, block.rows, :some] = most.clamp(min=0.0)
        self.keys[:, :, block.rows, :some] = (keys + block.keys.start).masked_fill(most < 0, -1)

    def results(self) -> list[Tensor]:
        return [self.keys, self.weights]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        keys = self.keys[:, :, block.rows]
        d = self.d[:, :, block.rows].masked_fill(keys < 0, 0.0)
        d_weights.scatter_add_(3, (keys - block.keys.start).clamp(min=0), d)
