"""One score as a sum over pairs of sources: what was written before at the query's token, and at the key's.

A query is linear in its token's vector once the norms have the scale of the run: q = Σ_s q_s, and so is a key: k = Σ_t
k_t. Their score is scale · Σ_s Σ_t q_s·k_t. Where positions are rotary, every q_s and k_t is turned to its token's
place. Source: Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021), the QK circuit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.models.checkpoints import Array
from eyeline.models.decoder import RootMeanSquareNorm
from eyeline.models.network import Network
from eyeline.models.projections import HeadMatrices, attention_parts
from eyeline.models.residual_stream import ResidualSource, ResidualStream, root_mean_square, stream_before

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreSources:
    """A score, split.

    Attributes:
        query_sources: the S sources of the query.
        key_sources: the T sources of the key.
        table: scale · q_s·k_t, (S, T).
        score: scale · q·k, of the query and the key that the sources sum to.
        same_place: the score if the key's token stood at the query's place, all else as it was: queries and keys turned
            alike, or the query's position in place of the key's as what was added to its embedding.
        positions: how the model has positions: "rotary", by turning queries and keys, or "added", as a source.
    """

    query_sources: tuple[ResidualSource, ...]
    key_sources: tuple[ResidualSource, ...]
    table: Float64
    score: float
    same_place: float
    positions: Literal["rotary", "added"]


def score_sources(
    network: Network,
    layer: int,
    head: int,
    ids: tuple[int, int],
    positions: tuple[int, int],
    outputs: Sequence[Array],
    scale: float,
) -> ScoreSources:
    """Split a score by its sources, in float64.

    Args:
        network: a model's; of an encoder-decoder, its encoder.
        layer, head: from 0.
        ids, positions: the query's token and the key's.
        outputs: each earlier layer's heads' outputs for these two, before W_o, (H, 2, E).
        scale: the factor of q·k.
    """
    places = np.array(positions, np.int64)
    stream = stream_before(network, np.array(ids, np.int64), places, places[[0, 0]], outputs)
    parts = attention_parts(network, layer)
    assert parts is not None
    if isinstance(parts.input_norm, RootMeanSquareNorm):
        stream.norm(parts.input_norm)
    of = parts.head(head)
    q, query_sources = _projected(stream, 0, of.W_q, of.b_q, "q bias")
    k, key_sources = _projected(stream, 1, of.W_k, of.b_k, "k bias")
    q, k = _normed(q, of.q_norm, of.epsilon), _normed(k, of.k_norm, of.epsilon)
    turned_q, turned_k = _turned(of, q, positions[0]), _turned(of, k, positions[1])
    there = k.sum(axis=0)
    if stream.elsewhere is not None:
        own = next(number for number, source in enumerate(key_sources) if source.kind == "position")
        there = there - k[own] + stream.elsewhere[1] @ of.W_k.T.astype(np.float64)
    return ScoreSources(
        tuple(query_sources),
        tuple(key_sources),
        scale * (turned_q @ turned_k.T),
        scale * float(turned_q.sum(axis=0) @ turned_k.sum(axis=0)),
        scale * float(q.sum(axis=0) @ there),
        "added" if of.rotary is None else "rotary",
    )


def _projected(
    stream: ResidualStream, token: int, matrix: Array, bias: Array | None, name: str
) -> tuple[Float64, list[ResidualSource]]:
    """A token's query or key by its sources, (S, D), and these."""
    rows = stream.parts[:, token] @ matrix.T.astype(np.float64)
    if bias is None:
        return rows, list(stream.sources)
    return np.concatenate([rows, bias.astype(np.float64)[None]]), [*stream.sources, ResidualSource(name, "bias")]


def _normed(rows: Float64, weight: Array | None, epsilon: float) -> Float64:
    """The root-mean-square norm of queries or keys, with the scale that it has for the sum of the rows."""
    return rows if weight is None else root_mean_square(weight, epsilon, rows.sum(axis=0))(rows)


def _turned(of: HeadMatrices, rows: Float64, position: int) -> Float64:
    return of.turned(rows, np.array([position], np.int64))
