"""The projections of one head of a trace: where its q, k and v come from, and what becomes of its output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.projections import HeadMatrices
from eyeline.traces.errors import TraceError
from eyeline.traces.inputs import KeptInputs
from eyeline.words import worded

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Projections(HeadMatrices):
    """One head's projections, and the vectors around its layer's attention; all float32.

    q = W_q·x + b_q, k = W_k·x + b_k and v = W_v·x + b_v; where the model does so, q and k are normed and turned by
    their positions afterwards (`query` and `key` compute them as the trace has them). The heads' outputs, joined, go
    through W_o; the sum of all heads' parts and b_o is `added`, and residual + added is the state after attention,
    which `norm_after` norms if there is one.

    Attributes:
        x: the input of the projections, (N, width).
        keys_x: that of keys and values, (M, width): x, unless queries and keys are different sequences.
        residual: what attention's output is added to, (N, width).
        added: attention's output, (N, width).
        lengths: the length of each head's part of it, (H, N). Lengths don't add up where vectors point apart.
        bias_length: the length of b_o; 0 without a bias.
        norm_before: the name of the norm that gives x, of the residual; None if x is the residual.
        norm_after: the name of the norm of residual + added; None without.
        words, positions: in the first layer of a model with embeddings of positions, these of words and of positions
            (with the token type's), (N, narrow), whose sum is x; else None.
        norm_embedded: the name of the norm of that sum; None without.
    """

    x: Array
    keys_x: Array
    residual: Array
    added: Array
    lengths: Array
    bias_length: float
    norm_before: str | None
    norm_after: str | None
    norm_embedded: str | None
    words: Array | None
    positions: Array | None


def projections(kept: KeptInputs | None, layer: int, head: int) -> Projections:
    """The projections of a head, of what its trace kept; see `Trace.projections`."""
    if kept is None:
        raise TraceError(
            worded(
                "trace must have its layers' inputs to show projections, got one without; record it with "
                'keep=["input"], by a model whose projections Eyeline finds'
            )
        )
    found = kept.matrices(layer, head)
    if found is None:
        names = ", ".join(f"L{one}H{other}" for one, other in kept.stored) or worded("none")
        raise TraceError(
            worded(
                "head must be one whose matrices the trace has ({heads}), got L{layer}H{head}; record it with "
                'keep=["L{layer}H{head}"]',
                heads=names,
                layer=layer,
                head=head,
            )
        )
    at = kept.layers[layer]
    first = layer == 0
    return Projections(
        **vars(found),
        x=at.x,
        keys_x=at.x if at.keys is None else at.keys,
        residual=at.residual,
        added=at.added,
        lengths=at.lengths,
        bias_length=0.0 if found.b_o is None else float(np.linalg.norm(found.b_o)),
        norm_before=kept.norm_before,
        norm_after=kept.norm_after,
        norm_embedded=kept.norm_embedded if first else None,
        words=kept.words if first else None,
        positions=kept.positions if first else None,
    )
