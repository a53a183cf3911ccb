"""One call of a model's attention, in Eyeline's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from eyeline.huggingface.mask_interface import StructuredMask
from eyeline.masks import Dense, Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Bias, Score, Sinks, Softcap
from eyeline.torch import attention, observe


@dataclass(frozen=True)
class AttentionCall:
    """One call.

    Attributes:
        q, k, v: (B, H, N, D), (B, G, M, D), (B, G, M, E).
        structured: the mask as the mask function made it; None if the model brought a mask of its own, or none.
        mask: where queries may look.
        scale: what scores are multiplied by; 1/√D if None.
        softcap: the cap of the scaled scores.
        biases: what is added to them then, each (1 or B, 1 or H, N, M).
        sinks: (H,).
        dropout, seed: which weights are dropped.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    structured: StructuredMask | None
    mask: Mask | None
    scale: float | None
    softcap: float | None
    biases: Sequence[Tensor]
    sinks: Tensor | None
    dropout: float
    seed: Tensor | None

    def scores(self) -> tuple[Score, ...]:
        """How scores change between q·k and the softmax."""
        changes: list[Score] = [] if self.softcap is None else [Softcap(self.softcap)]
        changes += [Bias(bias) for bias in self.biases]
        changes += [] if self.sinks is None else [Sinks(self.sinks)]
        return tuple(changes)

    def output(self) -> Tensor:
        """(B, H, N, E)."""
        return attention(
            self.q,
            self.k,
            self.v,
            mask=self.mask,
            scale=self.scale,
            scores=self.scores(),
            dropout=self.dropout,
            seed=self.seed,
        )

    def observe(self, read: Sequence[Readout]) -> Observation:
        """The output, and what is read of the weights."""
        return observe(
            self.q,
            self.k,
            self.v,
            mask=self.mask,
            scale=self.scale,
            scores=self.scores(),
            dropout=self.dropout,
            seed=self.seed,
            read=read,
        )

    def of_heads(self, heads: Sequence[int]) -> AttentionCall:
        """These heads alone, without dropout."""
        chosen = torch.as_tensor(heads, device=self.q.device)
        key_heads = chosen // (self.q.shape[1] // max(self.k.shape[1], 1))
        mask = self.mask
        if isinstance(mask, Dense) and mask.allowed.ndim == 4 and mask.allowed.shape[1] > 1:
            mask = Dense(mask.allowed[:, chosen])
        return replace(
            self,
            q=self.q[:, chosen],
            k=self.k[:, key_heads],
            v=self.v[:, key_heads],
            mask=mask,
            biases=[bias if bias.shape[1] == 1 else bias[:, chosen] for bias in self.biases],
            sinks=None if self.sinks is None else self.sinks[chosen],
            dropout=0.0,
            seed=None,
        )

    def of_queries(self, real: Tensor) -> AttentionCall:
        """With the queries that aren't real, in (B, N), looking at nothing."""
        looking = Dense(real[:, None, :, None])
        return replace(self, mask=looking if self.mask is None else self.mask & looking)
