"""A model of one layer that is made up, for surveys' tests: its figures come of the token ids alone, exactly."""

from __future__ import annotations

import os
import re
import signal
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eyeline.models import Tokens
from eyeline.surveys.looks import STRONGEST, Looks
from eyeline.surveys.scales import OFFSET_EDGES

_TOKEN = re.compile(r"\w+|[^\w\s]")
HEADS = 2


@dataclass(frozen=True)
class StubModel:
    """Tokens are words and signs, between [CLS] and [SEP]; each token's weights are whole numbers that two ids give.

    Attributes:
        pause: seconds that each batch takes more.
        stop: a file; where it isn't there, the first process that reads the word "killer" makes it and is killed.
        name: the model's name.
    """

    pause: float = 0.0
    stop: str | None = None
    name: str = "stub"

    layers = 1
    heads = HEADS
    causal = False
    positions = longest = 64
    together = 4096

    @property
    def info(self):
        return {
            "name": self.name, "family": "stub", "layers": 1, "heads": HEADS, "causal": False, "positions": 64,
            "vocabulary_size": 1000, "sha256": f"{zlib.crc32(self.name.encode()):064x}", "source": "made up",
        }  # fmt: skip

    def tokens(self, text):
        found = list(_TOKEN.finditer(text))
        pieces = [one.group() for one in found]
        ids = [zlib.crc32(piece.encode()) % 997 + 3 for piece in pieces]
        special = [True, *[False] * len(found), True]
        return Tokens(
            text, [1, *ids, 2], ["[CLS]", *pieces, "[SEP]"], [(0, 0), *(one.span() for one in found), (0, 0)], special
        )

    def induction(self):
        return 16, np.array([[0.25, 0.5]])

    def looks(self, windows, types, count):
        time.sleep(self.pause)
        if any("broken" in "".join(window.texts) for window in windows):
            raise RuntimeError("this model can't\nread that")
        if any("killer" in "".join(window.texts) for window in windows):
            self.killed()
        yield looks_of([window.ids for window in windows], types, count)

    def killed(self):
        """End this process, as a lack of memory would."""
        if self.stop is not None:
            if Path(self.stop).exists():
                return
            Path(self.stop).touch()
        os.kill(os.getpid(), signal.SIGKILL)


def looks_of(ids, types, count):
    """The looks of texts laid end to end."""
    N, R = sum(map(len, ids)), len(OFFSET_EDGES) - 1
    shape = (HEADS, N)
    entropy, distance, received, weight = (np.zeros(shape, np.float32) for _ in range(4))
    key = np.zeros(shape, np.int64)
    to, offsets = np.zeros((*shape, count), np.float32), np.zeros((*shape, R), np.float32)
    keys, weights = np.full((*shape, STRONGEST), -1), np.zeros((*shape, STRONGEST), np.float32)
    first = 0
    for own in map(np.asarray, ids):
        n = len(own)
        rows = slice(first, first + n)
        w = weights_of(own)
        apart = np.arange(n) - np.arange(n)[:, None]
        ranges = np.searchsorted(OFFSET_EDGES, apart, "right") - 1
        entropy[:, rows] = -(w * np.log(w)).sum(-1)
        distance[:, rows] = (w * abs(apart)).sum(-1)
        received[:, rows] = w.sum(-2)
        order = np.argsort(-w, axis=-1, kind="stable")[..., :STRONGEST]
        found = order.shape[-1]
        keys[:, rows, :found] = order
        weights[:, rows, :found] = np.take_along_axis(w, order, -1)
        for kind in range(count):
            to[:, rows, kind] = (w * (types[rows] == kind)).sum(-1)
        places = (np.arange(HEADS * n)[:, None] * R + np.tile(ranges, (HEADS, 1))).ravel()
        offsets[:, rows] = np.bincount(places, w.ravel(), HEADS * n * R).reshape(HEADS, n, R)
        first += n
    weight[:], key[:] = weights[..., 0], keys[..., 0]
    return Looks(
        entropy, distance, received, weight, key, to, offsets, 0, lambda heads, n: (keys[heads, n], weights[heads, n])
    )


def weights_of(ids):
    """A text's weights, (H, n, n): token i gives its keys shares of (31 i + 17 j + 5 h) mod 7 + 1."""
    marks = 31 * ids[:, None] + 17 * ids + 5 * np.arange(HEADS)[:, None, None]
    shares = (marks % 7 + 1).astype(np.float64)
    return shares / shares.sum(-1, keepdims=True)


def sentences(count, seed=0):
    """Made-up texts of 1 to 200 words."""
    words = re.findall(r"\S+", "time flies like an arrow fruit banana the of 12 Paris , . ; old man boats")
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(words, random.integers(1, 200))) + "." for _ in range(count)]
