"""Examples of looks: of each head, those of largest weight, and a uniform sample of tokens, the same for all heads."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys.batches import Batch
from eyeline.surveys.contexts import Contexts
from eyeline.surveys.looks import STRONGEST, Looks, Places
from eyeline.surveys.settings import Settings
from eyeline.surveys.tally import Example
from eyeline.surveys.windows import TextWindow


@dataclass(eq=False)
class KeptLooks:
    """The looks that are kept of one layer, the first K of each of its H heads, (H, K) each.

    Attributes:
        weight: their largest weights; -1 where there is none yet.
        order: their hashes.
        window: the numbers of their windows in the block.
        query, key: the positions in the window of the token and of the key of largest weight.
        keys, weights: the strongest keys and their weights, (H, K, 8).
    """

    weight: NDArray[np.float32]
    order: NDArray[np.uint64]
    window: Places
    query: Places
    key: Places
    keys: Places
    weights: NDArray[np.float32]

    @staticmethod
    def none(heads: int, count: int) -> KeptLooks:
        """Room for `count` looks of each head, all empty."""
        shape = heads, count
        return KeptLooks(
            np.full(shape, -1, np.float32),
            np.full(shape, np.iinfo(np.uint64).max, np.uint64),
            np.full(shape, -1, np.int64),
            np.full(shape, -1, np.int64),
            np.full(shape, -1, np.int64),
            np.full((*shape, STRONGEST), -1, np.int64),
            np.zeros((*shape, STRONGEST), np.float32),
        )

    def replace(self, sources: Places, heads: Places, rows: Places, looks: Looks, batch: Batch, base: int) -> None:
        """Replace some looks by those of a batch.

        Args:
            sources: where each look that is kept now comes from, (H, K): below H · K one that was kept, from there on
                one of the candidates.
            heads, rows: the candidates' heads, and their tokens' places in the batch, (C,).
            looks: the layer's looks in the batch.
            batch: the batch.
            base: the number of its first window in the block.
        """
        size = sources.size
        new = sources >= size
        heads, rows = (numbers[sources[new] - size] for numbers in (heads, rows))
        keys, weights = looks.strongest(heads, rows)
        values = {
            "weight": looks.weight[heads, rows],
            "order": batch.hashes[rows],
            "window": base + batch.window[rows],
            "query": batch.positions[rows],
            "key": looks.key[heads, rows],
            "keys": keys,
            "weights": weights,
        }
        before = np.where(new, 0, sources)
        for field in fields(self):
            known: NDArray[Any] = getattr(self, field.name)
            kept = known.reshape(size, *known.shape[2:])[before]
            kept[new] = values[field.name]
            setattr(self, field.name, kept)


class BlockExamples:
    """The examples of a block. Special tokens as queries are left out; so is, in a causal model, the first token of a
    window, which can only look at itself."""

    def __init__(self, layers: int, heads: int, causal: bool, settings: Settings) -> None:
        self._heads, self._causal = heads, causal
        self._largest = [KeptLooks.none(heads, settings.largest) for _ in range(layers)]
        self._sample = [KeptLooks.none(heads, settings.sample) for _ in range(layers)]
        self._windows: dict[int, TextWindow] = {}
        self._base = 0
        self._rows = self._new = np.zeros(0, np.int64)
        self._order = np.full(settings.sample, np.iinfo(np.uint64).max, np.uint64)
        self._sources = np.arange(settings.sample)

    def begin(self, batch: Batch) -> None:
        """Take a batch's tokens in view, before its layers are added."""
        here = batch.counted & ~batch.special
        if self._causal:
            here &= batch.positions > 0
        self._rows = np.flatnonzero(here)
        self._windows |= {self._base + number: window for number, window in enumerate(batch.windows)}
        # The sample is of the same tokens in all heads and layers.
        hashes = batch.hashes[self._rows]
        count = len(self._order)
        first = np.argsort(hashes, kind="stable")[:count]
        order = np.concatenate([self._order, hashes[first]])
        self._new = self._rows[first]
        self._sources = np.argsort(order, kind="stable")[:count]
        self._order = order[self._sources]

    def add(self, layer: int, looks: Looks, batch: Batch) -> None:
        """Keep the looks of a layer that are among the block's first so far."""
        self._add_largest(self._largest[layer], looks, batch)
        self._add_sample(self._sample[layer], looks, batch)

    def _add_largest(self, kept: KeptLooks, looks: Looks, batch: Batch) -> None:
        (H, K), rows = kept.weight.shape, self._rows
        if not K or not len(rows):
            return
        weights = looks.weight[:, rows]
        least = kept.weight[:, -1]
        if len(rows) > K:
            least = np.maximum(least, np.partition(weights, len(rows) - K, axis=1)[:, len(rows) - K])
        heads, places = np.nonzero(weights >= least[:, None])
        every = np.concatenate([np.repeat(np.arange(H), K), heads])
        weight = np.concatenate([kept.weight.ravel(), weights[heads, places]])
        order = np.concatenate([kept.order.ravel(), batch.hashes[rows[places]]])
        sorted_by = np.lexsort((order, -weight, every))
        counts = np.bincount(every, minlength=H)
        sources = sorted_by[(np.cumsum(counts) - counts)[:, None] + np.arange(K)]
        kept.replace(sources, heads, rows[places], looks, batch, self._base)

    def _add_sample(self, kept: KeptLooks, looks: Looks, batch: Batch) -> None:
        (H, K), count = kept.weight.shape, len(self._new)
        here = np.arange(H)[:, None]
        sources = np.where(self._sources < K, here * K + self._sources, H * K + here * count + self._sources - K)
        kept.replace(sources, np.repeat(np.arange(H), count), np.tile(self._new, H), looks, batch, self._base)

    def end(self, batch: Batch) -> None:
        """Forget the windows that no example needs, after a batch's layers were added."""
        self._base += len(batch.windows)
        used: set[int] = set()
        for kept in (*self._largest, *self._sample):
            used.update(np.unique(kept.window).tolist())
        self._windows = {number: window for number, window in self._windows.items() if number in used}

    def found(self) -> list[Example]:
        """The examples, by layer, head, sort and rank."""
        examples = []
        contexts = Contexts()
        for layer, sorts in enumerate(zip(self._largest, self._sample, strict=True)):
            for head in range(self._heads):
                for sort, kept in zip(("largest", "sample"), sorts, strict=True):
                    examples += self._of_head(layer, head, sort, kept, contexts)
        return examples

    def _of_head(self, layer: int, head: int, sort: str, kept: KeptLooks, contexts: Contexts) -> list[Example]:
        columns = [getattr(kept, field.name)[head].tolist() for field in fields(kept)]
        examples = []
        for weight, order, number, query, key, keys, weights in zip(*columns, strict=True):
            if number < 0:
                continue
            window = self._windows[number]
            document = window.document
            examples.append(
                Example(
                    layer,
                    head,
                    sort,
                    order,
                    weight,
                    document.number,
                    document.file,
                    document.place,
                    window.number,
                    query,
                    key,
                    *contexts.context(window, query, keys, weights),
                )
            )
        return examples
