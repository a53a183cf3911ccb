"""What `eyeline.observe` returns, read of the whole matrix in float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eyeline.masks import Mask, Shard
from eyeline.readouts import Entropy, GroupMass, MeanDistance, Pooled, Readout, Received, TopK, Weights, chosen
from eyeline.readouts.observation import Observation
from eyeline.reference import reading
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
) -> Observation:
    """Attention and what is asked about its weights.

    Args:
        q, k, v, mask, scale, scores, dropout, seed, shard, lse: as for `steps`.
        read: one readout or several, each kind at most once.
    """
    done = steps(q, k, v, mask=mask, scale=scale, scores=scores, dropout=dropout, seed=seed, shard=shard, lse=lse)
    problem, here = place(done.q, done.k, shard)
    rows, columns = here[1:]
    # Of all keys, at their own place; what isn't here has no weight.
    w, seen = (np.zeros((*x.shape[:-1], problem.keys), x.dtype) for x in (done.weights, done.seen))
    w[..., columns], seen[..., columns] = done.weights, done.seen
    found: dict[str, Any] = {}
    asked = chosen(read, problem)
    for readout in asked:
        match readout:
            case Weights():
                found["weights"] = w[..., readout.rows(w.shape[-2]), :][..., readout.columns(problem.keys)]
            case TopK():
                found["top_k"] = reading.top_k(w, seen, readout.k)
            case Entropy():
                found["entropy"] = reading.entropy(w)
            case Received():
                found["received"] = reading.received(w, seen, readout.reduce)
                found["looking"] = seen.any(axis=-1) if readout.reduce == "mean" else None
            case MeanDistance():
                found["mean_distance"] = reading.distance(w, readout.positions(problem)[rows])
            case GroupMass():
                labels = np.broadcast_to(readout.labels(problem)[:, None], (*problem.shape[:2], problem.keys))
                found["group_mass"] = reading.onto(w, labels.reshape(*w.shape[:-2], problem.keys), readout.count)
            case Pooled():
                whole = np.zeros((*w.shape[:-2], problem.queries, problem.keys))
                whole[..., rows, :] = w
                found["pooled"] = reading.pooled(whole, readout.rows, readout.columns, readout.reduce)
                found["pooled_over"] = (problem.queries, problem.keys)
    return Observation(
        output=done.output,
        lse=done.lse,
        sink=done.sink,
        read=asked,
        relative_to_whole=lse is not None,
        **found,
    )
