"""Rewriting dates: an encoder and a decoder that learn "3rd of March, 2021" → 2021-03-03. `python -m examples.dates`

The Transformer of "Attention Is All You Need" (Vaswani et al., 2017), made small and of Eyeline's layers: the encoder
reads a date letter by letter, in any of sixteen written forms, and the decoder writes it letter by letter, looking at
what it wrote before (masked self-attention) and at what was read (cross-attention). The weights of the latter are
printed at the end: while it writes the year it looks at the year, wherever that stands.

It needs torch, and takes a minute or two on two cores; `--steps` makes it shorter, `--seed` another run. `--save
FOLDER` writes the model's files, as `eyeline explain "3rd of March, 2021" --model FOLDER` takes them, without torch.
The known model "dates" was made so, with the steps and the seed that are usual here.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

import eyeline as el
from examples.written_dates import (
    END,
    FORMS,
    LETTERS,
    NUMBER,
    OTHER,
    PARTS,
    READ,
    START,
    UNKNOWN,
    WRITTEN,
    Example,
    dates,
    write,
)
from eyeline.torch import CrossAttention, SelfAttention

WRITES = [2, 2, 2, 2, OTHER, 1, 1, OTHER, 0, 0]  # the part of the date that each of them belongs to
WIDTH, HEADS, LAYERS, INNER = 64, 4, 2, 128
STEPS, RATE, SEED = 800, 2e-3, 3


@dataclass(frozen=True)
class Batch:
    """The letters to read as numbers, padded, (batch, longest); their lengths; the letters to write, (batch, 11)."""

    letters: Tensor
    lengths: list[int]
    written: Tensor


def gather(examples: Sequence[Example]) -> Batch:
    """A batch of examples."""
    lengths = [len(example.text) for example in examples]
    letters = torch.zeros(len(examples), max(lengths), dtype=torch.long)
    for row, example in zip(letters, examples, strict=True):
        row[: len(example.text)] = torch.tensor([NUMBER[letter] for letter in example.text])
    written = torch.tensor([[*(NUMBER[letter] for letter in example.answer), NUMBER[END]] for example in examples])
    return Batch(letters, lengths, written)


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward layer; each adds to x, and a norm follows."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention, self.attention_norm = SelfAttention(width, heads), nn.LayerNorm(width)
        self.feed_forward, self.output_norm = feed_forward(width), nn.LayerNorm(width)

    def forward(self, x: Tensor, mask: el.Mask) -> Tensor:
        x = self.attention_norm(x + self.attention(x, mask=mask))
        y: Tensor = self.output_norm(x + self.feed_forward(x))
        return y


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the encoder's vectors, and a feed-forward layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention, self.attention_norm = SelfAttention(width, heads, causal=True), nn.LayerNorm(width)
        self.cross, self.cross_norm = CrossAttention(width, heads), nn.LayerNorm(width)
        self.feed_forward, self.output_norm = feed_forward(width), nn.LayerNorm(width)

    def forward(self, x: Tensor, context: Tensor, mask: el.Mask) -> tuple[Tensor, el.Observation]:
        x = self.attention_norm(x + self.attention(x))
        looked, seen = self.cross.observe(x, context, mask=mask, read=() if self.training else el.Weights())
        x = self.cross_norm(x + looked)
        return self.output_norm(x + self.feed_forward(x)), seen


def feed_forward(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, INNER), nn.ReLU(), nn.Linear(INNER, width))


class Rewriter(nn.Module):
    """Reads letters, then writes letters one by one, each from those before it and the letters that it read.

    One matrix holds the letters' embeddings and, transposed, gives the logits. Source: Vaswani et al., section 3.4.
    """

    def __init__(self, width: int = WIDTH, heads: int = HEADS) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), width)
        nn.init.normal_(self.letters.weight, std=width**-0.5)
        self.encoder = nn.ModuleList(EncoderLayer(width, heads) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer(width, heads) for _ in range(LAYERS))
        self.register_buffer("positions", sinusoids(READ, width), persistent=False)

    def embed(self, letters: Tensor) -> Tensor:
        """Embeddings plus positions, (batch, letters, width)."""
        width = self.letters.embedding_dim
        x: Tensor = self.letters(letters) * width**0.5 + self.positions[: letters.shape[1]]
        return x

    def read(self, batch: Batch) -> Tensor:
        """The encoded letters, (batch, letters, width)."""
        x = self.embed(batch.letters)
        for layer in self.encoder:
            x = layer(x, el.Padding(batch.lengths))
        return x

    def write(self, context: Tensor, batch: Batch, before: Tensor) -> tuple[Tensor, el.Observation]:
        """The logits of the letter after each one in `before`, (batch, letters, 70); the last layer's look."""
        x = self.embed(before)
        for layer in self.decoder:
            x, seen = layer(x, context, el.Padding(keys=batch.lengths))
        return x @ self.letters.weight.T, seen

    def forward(self, batch: Batch) -> tuple[Tensor, el.Observation]:
        """The logits of every letter, given the true letters before it."""
        start = torch.full((len(batch.lengths), 1), NUMBER[START])
        return self.write(self.read(batch), batch, torch.cat([start, batch.written[:, :-1]], 1))

    @torch.no_grad()
    def rewrite(self, batch: Batch) -> list[str]:
        """The dates, each letter given the letters that the model wrote before."""
        context = self.read(batch)
        written = torch.full((len(batch.lengths), 1), NUMBER[START])
        for _ in range(WRITTEN):
            logits, _ = self.write(context, batch, written)
            written = torch.cat([written, logits[:, -1:].argmax(-1)], 1)
        return ["".join(LETTERS[number] for number in row).split(END)[0] for row in written[:, 1:].tolist()]


def sinusoids(positions: int, width: int) -> Tensor:
    """The positions' vectors, (positions, width): sines and cosines of 1 to 1/10000 radians a position, by turns."""
    angles = torch.arange(positions)[:, None] * 10_000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


def train(model: Rewriter, days: Sequence[datetime.date], steps: int, seed: int = 0, show: bool = False) -> list[float]:
    """Train on 128 dates a step; returns the loss of each step."""
    chance = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, steps, pct_start=0.1)
    losses = []
    model.train()
    for step in range(steps):
        batch = gather([write(day, chance.randrange(FORMS)) for day in chance.choices(days, k=128)])
        loss = nn.functional.cross_entropy(model(batch)[0].flatten(0, 1), batch.written.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if show and (step + 1) % max(steps // 10, 1) == 0:
            print(f"  step {step + 1} of {steps}: loss {losses[-1]:.4f}", flush=True)
    model.eval()
    return losses


def save(model: Rewriter, folder: Path) -> None:
    """Write the model's files: weights in float16, to which the model's own are rounded first."""
    from safetensors.torch import save_file
    from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import WordLevel

    folder.mkdir(parents=True, exist_ok=True)
    model.load_state_dict({name: weights.half().float() for name, weights in model.state_dict().items()})
    halves = {name: weights.half().contiguous() for name, weights in model.state_dict().items()}
    save_file(halves, folder / "model.safetensors")
    tokenizer = Tokenizer(WordLevel(NUMBER, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")  # every letter by itself
    tokenizer.decoder = decoders.Fuse()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "model_type": "eyeline-encoder-decoder",
        "vocab_size": len(LETTERS),
        "d_model": model.letters.embedding_dim,
        "encoder_layers": LAYERS,
        "decoder_layers": LAYERS,
        "num_attention_heads": model.encoder[0].attention.heads,
        "intermediate_size": INNER,
        "max_position_embeddings": READ,
        "hidden_act": "relu",
        "layer_norm_eps": model.encoder[0].output_norm.eps,
        "decoder_start_token_id": NUMBER[START],
        "eos_token_id": NUMBER[END],
        "max_length": WRITTEN,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


@torch.no_grad()
def looks(model: Rewriter, examples: Sequence[Example]) -> Tensor:
    """The weight of each written letter on each part of the date, (11, 3): means over the examples and heads."""
    batch = gather(examples)
    weights = model(batch)[1].weights.mean(1)  # (batch, 11, letters)
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
    for letter, row, parts in zip(example.answer, weights, shares, strict=False):  # not the end
        shades = "".join(" ░▒▓█"[min(round(float(share) * 5), 4)] for share in row)
        lines.append(f"  {letter} {shades}" + "".join(f"{float(share):>7.0%}" for share in parts))
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description="An encoder and a decoder that learn to rewrite dates.")
    options.add_argument("--steps", type=int, default=STEPS, help="of 128 dates each")
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--save", type=Path, metavar="FOLDER", help="write the model's files there")
    asked = options.parse_args()
    el.set_threads(torch.get_num_threads())
    torch.manual_seed(asked.seed)
    learned, held_out = dates(asked.seed)
    model = Rewriter()
    print(f"learning to rewrite dates, {sum(p.numel() for p in model.parameters()):,} numbers")
    start = time.perf_counter()
    train(model, learned, asked.steps, asked.seed, show=True)
    print(f"  in {time.perf_counter() - start:.0f} s")

    if asked.save is not None:
        save(model, asked.save)
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
