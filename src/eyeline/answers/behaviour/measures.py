"""The numbers of one layer's heads, without the matrix of weights.

What a row gives to each kind of token, how broadly and how far it looks are readouts. What it gives to the token before
it, after it, or to itself is read of q, k and lse: a weight is exp(scale · q·k - lse). Every number is a mean over all
tokens that look, special ones included, as Clark et al. have it ("What Does BERT Look At?", 2019): the share on the
previous token is a sum over n - 1 of them, divided by n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.answers.behaviour.kinds import FIRST, PUNCTUATION, SPECIAL, Kinds
from eyeline.readouts import Entropy, GroupMass, MeanDistance, Readout

if TYPE_CHECKING:
    from eyeline.models import Layer

Array = NDArray[np.float64]
CLARK, GU, OLSSON = "Clark et al. 2019", "Gu et al. 2024", "Olsson et al. 2022"
#: The tokens over which Gu et al. measure a sink.
SINK_TOKENS = 64


@dataclass(frozen=True)
class Measure:
    """A number of a head: its name, its unit, what it means, and whose it is."""

    name: str
    unit: str
    meaning: str
    source: str


_OVER = f"{CLARK}: a mean over all n tokens that look"
_ON = f"{CLARK}: a sum over the tokens that have one, divided by n"
MEASURES = (
    Measure("entropy", "nats", "how broadly it looks, -Σ w ln w", f"{_OVER}; here without their smoothing"),
    Measure("distance", "tokens", "how far it looks, Σ w·|i - j|", "as the entropy"),
    Measure("previous", "share", "what goes to the token before", _ON),
    Measure("next", "share", "what goes to the token after; 0 where tokens look only back", _ON),
    Measure("same", "share", "what goes to the token itself", _OVER),
    Measure("first", "share", "what goes to the text's first token", _OVER),
    Measure("special", "share", "what goes to the tokens that the tokenizer added", _OVER),
    Measure("separator", "share", "what goes to those of them after the first token", f"{CLARK}, for [SEP]"),
    Measure("punctuation", "share", "what goes to punctuation after the first token", f"{CLARK}, for . and ,"),
    Measure("sink", "share", f"what the first {SINK_TOKENS} tokens, or as many as there are, give to the first", GU),
    Measure("induction", "share", "what goes one past the earlier copy of random tokens, repeated", OLSSON),
)


def readouts(kinds: Kinds) -> list[Readout]:
    """What has to be read of a layer's weights for its `measures`."""
    return [Entropy(), MeanDistance(), kinds.groups]


def measures(
    layer: Layer, kinds: Kinds, *, causal: bool, scale: float | None = None, lengths: ArrayLike | None = None
) -> dict[str, Array]:
    """The numbers of each head of a layer, observed with `readouts(kinds)`.

    Args:
        layer: what happened in it.
        kinds: the kinds of its tokens.
        causal: whether tokens look only back.
        scale: what scores were multiplied by; 1/√D if not given.
        lengths: the real number of tokens of each text, (B,), where the batch is padded at its end. Padded tokens
            neither look nor count.

    Returns:
        (B, H) each. `entropy`, in nats; `distance`, in tokens; and the shares, from 0 to 1, that go to the `previous`,
        the `next` and the `same` token, to the `first` one, to the `special` ones, and, of those after the first, to
        special ones, `separator`, and `punctuation`. NaN where the text has no such token.
    """
    mass = np.moveaxis(layer.seen[GroupMass], -1, 0)
    found = {
        "entropy": layer.seen[Entropy],
        "distance": layer.seen[MeanDistance],
        **{
            name: shifted(layer, offset, causal=causal, scale=scale, lengths=lengths)
            for name, offset in (("previous", -1), ("next", 1), ("same", 0))
        },
        "first": mass[FIRST],
        "special": mass[SPECIAL] + (mass[FIRST] if kinds.special[0] else 0),
        "separator": mass[SPECIAL],
        "punctuation": mass[PUNCTUATION],
    }
    result = {name: mean(rows, lengths) for name, rows in found.items()}
    kinds_there = {"special": kinds.special, "separator": kinds.special[1:], "punctuation": kinds.punctuation[1:]}
    for name, tokens in kinds_there.items():
        if not tokens.any():
            result[name][:] = np.nan
    return result


def mean(rows: NDArray[Any], lengths: ArrayLike | None = None) -> Array:
    """The mean over each text's own tokens: (B, H, N) → (B, H)."""
    B, _, N = rows.shape
    real = np.full(B, N) if lengths is None else np.asarray(lengths)
    own = np.arange(N) < real[:, None]
    sums: Array = np.where(own[:, None], rows, 0).sum(-1, dtype=np.float64)
    return np.asarray(sums / np.maximum(real, 1)[:, None])


def shifted(
    layer: Layer, offset: int, *, causal: bool, scale: float | None = None, lengths: ArrayLike | None = None
) -> Array:
    """What each token gives to the token `offset` places after it: a diagonal of the weights, in O(n).

    Args:
        layer: what happened in it; k may have fewer heads than q.
        offset: 0 for the token itself, negative for those before it.
        causal, scale, lengths: as for `measures`.

    Returns:
        (B, H, N); 0 where there is no such token, or it may not be seen.
    """
    q, k, lse = layer.q, layer.k, layer.lse
    (B, H, N, D), G = q.shape, k.shape[1]
    weights = np.zeros((B, H, N))
    first, last = max(0, -offset), min(N, N - offset)
    if first >= last or (causal and offset > 0):
        return weights
    grouped = q[:, :, first:last].reshape(B, G, H // G, last - first, D)
    scores = np.einsum("bgrnd,bgnd->bgrn", grouped, k[:, :, first + offset : last + offset], dtype=np.float64)
    scores = scores.reshape(B, H, last - first) * (1 / np.sqrt(D) if scale is None else scale)
    real = np.full(B, N) if lengths is None else np.asarray(lengths)
    seen = (np.arange(first, last) + max(offset, 0) < real[:, None])[:, None]
    with np.errstate(over="ignore", invalid="ignore"):  # a padded row's lse is -inf
        weights[:, :, first:last] = np.where(seen, np.exp(scores - lse[:, :, first:last]), 0)
    return weights


def sink(onto_first: NDArray[Any], lengths: ArrayLike | None = None) -> Array:
    """The first token as a sink: the mean weight it receives from the first 64 tokens, all of which may see it.

    With causal attention that is alike on all that may be seen, H₆₄/64 = 0.074. Source: Gu et al., "When Attention Sink
    Emerges in Language Models" (2024), section 3.1: token k's importance is the mean of its weights over the T - k + 1
    queries that may see it, T = 64.

    Args:
        onto_first: what each token gives to the first one, (B, H, N).
        lengths: as for `measures`.

    Returns:
        (B, H): over as many tokens as there are, where there are fewer than 64.
    """
    rows = onto_first[:, :, :SINK_TOKENS]
    return mean(rows, None if lengths is None else np.minimum(np.asarray(lengths), rows.shape[-1]))


def induction(layer: Layer, length: int, before: int, *, causal: bool, scale: float | None = None) -> Array:
    """How far a head looks past the earlier copy: `length` tokens, then the same again.

    A token of the second copy stood once before, `length` places back; the mean weight that the second copy gives to
    what came next there, `length` - 1 places back. Source: Olsson et al., "In-context Learning and Induction Heads"
    (2022), the prefix matching score on repeated random tokens.

    Args:
        layer: what happened in it.
        length: the tokens of one copy, 1 or more.
        before: how many other tokens stand before the first copy.
        causal, scale: as for `measures`.

    Returns:
        (B, H).
    """
    diagonal = shifted(layer, 1 - length, causal=causal, scale=scale)
    return mean(diagonal[:, :, before + length : before + 2 * length])
