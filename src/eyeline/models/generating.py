"""Text generation, token by token, with the attention of each token that chose the next one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import ModelEdits
from eyeline.models.checkpoints import Array
from eyeline.models.decoder import Decoder
from eyeline.models.run import Layer
from eyeline.readouts import Readout
from eyeline.words import worded


@dataclass(frozen=True)
class Step:
    """One generated token.

    Attributes:
        id: the new token.
        probability: its probability among all tokens, before temperature, top_k and top_p.
        layers: the attention in each layer of the token before it, which chose it: q of that token (N = 1), k and v of
            all tokens up to it.
    """

    id: int
    probability: float
    layers: tuple[Layer, ...]


@dataclass(frozen=True)
class Choice:
    """How the next token is chosen: the likeliest, or drawn at random.

    Args:
        temperature: the divisor of the logits; 0 takes the likeliest token.
        top_k: draw only from this many likeliest tokens.
        top_p: draw only from the likeliest tokens that together have this probability, 0 to 1.
        seed: of the draw; a different one each time if not given.

    Raises:
        ValueError: if one of them is out of its range, or given where nothing is drawn.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.temperature) or not 0 <= self.temperature < math.inf:
            raise ValueError(
                worded("temperature must be a number, 0 or more, got {temperature!r}", temperature=self.temperature)
            )
        if self.top_k is not None and (not _is_whole(self.top_k) or self.top_k < 1):
            raise ValueError(worded("top_k must be a whole number, 1 or more, got {top_k!r}", top_k=self.top_k))
        if self.top_p is not None and not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise ValueError(worded("top_p must be a number above 0, at most 1, got {top_p!r}", top_p=self.top_p))
        if self.seed is not None and (not _is_whole(self.seed) or self.seed < 0):
            raise ValueError(worded("seed must be a whole number, 0 or more, got {seed!r}", seed=self.seed))
        given = [name for name in ("top_k", "top_p", "seed") if getattr(self, name) is not None]
        if given and not self.temperature:
            raise ValueError(
                worded(
                    "temperature must be above 0 with {given}, got {temperature!r}; at 0 the likeliest token is "
                    "taken, and nothing drawn",
                    given=f" {worded('and')} ".join(given),
                    temperature=self.temperature,
                )
            )

    def drawer(self) -> np.random.Generator:
        """A new random generator, seeded with `seed`."""
        return np.random.default_rng(self.seed)

    def of(self, logits: Array, drawer: np.random.Generator) -> int:
        """The token chosen from these logits, (vocabulary,)."""
        if not self.temperature:
            return int(logits.argmax())
        order = np.argsort(-logits, kind="stable")[: self.top_k]
        shares = softmax(logits[order] / self.temperature)
        reached = np.cumsum(shares)
        if self.top_p is not None:
            # The likeliest tokens up to and including the one with which their sum reaches top_p.
            reached = reached[: 1 + int(np.searchsorted(reached, self.top_p))]
        place = np.searchsorted(reached, drawer.random() * reached[-1], side="right")
        return int(order[min(int(place), len(reached) - 1)])


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_count(count: int, tokens: int, positions: int, name: str) -> int:
    """Check the number of tokens to generate against the model's positions; the last token needs none."""
    if not _is_whole(count) or count < 1:
        raise ValueError(worded("count must be a whole number, 1 or more, got {count!r}", count=count))
    if tokens + count - 1 > positions:
        raise ValueError(
            worded(
                "count must be at most {positions} after {tokens} tokens, since {name} has {other} "
                "positions, got {count}; ask for fewer, or give it a shorter text",
                positions=positions - tokens + 1,
                tokens=tokens,
                name=name,
                other=positions,
                count=count,
            )
        )
    return int(count)


def softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    """The softmax of logits over the last axis, in float64."""
    scores = np.asarray(logits, np.float64)
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class GenerationPass:
    """Tokens that went through the decoder in one pass, after the earlier ones.

    Attributes:
        ids: the tokens, (1, N).
        layers: each layer's q, lse and state of these tokens, and k and v of all tokens up to the last of them.
        chosen: the next token, chosen by the last of them; None inside the prompt, or after the end.
        probability: the chosen token's probability among all tokens; 0 if there is none.
    """

    ids: NDArray[np.int64]
    layers: tuple[Layer, ...]
    chosen: int | None = None
    probability: float = 0.0


def passes(
    decoder: Decoder,
    ids: NDArray[np.int64],
    count: int,
    choice: Choice,
    ends: frozenset[int],
    read: Sequence[Readout] = (),
    whole: bool = False,
    edits: ModelEdits | None = None,
) -> Iterator[GenerationPass]:
    """Generation, pass by pass: the prompt without its last token, then one token at a time.

    Args:
        decoder: the network.
        ids: the prompt, (1, N).
        count: the most tokens to generate; generation stops after one of `ends`.
        choice: how tokens are chosen.
        ends: the tokens that end a text.
        read: the readouts for passes of one token.
        whole: whether to run the last new token too, so that every token goes through the decoder once.
        edits: what is changed in every pass.
    """

    def run(ids: NDArray[np.int64], read: Sequence[Readout]) -> tuple[Layer, ...]:
        return tuple(decoder.layers(decoder.embed(ids), None, None, read, caches, edits=edits))

    caches, drawer = decoder.caches(), choice.drawer()
    if ids.shape[1] > 1:
        first = ids[:, :-1]
        yield GenerationPass(first, run(first, ()))
    last = ids[:, -1:]
    for _ in range(count):
        layers = run(last, read)
        logits = decoder.logits(layers[-1].state[0, 0])
        chosen = choice.of(logits, drawer)
        yield GenerationPass(last, layers, chosen, float(softmax(logits)[chosen]))
        last = np.array([[chosen]])
        if chosen in ends:
            break
    if whole:
        yield GenerationPass(last, run(last, read))
