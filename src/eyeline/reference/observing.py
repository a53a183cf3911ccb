"""`eyeline.observe` on the whole matrix, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eyeline.edits import CallPlace, Edit
from eyeline.masks import Mask, Shard
from eyeline.readouts import Readout, Rows, chosen
from eyeline.readouts.observation import Observation
from eyeline.reference.formula import place, steps
from eyeline.scores import Scores


def observe(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: Mask | None = None,
    scale: float | None = None,
    scores: Scores = (),
    dropout: float = 0.0,
    seed: int | None = None,
    read: Readout | Sequence[Readout] = (),
    shard: Shard | None = None,
    lse: ArrayLike | None = None,
    edits: Sequence[Edit] | Edit = (),
    call: CallPlace | None = None,
) -> Observation:
    """Attention, and the readouts by their definitions.

    Args:
        q, k, v, mask, scale, scores, dropout, seed, shard, lse, edits, call: as for `steps`.
        read: one readout or several, each kind at most once.
    """
    options: dict[str, Any] = {"mask": mask, "scale": scale, "scores": scores, "dropout": dropout, "seed": seed}
    done = steps(q, k, v, **options, shard=shard, lse=lse, edits=edits, call=call)
    shape, (_, queries, keys) = place(done.q, done.k, shard)
    asked = chosen(read, shape)
    # The weights on all keys of the whole; 0 for keys outside the shard.
    B, H, N, M = shape.batch, shape.heads, *done.weights.shape[-2:]
    w, visible = np.zeros((B, H, N, shape.keys)), np.zeros((B, H, N, shape.keys), bool)
    w[..., keys], visible[..., keys] = done.weights.reshape(B, H, N, M), done.visible.reshape(B, H, N, M)
    rows = Rows(w, visible, queries.start, shape)
    lead = done.weights.shape[:-2]
    return Observation(
        output=done.output,
        lse=done.lse,
        sink=done.sink,
        read=asked,
        results=tuple(one.read(rows).reshaped(lead) for one in asked),
        relative_to_whole=lse is not None,
    )
