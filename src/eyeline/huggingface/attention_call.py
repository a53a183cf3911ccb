"""One attention call of a model, in Eyeline's terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from eyeline.edits import CallEdits
from eyeline.huggingface.structured_mask import StructuredMask
from eyeline.masks import Dense, Mask
from eyeline.readouts import Readout
from eyeline.readouts.observation import Observation
from eyeline.scores import Bias, Score, Sinks, Softcap
from eyeline.torch.attending import attention, observe_counted


class AttentionCall(NamedTuple):
    """One attention call.

    Attributes:
        q, k, v: (B, H, N, D), (B, G, M, D), (B, G, M, E).
        structured: the mask from the mask function; None if the model passed its own mask, or none.
        mask: where queries may look.
        computed: the same in the form that is computed: None where the mask hides nothing.
        scale: the factor of the scores; 1/√D if None.
        softcap: the cap on the scaled scores.
        biases: added to the capped scores, each (1 or B, 1 or H, N, M).
        sinks: the logits of attention sinks, (H,).
        dropout, seed: the dropout probability and its seed.
        edits: what is changed in it; None if nothing is.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    structured: StructuredMask | None
    mask: Mask | None
    computed: Mask | None
    scale: float | None
    softcap: float | None
    biases: Sequence[Tensor]
    sinks: Tensor | None
    dropout: float
    seed: Tensor | None
    edits: CallEdits | None = None

    def scores(self) -> tuple[Score, ...]:
        """The modifications of the scores between q·k and the softmax."""
        if self.softcap is None and self.sinks is None and not self.biases:
            return ()
        changes: list[Score] = [] if self.softcap is None else [Softcap(self.softcap)]
        changes += [Bias(bias) for bias in self.biases]
        changes += [] if self.sinks is None else [Sinks(self.sinks)]
        return tuple(changes)

    def output(self) -> Tensor:
        """Compute the output, (B, H, N, E)."""
        return attention(
            self.q,
            self.k,
            self.v,
            mask=self.computed,
            scale=self.scale,
            scores=self.scores(),
            dropout=self.dropout,
            seed=self.seed,
            tokens_first=True,
            edits=self.edits or (),
        )

    def observe(self, read: Sequence[Readout], counted: Tensor | None = None) -> tuple[Tensor, Observation]:
        """Compute the output, and an observation in tensors or arrays; its readouts take queries where `counted`, (B,
        N), is False as if they might look at no key."""
        return observe_counted(
            self.q,
            self.k,
            self.v,
            mask=self.computed,
            scale=self.scale,
            scores=self.scores(),
            dropout=self.dropout,
            seed=self.seed,
            read=read,
            counted=counted,
            tokens_first=True,
            edits=self.edits or (),
        )

    def of_heads(self, heads: Sequence[int]) -> AttentionCall:
        """The call restricted to these heads, without dropout."""
        chosen = torch.as_tensor(heads, device=self.q.device)
        key_heads = chosen // (self.q.shape[1] // max(self.k.shape[1], 1))
        mask, computed = self.mask, self.computed
        if isinstance(mask, Dense) and mask.allowed.ndim == 4 and mask.allowed.shape[1] > 1:
            mask = computed = Dense(mask.allowed[:, chosen])
        return self._replace(
            q=self.q[:, chosen],
            k=self.k[:, key_heads],
            v=self.v[:, key_heads],
            mask=mask,
            computed=computed,
            biases=[bias if bias.shape[1] == 1 else bias[:, chosen] for bias in self.biases],
            sinks=None if self.sinks is None else self.sinks[chosen],
            dropout=0.0,
            seed=None,
        )
