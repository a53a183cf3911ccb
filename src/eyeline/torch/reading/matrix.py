"""What is read over all queries, and a part of the matrix itself."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eyeline.torch.portable_block import Block
from eyeline.torch.reading.reading import Reading


class Received(Reading):
    def start(self) -> None:
        self.received = self.zeros(self.problem.keys)
        self.at = torch.full_like(self.received, -1, dtype=torch.int64)
        self.looking = torch.zeros(self.problem.shape[:3], dtype=torch.bool, device=self.device)
        self.looks_first = self.readout.reduce != "sum"
        self.count = 2 if self.readout.reduce == "mean" else 1

    def add(self, block: Block) -> None:
        if not block.weights.numel():
            return
        if self.readout.reduce == "max":
            most, before = block.weights.amax(dim=2), self.received[..., block.keys]
            first = block.rows.start + (block.weights == most[:, :, None]).to(torch.uint8).argmax(dim=2)
            self.at[..., block.keys] = torch.where(most > before, first, self.at[..., block.keys])
            self.received[..., block.keys] = torch.maximum(before, most)
        else:
            self.received[..., block.keys] += block.weights.sum(dim=2)
            self.looking[:, :, block.rows] = ~block.hidden.all(dim=3)

    def _lookers(self) -> Tensor:
        """How many queries may look at anything, (B, H, 1)."""
        return self.looking.sum(dim=2).clamp(min=1)[..., None]

    def results(self) -> list[Tensor]:
        if self.readout.reduce == "mean":
            return [self.looking, self.received / self._lookers()]
        return [self.received]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        d = self.d / self._lookers() if self.readout.reduce == "mean" else self.d
        d = d[:, :, None, block.keys]
        if self.readout.reduce == "max":
            d = torch.where(self.at[:, :, None, block.keys] == self.numbers(block.rows)[:, None], d, 0.0)
        d_weights += d


class Weights(Reading):
    def start(self) -> None:
        N, M = (operator.index(n) for n in (self.problem.queries, self.problem.keys))
        self.queries, self.keys = self.readout.rows(N), self.readout.columns(M)
        self.weights = self.zeros(len(self.queries), len(self.keys))

    @staticmethod
    def _inside(chosen: Any, some: slice) -> tuple[Any, Any]:
        """Which of the chosen queries or keys are among some, and where."""
        inside = np.flatnonzero((chosen >= some.start) & (chosen < some.stop))
        return inside, chosen[inside] - some.start

    def add(self, block: Block) -> None:
        rows, at_row = map(self.whole, self._inside(self.queries, block.rows))
        columns, at_column = map(self.whole, self._inside(self.keys, block.keys))
        self.weights[:, :, rows[:, None], columns] = block.weights[:, :, at_row[:, None], at_column]

    def results(self) -> list[Tensor]:
        return [self.weights]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        rows, at_row = map(self.whole, self._inside(self.queries, block.rows))
        columns, at_column = map(self.whole, self._inside(self.keys, block.keys))
        across = self.zeros(len(rows), d_weights.shape[3])
        across.index_add_(3, at_column, self.d[:, :, rows[:, None], columns])
        d_weights.index_add_(2, at_row, across)


class Pooled(Reading):
    def start(self) -> None:
        N, M = self.problem.queries, self.problem.keys
        self.shape = min(self.readout.rows, N), min(self.readout.columns, M)
        self.bins = self.zeros(*self.shape)
        self.at = torch.full_like(self.bins, -1, dtype=torch.int64)
        self.looks_first = self.readout.reduce == "max"

    def _bins(self, which: int) -> Any:
        """The bin of each query (0) or key (1)."""
        tokens, bins = self.problem.shape[2 + which], self.shape[which]
        edges = np.arange(bins + 1) * tokens // max(bins, 1)
        return np.repeat(np.arange(bins), np.diff(edges))

    def _places(self, block: Block) -> tuple[Tensor, Tensor]:
        """The bins of a block's queries and keys."""
        return self.whole(self._bins(0)[block.rows]), self.whole(self._bins(1)[block.keys])

    def add(self, block: Block) -> None:
        if not block.weights.numel():
            return
        rows, columns = self._places(block)
        if self.readout.reduce == "mean":
            across = self.zeros(len(rows), self.shape[1]).index_add_(3, columns, block.weights)
            self.bins.index_add_(2, rows, across)
            return
        most = _pooled(self.bins, block.weights, rows, columns, "amax", 0.0)
        greater = most > self.bins
        self.bins = torch.maximum(self.bins, most)
        cells, never = self._cells(block), self.problem.queries * self.problem.keys
        attaining = torch.where(block.weights == self.bins[:, :, rows][..., columns], cells, never)
        first = _pooled(self.at, attaining, rows, columns, "amin", never)
        self.at = torch.where(greater, first, self.at)

    def _cells(self, block: Block) -> Tensor:
        """The number of every cell, i·M + j, (B, H, n, m)."""
        i, j = self.numbers(block.rows), self.numbers(block.keys)
        return (i[:, None] * self.problem.keys + j).expand(block.weights.shape)

    def _sizes(self) -> Tensor:
        """How many cells each bin has."""
        return self.whole(np.outer(*(np.bincount(self._bins(which), minlength=self.shape[which]) for which in (0, 1))))

    def _pixels(self, which: int) -> Tensor:
        """The bin that each pixel of the picture shows."""
        pixels, bins = (self.readout.rows, self.readout.columns)[which], self.shape[which]
        return self.whole(np.arange(pixels) * bins // pixels)

    def blank(self) -> list[Tensor]:
        return [self.zeros(self.readout.rows, self.readout.columns)]

    def results(self) -> list[Tensor]:
        if not self.bins.numel():
            return self.blank()
        bins = self.bins / self._sizes() if self.readout.reduce == "mean" else self.bins
        return [bins[:, :, self._pixels(0)][..., self._pixels(1)].contiguous()]

    def pull(self, block: Block, d_weights: Tensor) -> None:
        d = self.zeros(self.readout.rows, self.shape[1]).index_add_(3, self._pixels(1), self.d)
        d = self.zeros(*self.shape).index_add_(2, self._pixels(0), d)
        if self.readout.reduce == "mean":
            d = d / self._sizes()
        rows, columns = self._places(block)
        d = d[:, :, rows][..., columns]
        if self.readout.reduce == "max":
            d = torch.where(self.at[:, :, rows][..., columns] == self._cells(block), d, 0.0)
        d_weights += d


def _pooled(bins: Tensor, x: Tensor, rows: Tensor, columns: Tensor, reduce: str, empty: float) -> Tensor:
    """The largest or smallest of x (B, H, n, M) in each bin, of `bins`' shape; `empty` where there is none."""
    B, H, n, _ = x.shape
    across = x.new_full((B, H, n, bins.shape[3]), empty)
    across.scatter_reduce_(3, columns.expand(x.shape), x, reduce)
    return x.new_full(bins.shape, empty).scatter_reduce_(2, rows[:, None].expand(across.shape), across, reduce)
