"""The cases that are measured, with their peers and targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

import eyeline as el
from bench.problem import Problem

THREADS = 2
TENSORS, ARRAYS = "Eyeline on tensors", "Eyeline on arrays"
TORCH, FLEX, MATRIX = "torch SDPA", "FlexAttention", "torch, the matrix"
ONNX, JAX, KERAS = "ONNX Runtime", "JAX", "Keras"
ALONE, SUMMED, ROWS = "Eyeline, the output alone", "summing the arrays", "torch SDPA, heads as rows"


@dataclass(frozen=True)
class Case:
    """A problem, the peers that solve it beside us, and the targets.

    Attributes:
        name: its name in the table.
        problem: the problem.
        targets: for each peer, the least ratio of its time to ours, in a model, that we aim at; None where there is no
            target. Peers that get the same as each other stand together.
        turns: how often each side is timed in each of the two ways.
    """

    name: str
    problem: Problem
    targets: dict[str, float | None] = field(default_factory=dict)
    turns: int = 9

    @property
    def label(self) -> str:
        """The name and the sizes, which together no other case has."""
        return f"{self.name} ({self.problem.sizes})"


def lengths() -> list[int]:
    """The lengths of a padded batch."""
    return [int(n) for n in np.random.default_rng(0).integers(32, 513, 32)]


def documents(count: int, total: int) -> list[int]:
    """The lengths of `count` documents, cut at random places."""
    cuts = np.random.default_rng(0).choice(np.arange(1, total), count - 1, replace=False)
    return [int(b - a) for a, b in pairwise([0, *np.sort(cuts), total])]


def near_and_every_64th(b, h, i, j):
    return (i >= j) & ((i - j < 256) | (j % 64 == 0))


def nearer_by_head(score, b, h, i, j):
    return score - 0.01 * (h + 1) * abs(i - j)


CAUSAL = el.Causal()
LAST_256 = el.Causal() & el.Window(before=255, after=0)

FORWARD = [
    Case("forward", Problem((1, 12, 64, 32)), {TORCH: 1.0}, turns=25),
    Case("forward", Problem((8, 12, 128, 64)), {TORCH: 1.4}, turns=25),
    Case("forward", Problem((1, 12, 512, 64)), {TORCH: 1.2, KERAS: 1.2, ONNX: 1.15, JAX: 1.2}, turns=25),
    Case("forward", Problem((1, 12, 512, 32)), {TORCH: 1.2}, turns=25),
    Case("forward", Problem((1, 12, 2048, 64)), {TORCH: 1.15, KERAS: 1.2, ONNX: 1.2, JAX: 1.2}),
    Case("forward", Problem((1, 8, 8192, 64)), {TORCH: 1.15}, turns=3),
    Case("forward", Problem((1, 8, 2048, 128)), {TORCH: 1.1}),
    Case(
        "forward, causal",
        Problem((1, 12, 512, 64), mask=CAUSAL),
        {TORCH: 1.9, KERAS: 1.2, ONNX: 1.2, JAX: 1.2},
        turns=25,
    ),
    Case("forward, causal", Problem((1, 12, 2048, 64), mask=CAUSAL), {TORCH: 1.4, KERAS: 1.2, ONNX: 1.2, JAX: 1.2}),
    Case("forward, bfloat16", Problem((1, 12, 2048, 64), dtype="bfloat16"), {TORCH: 1.0}),
    Case("forward, float16", Problem((1, 12, 2048, 64), dtype="float16"), {TORCH: 1.4}),
]
MASKED = [
    Case("the last 256 tokens", Problem((1, 12, 8192, 64), mask=LAST_256), {TORCH: 20}, turns=3),
    Case("the last 256 tokens", Problem((1, 4, 4096, 64), mask=LAST_256), {FLEX: 2.5}),
    Case("32 padded sentences", Problem((32, 12, 512, 64), mask=el.Padding(lengths())), {TORCH: 2.5}, turns=7),
    Case(
        "16 packed documents",
        Problem((1, 12, 8192, 64), mask=el.Documents(documents(16, 8192))),
        {FLEX: 2.5, TORCH: 10},
        turns=5,
    ),
    Case("a user's mask", Problem((1, 12, 2048, 64), mask=el.MaskFunction(near_and_every_64th)), {FLEX: 2}),
    Case("a user's score", Problem((1, 12, 2048, 64), score=nearer_by_head), {FLEX: 2}),
    Case("a user's score, causal", Problem((1, 12, 2048, 64), mask=CAUSAL, score=nearer_by_head), {FLEX: 2}),
]
TRAINING = [
    Case("training", Problem((1, 12, 512, 64), train=True), {TORCH: 1.2}, turns=15),
    Case("training", Problem((1, 4, 2048, 64), train=True), {TORCH: 1.2}),
    Case("training, causal", Problem((1, 12, 512, 64), mask=CAUSAL, train=True), {TORCH: 1.4}, turns=15),
    Case("training, causal", Problem((1, 4, 2048, 64), mask=CAUSAL, train=True), {TORCH: 1.4}),
    Case("training, dropout", Problem((1, 12, 1024, 64), dropout=0.1, train=True), {TORCH: 3}, turns=9),
    Case(
        "training, entropy penalty",
        Problem((1, 12, 1024, 64), train=True, entropy_penalty=0.01),
        {MATRIX: 3},
        turns=9,
    ),
]
READ = [
    Case("output and four readouts", Problem((1, 12, 2048, 64), read=True), {MATRIX: 6, ALONE: 1 / 1.35}, turns=9),
]
DECODING = [
    Case(
        "decoding",
        Problem((1, 32, 1, 128), keys=32768, key_heads=8),
        {TORCH: 4, ROWS: None, SUMMED: 0.7},
        turns=15,
    ),
]
CASES = FORWARD + MASKED + TRAINING + READ + DECODING


@dataclass(frozen=True)
class Growth:
    """A problem, and by how many megabytes at most the process may grow beyond inputs and results."""

    name: str
    problem: Problem
    at_most: float


MEMORY = [
    Growth("forward", Problem((1, 12, 16384, 64)), 64),
    Growth("output and four readouts", Problem((1, 12, 16384, 64), read=True), 200),
]
