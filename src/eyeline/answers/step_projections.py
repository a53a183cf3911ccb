"""The steps around one head's attention, for one token: from x to q, and from the heads' outputs to what x becomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eyeline.answers.unit_weights import Array
from eyeline.traces import Trace


@dataclass(frozen=True, eq=False)
class StepProjections:
    """Where one token's query comes from, and what becomes of one head's output. Lengths are of vectors.

    Attributes:
        width: the width of x.
        input: "embedding" in the first layer, else "layer": what x comes out of.
        norm_before: the norm that x has gone through; None if it is the residual itself.
        x_length: the length of x.
        query: q = W_q·x + b, (D,), as it is compared.
        query_bias: whether there is a b.
        head_norms: whether q and k are normed.
        rotary: whether q and k are turned by their positions.
        joined: the width of the joined heads, H·E.
        first, last: this head's place among them, [first, last).
        part_length: the length of this head's part of what is added.
        bias_length: the length of the bias that is added with it; 0 without one.
        added_length: the length of all that is added.
        residual_length: the length of what it is added to.
        sum_length: the length of the sum. Lengths don't add up where vectors point apart.
        norm_after: the norm that the sum goes through next; None without.
    """

    width: int
    input: str
    norm_before: str | None
    x_length: float
    query: Array
    query_bias: bool
    head_norms: bool
    rotary: bool
    joined: int
    first: int
    last: int
    part_length: float
    bias_length: float
    added_length: float
    residual_length: float
    sum_length: float
    norm_after: str | None


def step_projections(trace: Trace, layer: int, head: int, token: int) -> StepProjections | None:
    """Compute the steps around one token's attention in one head; None if the trace doesn't have them."""
    if trace.inputs is None:
        return None
    found = trace.projections(layer, head)
    x, residual, added = (array[token].astype(np.float64) for array in (found.x, found.residual, found.added))
    E = found.W_v.shape[0]
    return StepProjections(
        x.size,
        "layer" if layer else "embedding",
        found.norm_before,
        float(np.linalg.norm(x)),
        found.query(found.x[[token]], np.array([token]))[0],
        found.b_q is not None,
        found.q_norm is not None,
        found.rotary is not None,
        trace.model.heads * E,
        head * E,
        (head + 1) * E,
        float(found.lengths[head, token]),
        found.bias_length,
        float(np.linalg.norm(added)),
        float(np.linalg.norm(residual)),
        float(np.linalg.norm(residual + added)),
        found.norm_after,
    )
