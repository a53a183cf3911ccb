"""The measures of one layer's heads, without the matrix of weights.

A row's entropy, distance and weight on each group of tokens are readouts. Its weights on the previous token, the next
token and the token itself are computed from q, k and lse: a weight is exp(scale · q·k - lse). Every measure is a mean
over all query tokens, special ones included, as in Clark et al., "What Does BERT Look At?" (2019): the share on the
previous token is a sum over n - 1 tokens, divided by n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.token_groups import FIRST, PUNCTUATION, SPECIAL, TokenGroups
from eyeline.readouts import Entropy, MeanDistance, OffsetMass, Readout
from eyeline.readouts.observation import Observation
from eyeline.traces import LayerTrace
from eyeline.words import noted

Array = NDArray[np.float64]
CLARK, GU, OLSSON = noted("Clark et al. 2019"), noted("Gu et al. 2024"), "Olsson et al. 2022"
#: The number of tokens over which Gu et al. measure a sink.
SINK_TOKENS = 64


@dataclass(frozen=True)
class Measure:
    """A measure of a head: its name, its unit, its definition, and its source."""

    name: str
    unit: str
    meaning: str
    source: str


_OVER = f"{CLARK}: a mean over all n query tokens"
_ON = f"{CLARK}: a sum over the tokens that have one, divided by n"
MEASURES = (
    Measure("entropy", "nats", "how broadly it looks, -Σ w ln w", f"{_OVER}; here without their smoothing"),
    Measure("distance", "tokens", "how far it looks, Σ w·|i - j|", "as the entropy"),
    Measure("previous", "share", "the weight on the previous token", _ON),
    Measure("next", "share", "the weight on the next token; 0 in causal models", _ON),
    Measure("same", "share", "the weight on the token itself", _OVER),
    Measure("first", "share", "the weight on the text's first token", _OVER),
    Measure("special", "share", "the weight on special tokens", _OVER),
    Measure("separator", "share", "the weight on special tokens after the first token", f"{CLARK}, for [SEP]"),
    Measure("punctuation", "share", "the weight on punctuation after the first token", f"{CLARK}, for . and ,"),
    Measure("sink", "share", f"what the first {SINK_TOKENS} tokens, or as many as there are, give to the first", GU),
    Measure("induction", "share", "what goes one past the earlier copy of random tokens, repeated", OLSSON),
)


def readouts(groups: TokenGroups) -> tuple[Readout, ...]:
    """The readouts of a layer's weights that its `measures` need."""
    return (Entropy(), MeanDistance(), groups.readout)


def measures(layer: LayerTrace, seen: Observation, groups: TokenGroups) -> dict[str, Array]:
    """Compute the measures of each head of a layer.

    Args:
        layer: a layer of a trace.
        seen: the results of `readouts(groups)` for it.
        groups: the groups of its tokens.

    Returns:
        The measures by name, (H,) each: `entropy`, in nats; `distance`, in tokens; the shares of weight, from 0 to 1,
        on the `previous`, the `next` and the `same` token, on the `first` token, on `special` tokens, and on special
        tokens (`separator`) and `punctuation` after the first token; and `sink`. NaN where the text has no such token.
    """
    H, N = layer.lse.shape
    mass = np.moveaxis(seen.group_mass.reshape(H, N, -1), -1, 0)
    found = {
        "entropy": seen.entropy.reshape(H, N),
        "distance": seen.mean_distance.reshape(H, N),
        "previous": shifted(layer, -1),
        "next": shifted(layer, 1),
        "same": shifted(layer, 0),
        "first": mass[FIRST],
        "special": mass[SPECIAL] + (mass[FIRST] if groups.special[0] else 0),
        "separator": mass[SPECIAL],
        "punctuation": mass[PUNCTUATION],
    }
    result = {name: rows.mean(axis=-1, dtype=np.float64) for name, rows in found.items()}
    there = {"special": groups.special, "separator": groups.special[1:], "punctuation": groups.punctuation[1:]}
    for name, tokens in there.items():
        if not tokens.any():
            result[name][:] = np.nan
    result["sink"] = sink(mass[FIRST])
    return result


def shifted(layer: LayerTrace, offset: int) -> Array:
    """Each token's weight on the token `offset` places after it: a diagonal of the weights, in O(n).

    Args:
        layer: a layer of a trace.
        offset: 0 for the token itself, negative for earlier tokens.

    Returns:
        (H, N); 0 where there is no such token, or the mask hides it.
    """
    (H, N, D), G = layer.q.shape, len(layer.k)
    weights = np.zeros((H, N))
    first, last = max(0, -offset), min(N, N - offset)
    if first >= last:
        return weights
    if layer.edits is not None:  # q, k and lse alone don't give the weights
        found = layer.observe(OffsetMass([offset, offset + 1]))
        return np.asarray(found.offset_mass.reshape(H, N), np.float64)
    rows = np.arange(first, last)
    grouped = layer.q[:, first:last].reshape(G, H // G, last - first, D)
    scores = np.einsum("grnd,gnd->grn", grouped, layer.k[:, first + offset : last + offset], dtype=np.float64)
    scores = scores.reshape(H, last - first) * layer.scale
    if layer.softcap is not None:
        scores = layer.softcap * np.tanh(scores / layer.softcap)
    if layer.bias is not None:
        scores = scores + layer.bias[:, rows if layer.bias.shape[1] > 1 else 0 * rows, rows + offset]
    seen = layer.allowed.pairs(rows, rows + offset)
    with np.errstate(over="ignore", invalid="ignore"):  # lse is -inf where a query may look at no key
        weights[:, first:last] = np.where(seen, np.exp(scores - layer.lse[:, first:last]), 0)
    return weights


def sink(first: NDArray[Any]) -> Array:
    """The strength of the first token as a sink: its mean weight over the first 64 queries.

    Uniform causal attention has H₆₄/64 = 0.074. Source: Gu et al., "When Attention Sink Emerges in Language Models"
    (2024), section 3.1: token k's importance is the mean of its weights over the T - k + 1 queries that may see it, T =
    64. Their texts have 64 tokens; in a longer text, an encoder's first tokens also look at those beyond.

    Args:
        first: each token's weight on the first token, (H, N).

    Returns:
        (H,); the mean over all tokens where there are fewer than 64.
    """
    return np.asarray(first[:, :SINK_TOKENS].mean(axis=-1, dtype=np.float64))


def induction(layer: LayerTrace, length: int, before: int) -> Array:
    """The prefix matching score of each head on `length` tokens, then the same again.

    A token of the second copy has an earlier copy `length` places back; the score is the second copy's mean weight on
    the token after that, `length` - 1 places back. Source: Olsson et al., "In-context Learning and Induction Heads"
    (2022).

    Args:
        layer: a layer of a trace.
        length: the number of tokens in one copy, 1 or more.
        before: the number of other tokens before the first copy.

    Returns:
        (H,).
    """
    diagonal = shifted(layer, 1 - length)[:, before + length : before + 2 * length]
    return np.asarray(diagonal.mean(axis=-1, dtype=np.float64))
