"""Eyeline's own models as a survey needs them: windows packed into one sequence, without padding."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.induction import induction_of
from eyeline.models import Layer, Tokens
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.checkpoints import shards_of, weights_file
from eyeline.models.decoder import Decoder
from eyeline.models.encoder import Encoder
from eyeline.models.packing import TOGETHER, PackedTexts
from eyeline.readouts import Entropy, GroupMass, MeanDistance, OffsetMass, Readout, Received, TopK
from eyeline.surveys.looks import STRONGEST, Looks, Numbers, Places
from eyeline.surveys.scales import OFFSET_EDGES, SAME
from eyeline.surveys.windows import TextWindow
from eyeline.traces.own_model import OwnModel


class OwnSurveyModel:
    """One of Eyeline's encoders or decoders, as a `SurveyModel`."""

    longest = 8192
    together = TOGETHER

    def __init__(self, model: OwnModel) -> None:
        self._model = model
        config = model.model.config
        self.layers, self.heads, self.causal = config.layers, config.heads, config.causal
        self.positions: int | None = config.positions

    @cached_property
    def info(self) -> dict[str, Any]:
        """What survey.json says of the model."""
        model = self._model.model
        known = CATALOGUE.get(model.name)
        return {
            "name": model.name,
            "family": model.config.model_type,
            "layers": self.layers,
            "heads": self.heads,
            "causal": self.causal,
            "positions": self.positions,
            "vocabulary_size": model.config.vocabulary_size,
            "sha256": weights_hash(model.source),
            "source": str(model.source) if known is None else known.requirement,
        }

    def tokens(self, text: str) -> Tokens:
        """The whole text's tokens."""
        return self._model.model.tokens(text)

    def induction(self) -> tuple[int, NDArray[np.float64]] | None:
        """The result of the test of induction."""
        found = induction_of(self._model, self._model.read("a"))
        return None if found is None else (found.length, found.scores)

    def looks(self, windows: Sequence[TextWindow], types: NDArray[np.int64], count: int) -> Iterator[Looks]:
        """Run the model over some windows, packed into one sequence; see `SurveyModel.looks`."""
        packed = PackedTexts([window.ids for window in windows])
        first, last = _ranges(int(packed.lengths.max()) - 1, self.causal)
        offsets = OffsetMass(OFFSET_EDGES[first : last + 1].tolist())
        # The keys of the other strongest weights are looked for where they are needed: of few rows.
        read = (Entropy(), MeanDistance(), GroupMass(types, count), offsets, Received("sum"), TopK(1))
        starts = np.repeat(packed.starts, packed.lengths)
        lasts = starts + np.repeat(packed.lengths, packed.lengths)
        rows = np.arange(len(starts))
        for layer, span in self._layers(packed, read):
            seen = starts, rows + 1 if self.causal else lasts
            if span is not None:
                seen = np.maximum(starts, rows + 1 - span), rows + 1
            yield _looks(layer, starts, seen, first)

    def _layers(self, packed: PackedTexts, read: Sequence[Readout]) -> Iterator[tuple[Layer, int | None]]:
        """Each layer, and how many keys up to itself a token may look at, if that is limited."""
        network = self._model.model.network
        if isinstance(network, Encoder):
            for layer in network.in_place(network.embed(packed.ids, packed.positions), packed.mask, read):
                assert layer is not None
                yield layer, None
            return
        assert isinstance(network, Decoder)
        running = network.layers(network.embed(packed.ids), packed.mask, None, read, positions=packed.positions)
        for block, layer in zip(network.blocks, running, strict=True):
            yield layer, block.window


def weights_hash(folder: Path) -> str:
    """The sha256 of a model's weights file; of a sharded checkpoint, of its files' names and hashes."""
    path = weights_file(folder)
    if path.suffix != ".json":
        return _hash(path)
    lines = (f"{file.name} {_hash(file)}\n" for file in sorted(shards_of(path)))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _hash(path: Path) -> str:
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _ranges(reach: int, causal: bool) -> tuple[int, int]:
    """The ranges of `OFFSET_EDGES`, [first, last), that windows reach whose offsets are at most `reach`."""
    first, last = np.searchsorted(OFFSET_EDGES, [-reach, reach], side="right") - 1
    return int(first), SAME + 1 if causal else int(last) + 1


def _looks(layer: Layer, starts: Places, seen: tuple[Places, Places], first_range: int) -> Looks:
    """A layer's looks.

    Args:
        layer: the layer, of one packed sequence.
        starts: the first place of each token's window, (N,).
        seen: the first place that each token may look at, and the one after the last, (N,).
        first_range: as in `Looks`.
    """
    read = layer.seen

    def strongest(heads: Places, queries: Places) -> tuple[Places, Numbers]:
        return strongest_keys(layer, heads, queries, seen, starts)

    return Looks(
        read.entropy[0],
        read.mean_distance[0],
        read.received[0],
        read.top_k.weights[0, :, :, 0],
        read.top_k.keys[0, :, :, 0] - starts,
        read.group_mass[0],
        read.offset_mass[0],
        first_range,
        strongest,
    )


def strongest_keys(
    layer: Layer, heads: Places, queries: Places, seen: tuple[Places, Places], starts: Places
) -> tuple[Places, Numbers]:
    """The keys of the 8 largest weights of some queries, exp(scale · q·k - lse), and these weights, (P, 8) each.

    Args:
        layer: the layer, of one packed sequence.
        heads, queries: of each look its head and its query's place, (P,).
        seen, starts: as for `_looks`.
    """
    q, k, lse = layer.q[0], layer.k[0], layer.lse[0]
    firsts, lasts = seen[0][queries], seen[1][queries]
    width = max(STRONGEST, int((lasts - firsts).max(initial=0)))
    scores = np.full((len(queries), width), -np.inf, np.float32)
    key_heads = (heads // (len(q) // len(k))).tolist()
    rows = q[heads, queries]
    for row, (head, first, last) in enumerate(zip(key_heads, firsts.tolist(), lasts.tolist(), strict=True)):
        scores[row, : last - first] = np.einsum("d,ld->l", rows[row], k[head, first:last])
    weights = np.exp(scores * np.float32(1 / q.shape[-1] ** 0.5) - lse[heads, queries][:, None])
    places = np.argpartition(-weights, STRONGEST - 1, axis=1)[:, :STRONGEST]
    largest = np.take_along_axis(weights, places, axis=1)
    order = np.lexsort((places, -largest), axis=1)
    places, largest = (np.take_along_axis(array, order, axis=1) for array in (places, largest))
    there = places < (lasts - firsts)[:, None]
    return np.where(there, places + (firsts - starts[queries])[:, None], -1), np.where(there, largest, 0)
