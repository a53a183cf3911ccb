"""The sums of a block's looks: what `BlockTally` has of them, layer by layer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys.batches import Batch
from eyeline.surveys.looks import Looks
from eyeline.surveys.scales import (
    ENTROPY_EDGES,
    FIRST,
    LARGEST_EDGES,
    NEXT,
    OFFSET_EDGES,
    POSITION_EDGES,
    PREVIOUS,
    PUNCTUATION,
    SAME,
    SPECIAL,
)
from eyeline.surveys.tally import MEASURES, GroupTally, Sums
from eyeline.surveys.token_types import TokenTypes

_SPECIAL, _SINK = MEASURES.index("special"), MEASURES.index("sink")
_POSITIONS = len(POSITION_EDGES)


class DocumentSums:
    """The sums over one document's counted tokens.

    Attributes:
        measures: the sums of each of `MEASURES`, (M, L, H).
        tokens: the number of counted tokens.
        windows: the number of windows.
        sink_tokens: the number of tokens over which the sink is measured.
        special, separator, punctuation: whether it has any such keys; the latter two after a window's first token.
    """

    def __init__(self, layers: int, heads: int) -> None:
        self.measures = np.zeros((len(MEASURES), layers, heads))
        self.tokens = self.windows = self.sink_tokens = 0
        self.special = self.separator = self.punctuation = False

    def means(self) -> dict[str, NDArray[np.float32]]:
        """Each of `MEASURES`, (L, H)."""
        found = {}
        there = {"special": self.special, "separator": self.separator, "punctuation": self.punctuation}
        for name, sums in zip(MEASURES, self.measures, strict=True):
            count = self.sink_tokens if name == "sink" else self.tokens
            found[name] = (sums / count if there.get(name, True) else np.full_like(sums, np.nan)).astype(np.float32)
        return found


class BlockSums:
    """The sums over a block's counted tokens; the attributes are those of `BlockTally`."""

    def __init__(self, layers: int, heads: int, types: TokenTypes) -> None:
        self._shape = layers, heads
        self._types = types
        self.tokens = self.text_tokens = 0
        self.entropy, self.distance, self.entropy_squares, self.special = (np.zeros(self._shape) for _ in range(4))
        self.offsets = np.zeros((*self._shape, len(OFFSET_EDGES) - 1))
        self.entropies, self.largest = (
            np.zeros((*self._shape, len(edges) - 1), np.int64) for edges in (ENTROPY_EDGES, LARGEST_EDGES)
        )
        self.documents: dict[int, DocumentSums] = {}
        self._measures = np.zeros((0, len(MEASURES), *self._shape))  # of a batch's documents
        self._groups = np.zeros((0, *self._shape, 3 + len(types.names)))
        self._group_counts: list[int] = []
        self._group_places: dict[int, int] = {}

    def begin(self, batch: Batch) -> None:
        """Count a batch's tokens, before its layers are added."""
        self.tokens += int(batch.counted.sum())
        self.text_tokens += int((batch.counted & ~batch.special).sum())
        self._begin_documents(batch)
        self._begin_groups(batch)

    def _begin_documents(self, batch: Batch) -> None:
        numbers, starts = batch.documents
        self._measures = np.zeros((len(numbers), len(MEASURES), *self._shape))
        parents = np.array(self._types.parents)[batch.types]
        found = {
            "tokens": batch.counted,
            "sink_tokens": batch.of_sink,
            "windows": batch.positions == 0,
            "special": batch.special,
            "separator": parents == SPECIAL,
            "punctuation": parents == PUNCTUATION,
        }
        counts = {name: np.add.reduceat(flags, starts, dtype=np.int64).tolist() for name, flags in found.items()}
        for place, number in enumerate(numbers):
            known = self.documents.setdefault(number, DocumentSums(*self._shape))
            for name in found:
                before = getattr(known, name)
                setattr(known, name, type(before)(before + counts[name][place]))

    def _begin_groups(self, batch: Batch) -> None:
        places, starts, codes = batch.groups
        counts = np.diff(np.append(starts, len(places))).tolist()
        for code, count in zip(codes.tolist(), counts, strict=True):
            place = self._group_places.setdefault(code, len(self._group_counts))
            if place == len(self._group_counts):
                self._group_counts.append(0)
            self._group_counts[place] += count
        more = len(self._group_counts) - len(self._groups), 3 + batch.count - self._groups.shape[3]
        if any(more):
            self._groups = np.pad(self._groups, [(0, more[0]), (0, 0), (0, 0), (0, more[1])])

    def add(self, layer: int, looks: Looks, batch: Batch) -> None:
        """Add one layer's looks of a batch."""
        measures = self._of_documents(looks, batch)
        self._measures[:, :, layer] = np.moveaxis(measures, 2, 0)
        whole = measures.sum(axis=2)
        self.entropy[layer] += whole[0]
        self.distance[layer] += whole[1]
        self.special[layer] += whole[_SPECIAL]
        places, starts, codes = batch.groups
        entropy, weight, offsets = looks.entropy, looks.weight, looks.offsets
        if not batch.all_counted:
            counted = np.sort(places)
            entropy, weight, offsets = entropy[:, counted], weight[:, counted], offsets[:, counted]
        self.entropy_squares[layer] += np.einsum("hn,hn->h", entropy, entropy, dtype=np.float64)
        ranges = slice(looks.first_range, looks.first_range + offsets.shape[2])
        # Arrays by type or range lie in memory as (H, T, N): sums go along it.
        self.offsets[layer, :, ranges] += np.einsum("hrn->hr", offsets.swapaxes(1, 2), dtype=np.float64)
        self.entropies[layer] += _histogram(entropy, 1 / float(ENTROPY_EDGES[1]), len(ENTROPY_EDGES) - 1)
        self.largest[layer] += _histogram(weight, len(LARGEST_EDGES) - 1, len(LARGEST_EDGES) - 1)
        groups = self._groups[:, layer]
        rows = [self._group_places[code] for code in codes.tolist()]
        for place, numbers in enumerate((looks.entropy, looks.distance, looks.received)):
            groups[rows, :, place] += np.add.reduceat(
                np.take(numbers, places, axis=1), starts, axis=1, dtype=np.float64
            ).T
        to = np.add.reduceat(np.take(looks.to.swapaxes(1, 2), places, axis=2), starts, axis=2, dtype=np.float64)
        groups[rows, :, 3 : 3 + batch.count] += to.transpose(2, 0, 1)

    def end(self, batch: Batch) -> None:
        """Add what was measured of a batch's documents, after its layers were added."""
        for number, sums in zip(batch.documents[0], self._measures, strict=True):
            self.documents[number].measures += sums

    def _of_documents(self, looks: Looks, batch: Batch) -> Sums:
        """The sums of each of `MEASURES` over each document's counted tokens in the batch, (M, H, documents)."""
        starts = batch.documents[1]
        counted = None if batch.all_counted else batch.counted.astype(np.float32)

        def sums(numbers: NDArray[Any], flags: NDArray[Any] | None = counted) -> Sums:
            if flags is not None:
                numbers = numbers * flags
            return np.add.reduceat(numbers, starts, axis=1, dtype=np.float64)

        def shifted(number: int) -> Sums:
            place = number - looks.first_range
            if not 0 <= place < looks.offsets.shape[2]:
                return np.zeros((len(looks.entropy), len(starts)))
            return sums(looks.offsets[:, :, place])

        def on(parent: int) -> NDArray[Any]:
            """The weight on a type of `TYPES`, its parts with labels included, (H, N)."""
            columns = [number for number, its in enumerate(self._types.parents[: batch.count]) if its == parent]
            return looks.to[:, :, parent] if len(columns) == 1 else looks.to[:, :, columns].sum(axis=2)

        on_first = on(FIRST)
        first, special, punctuation = sums(on_first), sums(on(SPECIAL)), sums(on(PUNCTUATION))
        flags = batch.first_special
        first_special = first if flags.all() else sums(on_first * flags)
        found = {
            "entropy": sums(looks.entropy),
            "distance": sums(looks.distance),
            "previous": shifted(PREVIOUS),
            "next": shifted(NEXT),
            "same": shifted(SAME),
            "first": first,
            "special": special + first_special,
            "separator": special,
            "punctuation": punctuation,
            "sink": sums(on_first, batch.of_sink),
        }
        return np.stack([found[name] for name in MEASURES])

    def groups(self) -> dict[tuple[str, int], GroupTally]:
        """The groups, by type and range of positions, in the order of their numbers."""
        found = {}
        names = self._types.names
        for code, place in sorted(self._group_places.items()):
            numbers = self._groups[place]
            to = {name: numbers[:, :, 3 + number] for number, name in enumerate(names) if 3 + number < numbers.shape[2]}
            entropy, distance, received = (numbers[:, :, column] for column in range(3))
            found[names[code // _POSITIONS], code % _POSITIONS] = GroupTally(
                self._group_counts[place], entropy, distance, received, to
            )
        return found


def _histogram(numbers: NDArray[Any], per_unit: float, count: int) -> NDArray[np.int64]:
    """How many of each head's numbers, (H, n), are in each of `count` ranges of equal width from 0 on, (H, count)."""
    H = len(numbers)
    ranges = np.minimum((numbers * np.float32(per_unit)).astype(np.int64), count - 1)
    ranges += np.arange(H)[:, None] * count
    return np.bincount(ranges.ravel(), minlength=H * count).reshape(H, count)
