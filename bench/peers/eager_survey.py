"""What a survey measures, from the matrices of transformers' eager attention: as one would write it in torch.

Windows are sorted by length and padded in batches. `output_attentions=True` gives all layers' matrices of a batch at
once; batches are as large as a given memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES, POSITION_EDGES
from eyeline.surveys.tally import BlockTally
from eyeline.surveys.windows import TextWindow

#: Matrices of a batch beside those of all layers: the entropy's terms, and what the layer itself needs.
_BESIDE = 2
STRONGEST, EXAMPLES = 8, 16
Run = Callable[[Sequence[TextWindow]], "Sums"]


@dataclass
class Sums:
    """The sums over all counted tokens, float64, L layers and H heads.

    Attributes:
        tokens: how many were counted.
        entropy, distance: (L, H).
        offsets: the weight on each range of `OFFSET_EDGES`, (L, H, ranges).
        entropies, largest: how many rows have an entropy, a largest weight, in each range, (L, H, ranges).
        to, received: by the type of the key, (L, H, T).
        groups: entropy, distance and received by the token's type and position, (3, L, H, T, positions).
        documents: entropy, distance, the weight on the previous, the same and the next token, and on each type, summed
            over each document's counted tokens, (5 + T, L, H, documents).
        examples: the largest weights of all counted tokens of text, (L, H, EXAMPLES).
        keys: the positions of the strongest keys of each, (L, H, EXAMPLES, STRONGEST).
        batches: how many batches there were.
    """

    tokens: int
    entropy: Tensor
    distance: Tensor
    offsets: Tensor
    entropies: Tensor
    largest: Tensor
    to: Tensor
    received: Tensor
    groups: Tensor
    documents: Tensor
    examples: Tensor
    keys: Tensor
    batches: int = 0

    @staticmethod
    def none(L: int, H: int, T: int, documents: int) -> Sums:
        def zeros(*sizes: int) -> Tensor:
            return torch.zeros(sizes, dtype=torch.float64)

        return Sums(
            0,
            zeros(L, H),
            zeros(L, H),
            zeros(L, H, len(OFFSET_EDGES) - 1),
            zeros(L, H, len(ENTROPY_EDGES) - 1),
            zeros(L, H, len(LARGEST_EDGES) - 1),
            zeros(L, H, T),
            zeros(L, H, T),
            zeros(3, L, H, T, len(POSITION_EDGES)),
            zeros(5 + T, L, H, documents),
            torch.zeros(L, H, EXAMPLES),
            torch.full((L, H, EXAMPLES, STRONGEST), -1),
        )


def eager(folder: Path, threads: int, types: int, megabytes: int) -> Run:
    """A function that measures windows of a model's folder with eager attention.

    Args:
        folder: the model's files.
        threads: torch's threads.
        types: T, the number of types of tokens.
        megabytes: the memory that a batch's matrices may take.
    """
    import transformers

    torch.set_num_threads(threads)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    L, H = model.config.num_hidden_layers, model.config.num_attention_heads

    @torch.inference_mode()
    def run(windows: Sequence[TextWindow]) -> Sums:
        torch.set_num_threads(threads)
        documents = sorted({window.document.number for window in windows})
        sums = Sums.none(L, H, types, len(documents))
        for batch in batches_of(windows, L, H, megabytes << 20):
            given = _Batch(batch, types, documents)
            # Without a mask where nothing is padded, as in the other benches.
            mask = None if bool(given.real.all()) else given.real.long()
            found = model(input_ids=given.ids, attention_mask=mask, output_attentions=True)
            for layer, weights in enumerate(found.attentions):
                _add(sums, layer, weights, given)
            sums.tokens += int(given.counted.sum())
            sums.batches += 1
        return sums

    return run


def largest_difference(sums: Sums, tally: BlockTally, types: Sequence[str]) -> dict[str, float]:
    """The largest difference between these figures and a survey's of the same documents, each as it is shown.

    Args:
        sums, tally: what is compared.
        types: the types' names, by number.

    Returns:
        By figure: means over tokens (entropy in nats, distance in tokens, the rest shares of weight); of the histograms
        the share of tokens that lie in another range; of the examples, the weight.
    """
    n = tally.tokens
    found = {
        name: _difference(getattr(tally, name) / n, getattr(sums, name) / n)
        for name in ("entropy", "distance", "offsets", "entropies", "largest")
    }
    groups = tally.groups.items()
    for number, name in enumerate(("entropy", "distance", "received")):
        found[f"{name} by group"] = max(
            _difference(getattr(group, name), sums.groups[number, :, :, types.index(kind), place]) / group.count
            for (kind, place), group in groups
        )
    to = np.stack([sum(group.to[name] for _, group in groups if name in group.to) for name in types], -1)
    found["to"] = _difference(to / n, sums.to / n)
    largest = [example.weight for example in tally.examples if example.sort == "largest"]
    found["examples"] = _difference(np.reshape(largest, sums.examples.shape), sums.examples)
    return found


def _difference(ours: NDArray[np.floating], theirs: Tensor) -> float:
    return float(np.abs(ours - theirs.numpy()).max())


def batches_of(windows: Sequence[TextWindow], L: int, H: int, most: int) -> list[list[TextWindow]]:
    """Windows by length, in batches whose matrices take at most `most` bytes."""
    batches: list[list[TextWindow]] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        bytes_each = 4 * (L + _BESIDE) * H * len(window.ids) ** 2
        if not batches or (len(batches[-1]) + 1) * bytes_each > most:
            batches.append([])
        batches[-1].append(window)
    return batches


class _Batch:
    """Padded arrays of a batch, (B, N) each, and what depends on positions alone."""

    def __init__(self, windows: Sequence[TextWindow], T: int, documents: list[int]) -> None:
        B, N = len(windows), max(len(window.ids) for window in windows)
        self.ids = torch.zeros(B, N, dtype=torch.long)
        self.types = torch.zeros(B, N, dtype=torch.long)
        self.real, self.counted, self.text = (torch.zeros(B, N, dtype=torch.bool) for _ in range(3))
        for row, window in enumerate(windows):
            n = len(window.ids)
            self.ids[row, :n] = torch.from_numpy(window.ids)
            self.types[row, :n] = torch.from_numpy(window.types)
            self.real[row, :n] = True
            self.counted[row, :n] = torch.from_numpy(window.counted)
            self.text[row, :n] = torch.from_numpy(window.counted & ~window.special)
        places = torch.arange(N)
        offsets = places - places[:, None]
        self.distances = offsets.abs().float()
        self.ranges = torch.bucketize(offsets, torch.from_numpy(OFFSET_EDGES), right=True) - 1
        self.members = torch.nn.functional.one_hot(self.types, T).float() * self.real[..., None]
        positions = torch.bucketize(places, torch.from_numpy(POSITION_EDGES), right=True) - 1
        self.groups = (self.types * len(POSITION_EDGES) + positions).flatten()
        self.documents = torch.tensor([documents.index(window.document.number) for window in windows])


def _add(sums: Sums, layer: int, weights: Tensor, batch: _Batch) -> None:
    """Add one layer of a batch: weights (B, H, N, N), whose padded rows mean nothing."""
    H = weights.shape[1]
    real, counted = batch.real.float(), batch.counted.float()
    entropy = torch.special.entr(weights).sum(-1)
    distance = torch.einsum("bhij,ij->bhi", weights, batch.distances)
    received = torch.einsum("bhij,bi->bhj", weights, real)
    to = weights @ batch.members[:, None]
    largest = weights.amax(-1)

    def diagonal(offset: int) -> Tensor:
        part = weights.diagonal(offset, -2, -1)
        return torch.nn.functional.pad(part, (-min(offset, 0), max(offset, 0)))

    rows = torch.stack([entropy, distance, diagonal(-1), diagonal(0), diagonal(1)], -1)
    rows = torch.cat([rows, to], -1) * counted[:, None, :, None]
    each = rows.sum(2).permute(2, 1, 0).double()  # (5 + T, H, B)
    sums.documents[:, layer].index_add_(-1, batch.documents, each)
    total = each.sum(-1)
    sums.entropy[layer] += total[0]
    sums.distance[layer] += total[1]
    sums.to[layer] += total[5:].T
    # Offsets are the same in all texts: their matrices are added up first.
    together = torch.einsum("bhij,bi->hij", weights, counted)
    sums.offsets[layer].index_add_(-1, batch.ranges.flatten(), together.flatten(1).double())
    here = batch.counted.flatten()
    for group, values in enumerate((entropy, distance, received)):
        flat = values.transpose(0, 1).flatten(1) * here
        sums.groups[group, layer].view(H, -1).index_add_(-1, batch.groups, flat.double())
    sums.received[layer] = sums.groups[2, layer].sum(-1)
    for edges, values, counts in ((ENTROPY_EDGES, entropy, sums.entropies), (LARGEST_EDGES, largest, sums.largest)):
        found = values.transpose(0, 1).flatten(1)[:, here]
        at = torch.bucketize(found, torch.from_numpy(edges).float(), right=True) - 1
        at = at.clamp(0, len(edges) - 2)
        counts[layer].scatter_add_(-1, at, torch.ones_like(at, dtype=torch.float64))
    _keep_largest(sums, layer, weights, largest, batch.text)


def _keep_largest(sums: Sums, layer: int, weights: Tensor, largest: Tensor, text: Tensor) -> None:
    """Keep each head's looks of largest weight among this batch's and those before; of these alone, the strongest
    keys."""
    B, H, N = largest.shape
    by_head = largest.masked_fill(~text[:, None], -1).transpose(0, 1).reshape(H, -1)
    best, rows = by_head.topk(min(EXAMPLES, B * N))
    heads = torch.arange(H)[:, None]
    keys = weights[rows // N, heads, rows % N].topk(min(STRONGEST, N)).indices
    keys = torch.nn.functional.pad(keys, (0, STRONGEST - keys.shape[-1]), value=-1)
    best, keys = torch.cat([sums.examples[layer], best], -1), torch.cat([sums.keys[layer], keys], 1)
    sums.examples[layer], chosen = best.topk(EXAMPLES)
    sums.keys[layer] = keys.gather(1, chosen[..., None].expand(-1, -1, STRONGEST))
