"""One head's attention, step by step, for one token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eyeline.answers.step_projections import StepProjections, step_projections
from eyeline.answers.unit_weights import Array
from eyeline.models import Tokens
from eyeline.reference import steps as reference_steps
from eyeline.traces import Trace


@dataclass(frozen=True)
class StepKey:
    """The steps for one key, from its score to the length of its contribution."""

    token: int
    text: str
    score: float
    scaled: float
    hidden: bool
    weight: float
    value_length: float
    contribution_length: float


@dataclass(frozen=True, eq=False)
class HeadSteps:
    """One head's attention, step by step, for one token.

    Attributes:
        layer, head: counted from 0.
        key_head: the head's key/value head, counted from 0: the head itself, unless several share one.
        chosen: "asked" if the question named the head; else "hardest", the head with the largest weight on one word.
        token: the position of the query token.
        text: the query token's text.
        query_length: the length of its query vector.
        head_dim: D.
        scale: the factor of the scores.
        keys: one entry per token.
        weight_sum: the sum of the weights; less than 1 where a sink takes the rest.
        output: the sum of the weighted values, (E,).
        output_length: its length.
        projections: the step before, from x to q, and the one after, from the heads' outputs to what is added to x;
            None where the model's matrices aren't known.
    """

    layer: int
    head: int
    key_head: int
    chosen: Literal["asked", "hardest"]
    token: int
    text: str
    query_length: float
    head_dim: int
    scale: float
    keys: tuple[StepKey, ...]
    weight_sum: float
    output: Array
    output_length: float
    projections: StepProjections | None


def head_steps(
    trace: Trace, number: int, head: int, chosen: Literal["asked", "hardest"], token: int, tokens: Tokens
) -> HeadSteps:
    """Compute the steps of one token in one head; the layer's values must have been kept. All indices count from 0."""
    layer = trace.layer(number)
    assert layer.v is not None
    key_head = head // (len(layer.q) // len(layer.k))
    row, everything = np.array([token]), (0, layer.k.shape[1])
    done = reference_steps(
        layer.q[head, row],
        layer.k[key_head],
        layer.v[key_head],
        mask=layer.allowed.mask(head, row, everything),
        scale=layer.scale,
        scores=layer.scores(head, row, everything),
        lse=None if layer.sinks is None else layer.lse[head, row],
    )
    lengths, weights, output = np.linalg.norm(done.v, axis=-1), done.weights[0], done.output[0]
    if layer.edits is not None:  # q, k, v and the mask alone don't say what was changed after the scores
        weights = trace.weights(number, head, row)[0].astype(np.float64)
        output = layer.output_of([head], (token, token + 1))[0, 0].astype(np.float64)
    texts = [
        piece if special else tokens.text[first:last]
        for piece, special, (first, last) in zip(tokens.pieces, tokens.special, tokens.offsets, strict=True)
    ]
    keys = tuple(
        StepKey(
            place,
            text,
            float(done.scores[0, place]),
            float(done.scaled[0, place]),
            bool(np.isneginf(done.masked[0, place])),
            float(weights[place]),
            float(lengths[place]),
            float(weights[place] * lengths[place]),
        )
        for place, text in enumerate(texts)
    )
    return HeadSteps(
        number,
        head,
        key_head,
        chosen,
        token,
        texts[token],
        float(np.linalg.norm(done.q[0])),
        layer.q.shape[-1],
        layer.scale,
        keys,
        float(weights.sum()),
        output,
        float(np.linalg.norm(output)),
        step_projections(trace, number, head, token),
    )
