"""Recall over a distance: attention beside a GRU of the same size, on the same task. `python examples/recall.py`

A list gives each of many names a value; then some of the names are asked for, and the answer is the value that the name
was given, up to 531 tokens before. The models differ in one layer and train on equally many tokens; their lists begin
with 4 names and grow, up to 500, whenever the model has mastered the current length. Attention looks straight back at
the name, however far it is. A GRU has to carry the whole list in a state of fixed size, one token after the other. The
price is in the last table: in the end, twice the tokens cost attention four times as much, and a GRU twice.

It needs torch, and takes a few minutes on two cores; `--steps` makes it shorter, `--seed` another run.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import eyeline as el
from eyeline.torch import SelfAttention

NAMES, VALUES, ASKED = 500, 10, 32
WIDTH, HEADS = 64, 2
TOKENS = 8192  # of a step
SHORTEST, LONGEST = 4, 500
MASTERED = 0.2  # a loss
LENGTHS = (4, 8, 16, 32, 64, 128, 256, 500)
COSTS = (256, 1024, 4096, 16384)


@dataclass(frozen=True)
class Lists:
    """A batch of lists with their questions after them: (batch, n + asked) tokens.

    Attributes:
        names: the number of each token's name.
        values: the value that the name is given, 0 to 9; 10 where it is asked for.
        answers: (batch, asked), the values to answer.
    """

    names: Tensor
    values: Tensor
    answers: Tensor


def draw(n: int, chance: torch.Generator) -> Lists:
    """Lists of n different names with questions about some of them, about 8,192 tokens in all."""
    asked = min(ASKED, n)
    batch = TOKENS // (n + asked)
    names = torch.rand(batch, NAMES, generator=chance).argsort(1)[:, :n]
    values = torch.randint(VALUES, (batch, n), generator=chance)
    places = torch.rand(batch, n, generator=chance).argsort(1)[:, :asked]
    return Lists(
        torch.cat([names, names.gather(1, places)], 1),
        torch.cat([values, torch.full((batch, asked), VALUES)], 1),
        values.gather(1, places),
    )


class Recurrent(nn.Module):
    """A GRU, from tokens to tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gru = nn.GRU(width, width, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.gru(x)[0]
        return states


class Recaller(nn.Module):
    """Names and values in, one layer over the sequence, and a value for each token out: (batch, tokens, 10)."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.names, self.values = nn.Embedding(NAMES, WIDTH), nn.Embedding(VALUES + 1, WIDTH)
        self.layer = layer
        self.answer = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, VALUES)
        )

    def forward(self, lists: Lists) -> Tensor:
        x = self.names(lists.names) + self.values(lists.values)
        answers: Tensor = self.answer(x + self.layer(x))
        return answers


def attention() -> Recaller:
    return Recaller(SelfAttention(WIDTH, HEADS, causal=True))


def recurrent() -> Recaller:
    return Recaller(Recurrent(WIDTH))


@dataclass
class Course:
    """The length of a model's lists: they grow by a third whenever it has mastered the current length."""

    names: int = SHORTEST
    since: int = 0  # losses before this one were of shorter lists

    def after(self, losses: list[float]) -> None:
        recent = losses[self.since :][-5:]
        if self.names < LONGEST and len(recent) == 5 and statistics.mean(recent) < MASTERED:
            self.names, self.since = min(math.ceil(self.names * 4 / 3), LONGEST), len(losses)


def train(model: Recaller, steps: int, seed: int = 0, show: str = "") -> tuple[list[float], int]:
    """Train; returns the loss of each step, and the length of the last lists."""
    chance = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses: list[float] = []
    course = Course()
    for step in range(steps):
        lists = draw(course.names, chance)
        asked = lists.answers.shape[1]
        loss = nn.functional.cross_entropy(model(lists)[:, -asked:].flatten(0, 1), lists.answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        course.after(losses)
        if show and (step + 1) % max(steps // 10, 1) == 0:
            recent = statistics.mean(losses[-20:])
            print(f"  {show}: step {step + 1} of {steps}, lists of {course.names}, loss {recent:.2f}", flush=True)
    return losses, course.names


@torch.no_grad()
def recall(model: Recaller, names: int, seed: int = 0) -> float:
    """The share of right answers in new lists of `names` names."""
    chance = torch.Generator().manual_seed(seed + 1_000_000)
    right = []
    for _ in range(4):
        lists = draw(names, chance)
        asked = lists.answers.shape[1]
        right.append((model(lists)[:, -asked:].argmax(-1) == lists.answers).float().mean())
    return float(torch.stack(right).mean())


@torch.no_grad()
def cost(layer: nn.Module, tokens: int) -> float:
    """The time of the layer alone over one sequence, in milliseconds: the best of three."""
    x = torch.randn(1, tokens, WIDTH)
    seconds = []
    for _ in range(4):  # the first call loads kernels
        start = time.perf_counter()
        layer(x)
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:]) * 1e3


def main() -> None:
    options = argparse.ArgumentParser(description="Recall over a distance: attention beside a GRU.")
    options.add_argument("--steps", type=int, default=400, help=f"of {TOKENS} tokens each, for either model")
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    el.set_threads(torch.get_num_threads())
    models, came, took = {}, {}, {}
    for name, make in (("attention", attention), ("GRU", recurrent)):
        torch.manual_seed(asked.seed)
        models[name] = make()
        print(f"{name}, a layer of {sum(p.numel() for p in models[name].layer.parameters()):,} numbers, learns")
        start = time.perf_counter()
        came[name] = train(models[name], asked.steps, asked.seed, show=name)[1]
        took[name] = time.perf_counter() - start

    print("\nRight answers, by the names in the list (guessing: 10%)")
    print(row("names", models))
    for names in LENGTHS:
        print(row(names, (f"{recall(model, names, asked.seed):.0%}" for model in models.values())))
    print(row("came to", (f"{names} names" for names in came.values())))
    print(row("took", (f"{seconds:.0f} s" for seconds in took.values())))

    print("\nThe time of the layer alone, forward, over one sequence")
    print(row("tokens", models))
    for tokens in COSTS:
        print(row(tokens, (f"{cost(model.layer, tokens):.2f} ms" for model in models.values())))


def row(first: object, cells: Iterable[str]) -> str:
    return f"  {first!s:>8}" + "".join(f"{cell:>14}" for cell in cells)


if __name__ == "__main__":
    main()
