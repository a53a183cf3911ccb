"""Rewriting dates: an encoder and a decoder that learn "3rd of March, 2021" → 2021-03-03. `python examples/dates.py`

A small Transformer made of Eyeline's layers reads a date letter by letter, in any of seven written forms, and writes it
letter by letter. Every letter that it writes looks at the letters that it read (cross-attention), and these weights are
printed at the end: while it writes the year it looks at the year, wherever that stands.

It needs torch, and takes a minute or two on two cores; `--steps` makes it shorter, `--seed` another run.
"""

from __future__ import annotations

import argparse
import datetime
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import eyeline as el
from eyeline.torch import CrossAttention, SelfAttention

PARTS = ("day", "month", "year")
OTHER = -1
MONTHS = [datetime.date(2000, month, 1).strftime("%B") for month in range(1, 13)]
FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
DIGITS = "0123456789-"
START = len(DIGITS)  # the token before the first digit
WRITTEN = 10  # letters of 2021-03-03
WRITES = [2, 2, 2, 2, OTHER, 1, 1, OTHER, 0, 0]  # the part of the date that each of them belongs to
WIDTH, HEADS = 64, 4
FORMS = 7


@dataclass(frozen=True)
class Example:
    """A date as someone might write it; the part of `PARTS` that each letter belongs to, or -1; and the answer."""

    text: str
    parts: list[int]
    answer: str


def write(day: datetime.date, form: int) -> Example:
    """The date in one of the seven forms.

    >>> write(datetime.date(2021, 3, 4), 6)
    Example(text='04.03.2021', parts=[0, 0, -1, 1, 1, -1, 2, 2, 2, 2], answer='2021-03-04')
    """
    d, m, y = (str(day.day), 0), (MONTHS[day.month - 1], 1), (str(day.year), 2)
    th, short = (ordinal(day.day), 0), (m[0][:3], 1)
    dd, mm = (f"{day.day:02}", 0), (f"{day.month:02}", 1)
    forms: list[list[tuple[str, int] | str]] = [
        [th, " of ", m, ", ", y],
        [m, " ", d, ", ", y],
        [d, " ", short, " ", y],
        [f"{day:%A}, ", d, " ", m, " ", y],
        [short, " ", th, " ", y],
        [y, ", ", m, " ", d],
        [dd, ".", mm, ".", y],
    ]
    pieces = [(piece, OTHER) if isinstance(piece, str) else piece for piece in forms[form % FORMS]]
    text = "".join(letters for letters, _ in pieces)
    return Example(text, [part for letters, part in pieces for _ in letters], day.isoformat())


def ordinal(day: int) -> str:
    """
    >>> ordinal(3), ordinal(11), ordinal(21)
    ('3rd', '11th', '21st')
    """
    ending = "th" if 10 <= day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def dates(seed: int) -> tuple[list[datetime.date], list[datetime.date]]:
    """Two centuries of days in random order: days for training, and 2,000 held-out days."""
    days = [FIRST + datetime.timedelta(number) for number in range((LAST - FIRST).days + 1)]
    random.Random(seed).shuffle(days)
    return days[2000:], days[:2000]


@dataclass(frozen=True)
class Batch:
    """The letters to read as numbers, padded, (batch, longest); their lengths; the digits to write, (batch, 10)."""

    letters: Tensor
    lengths: list[int]
    digits: Tensor


def gather(examples: Sequence[Example]) -> Batch:
    """A batch of examples."""
    lengths = [len(example.text) for example in examples]
    letters = torch.zeros(len(examples), max(lengths), dtype=torch.long)
    for row, example in zip(letters, examples, strict=True):
        row[: len(example.text)] = torch.tensor(list(example.text.encode("ascii")))
    digits = torch.tensor([[DIGITS.index(letter) for letter in example.answer] for example in examples])
    return Batch(letters, lengths, digits)


class Rewriter(nn.Module):
    """Reads letters, then writes digits one by one, each from the digits before it and the letters."""

    def __init__(self, width: int = WIDTH, heads: int = HEADS) -> None:
        super().__init__()
        self.letters, self.digits = nn.Embedding(128, width), nn.Embedding(len(DIGITS) + 1, width)
        self.read_places, self.written_places = nn.Embedding(64, width), nn.Embedding(WRITTEN, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.reading = SelfAttention(width, heads)
        self.writing = SelfAttention(width, heads, causal=True)
        self.looking = CrossAttention(width, heads)
        self.thoughts = nn.ModuleList(thought(width) for _ in range(2))
        self.digit = nn.Linear(width, len(DIGITS))

    def read(self, batch: Batch) -> Tensor:
        """The encoded letters, (batch, letters, width)."""
        x = self.letters(batch.letters) + self.read_places.weight[: batch.letters.shape[1]]
        x = x + self.reading(self.norms[0](x), mask=el.Padding(batch.lengths))
        context: Tensor = self.norms[1](x + self.thoughts[0](x))
        return context

    def write(self, context: Tensor, batch: Batch, before: Tensor) -> tuple[Tensor, el.Observation]:
        """The logits of the digit after each one in `before`, (batch, digits, 11); the observation of the letters."""
        x = self.digits(before) + self.written_places.weight[: before.shape[1]]
        x = x + self.writing(self.norms[2](x))
        read = () if self.training else (el.Weights(),)
        looked, seen = self.looking.observe(self.norms[3](x), context, mask=el.Padding(keys=batch.lengths), read=read)
        x = x + looked
        digits: Tensor = self.digit(x + self.thoughts[1](x))
        return digits, seen

    def forward(self, batch: Batch) -> tuple[Tensor, el.Observation]:
        """The logits of every digit, given the true digits before it."""
        start = torch.full((len(batch.lengths), 1), START)
        return self.write(self.read(batch), batch, torch.cat([start, batch.digits[:, :-1]], 1))

    @torch.no_grad()
    def rewrite(self, batch: Batch) -> list[str]:
        """The dates, each digit given the digits that the model wrote before."""
        context = self.read(batch)
        written = torch.full((len(batch.lengths), 1), START)
        for _ in range(WRITTEN):
            digits, _ = self.write(context, batch, written)
            written = torch.cat([written, digits[:, -1:].argmax(-1)], 1)
        return ["".join(DIGITS[digit] if digit < START else "?" for digit in row) for row in written[:, 1:].tolist()]


def thought(width: int) -> nn.Module:
    """A feed-forward layer."""
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


def train(model: Rewriter, days: Sequence[datetime.date], steps: int, seed: int = 0, show: bool = False) -> list[float]:
    """Train on 128 dates a step; returns the loss of each step."""
    chance = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps, pct_start=0.1)
    losses = []
    model.train()
    for step in range(steps):
        batch = gather([write(day, chance.randrange(FORMS)) for day in chance.choices(days, k=128)])
        loss = nn.functional.cross_entropy(model(batch)[0].flatten(0, 1), batch.digits.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if show and (step + 1) % max(steps // 10, 1) == 0:
            print(f"  step {step + 1} of {steps}: loss {losses[-1]:.4f}", flush=True)
    model.eval()
    return losses


@torch.no_grad()
def looks(model: Rewriter, examples: Sequence[Example]) -> Tensor:
    """The weight of each written letter on each part of the date, (10, 3): means over the examples and heads."""
    batch = gather(examples)
    weights = model(batch)[1].weights.mean(1)  # (batch, 10, letters)
    parts = torch.full(batch.letters.shape, OTHER)
    for row, example in zip(parts, examples, strict=True):
        row[: len(example.parts)] = torch.tensor(example.parts)
    belongs = (parts[..., None] == torch.arange(len(PARTS))).float()
    return (weights @ belongs).mean(0)


@torch.no_grad()
def picture(model: Rewriter, example: Example) -> str:
    """One date in characters: a row for each written letter, shaded by its weights, and its shares."""
    weights = model(gather([example]))[1].weights[0].mean(0)
    shares = looks(model, [example])
    indent = " " * 4
    lines = [f"{indent}{example.text}" + "".join(f"{part:>7}" for part in PARTS)]
    for letter, row, parts in zip(example.answer, weights, shares, strict=True):
        shades = "".join(" ░▒▓█"[min(round(float(share) * 5), 4)] for share in row)
        lines.append(f"  {letter} {shades}" + "".join(f"{float(share):>7.0%}" for share in parts))
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description="An encoder and a decoder that learn to rewrite dates.")
    options.add_argument("--steps", type=int, default=400, help="of 128 dates each")
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    el.set_threads(torch.get_num_threads())
    torch.manual_seed(asked.seed)
    learned, held_out = dates(asked.seed)
    model = Rewriter()
    print(f"learning to rewrite dates, {sum(p.numel() for p in model.parameters()):,} numbers")
    start = time.perf_counter()
    train(model, learned, asked.steps, asked.seed, show=True)
    print(f"  in {time.perf_counter() - start:.0f} s")

    examples = [write(day, number) for number, day in enumerate(held_out)]
    written = model.rewrite(gather(examples))
    right = sum(example.answer == answer for example, answer in zip(examples, written, strict=True))
    print(f"\n{right / len(examples):.1%} of {len(examples)} held-out dates are right, for example")
    for example, answer in list(zip(examples, written, strict=True))[:FORMS]:
        print(f"  {example.text:>28} → {answer}{'' if answer == example.answer else '  (wrong)'}")

    print("\nWhere it looks while it writes each letter (cross-attention, mean of the heads)\n")
    print(picture(model, write(datetime.date(2021, 3, 3), 0)))
    shares = looks(model, examples)
    print(f"\nOver all {len(examples)}, the share of its look that goes to the")
    print(f"{'':>26}" + "".join(f"{part:>7}" for part in PARTS))
    for number, part in reversed(list(enumerate(PARTS))):
        mean = shares[[place for place, belongs in enumerate(WRITES) if belongs == number]].mean(0)
        print(f"{f'while it writes the {part}':>26}" + "".join(f"{float(share):>7.0%}" for share in mean))


if __name__ == "__main__":
    main()
