"""Eyeline's own models as a survey needs them: windows packed into one sequence, without padding."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.induction import induction_of
from eyeline.calls import observe
from eyeline.masks import AttentionShape, Intervals
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
        starts = np.repeat(packed.starts, packed.lengths)
        first, last = _ranges(int(packed.lengths.max()) - 1, self.causal)
        offsets = OffsetMass(OFFSET_EDGES[first : last + 1].tolist())
        read = (Entropy(), MeanDistance(), GroupMass(types, count), offsets, Received("sum"), TopK(1))
        seen_keys = cache(lambda mask: mask.lower(_square(len(starts))).bounds[0, 0])
        for layer in self._layers(packed, read):
            assert layer.mask is not None
            yield _looks(layer, seen_keys(layer.mask), starts, first)

    def _layers(self, packed: PackedTexts, read: Sequence[Readout]) -> Iterator[Layer]:
        network = self._model.model.network
        if isinstance(network, Encoder):
            for layer in network.in_place(network.embed(packed.ids, packed.positions), packed.mask, read):
                assert layer is not None
                yield layer
            return
        assert isinstance(network, Decoder)
        yield from network.layers(network.embed(packed.ids), packed.mask, None, read, positions=packed.positions)


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


def _square(tokens: int) -> AttentionShape:
    return AttentionShape((1,), 1, tokens, tokens)


def _looks(layer: Layer, seen_keys: Places, starts: Places, first_range: int) -> Looks:
    """A layer's looks.

    Args:
        layer: the layer.
        seen_keys: the intervals of keys that each token may look at, (N, K, 2).
        starts: the first place of each token's window, (N,).
        first_range: as in `Looks`.
    """
    seen = layer.seen

    def strongest(heads: Places, queries: Places) -> tuple[Places, Numbers]:
        keys, weights = _strongest(layer.q[0], layer.k[0], seen_keys, heads, queries)
        return np.where(keys < 0, -1, keys - starts[queries][:, None]), weights

    return Looks(
        seen.entropy[0],
        seen.mean_distance[0],
        seen.received[0],
        seen.top_k.weights[0, :, :, 0],
        seen.top_k.keys[0, :, :, 0] - starts,
        seen.group_mass[0],
        seen.offset_mass[0],
        first_range,
        strongest,
    )


def _strongest(q: Numbers, k: Numbers, seen_keys: Places, heads: Places, queries: Places) -> tuple[Places, Numbers]:
    """The keys of the largest weights of some looks, and these weights, (P, `STRONGEST`) each.

    They are computed anew from the looks' queries: reading as many of every token would cost more.

    Args:
        q, k: (H, N, D) and (G, N, D).
        seen_keys: the intervals of keys that each token may look at, (N, K, 2).
        heads, queries: (P,).
    """
    G, group = len(k), len(q) // len(k)
    if not len(heads):
        return np.zeros((0, STRONGEST), np.int64), np.zeros((0, STRONGEST), np.float32)
    # Each key head is an element of a batch, with the queries of all looks of its heads.
    of = heads // group
    order = np.lexsort((queries, of))
    counts = np.bincount(of, minlength=G)
    places = np.empty(len(of), np.int64)
    places[order] = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.zeros((G, counts.max()), np.int64)
    rows[of, places] = queries
    bounds = seen_keys[rows]
    bounds[np.arange(rows.shape[1]) >= counts[:, None]] = 0  # none of the rows that only fill up
    some = q[np.arange(len(q)).reshape(G, group, 1), rows[:, None]]
    keys = k[:, None]
    found = observe(some, keys, keys[..., :0], mask=Intervals(bounds), read=TopK(STRONGEST)).top_k
    at = of, heads % group, places
    return found.keys[at], found.weights[at]
