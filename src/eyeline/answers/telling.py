"""The telling head: where a reader sees at once that one word looks at another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.token_groups import is_punctuation
from eyeline.answers.behaviour.trace_kinds import kinds_of
from eyeline.answers.question import counted
from eyeline.answers.word_rows import word_rows
from eyeline.traces import Trace, TraceError
from eyeline.traces.positions import is_whole
from eyeline.traces.tokenized_text import TokenizedText
from eyeline.words import worded

#: Labels of heads whose weights say little about words: where a word stands, or where nothing is to be looked at.
PLAIN = frozenset({"previous", "next", "same", "sink", "separator"})
#: Only words among the first tokens look, so many: a page opens at the beginning of its text, and soon.
SEARCHED = 512
#: The decimals with which weights are compared, since another kernel rounds otherwise: a key word that is the whole
#: text is looked at by every head with a weight of 1, and nobody should choose among them by the last bit.
_DECIMALS = 6
#: The sharpest weight on a word that isn't adjacent is taken if it is at least this part of the sharpest of all.
_ENOUGH = 0.5

Why = Literal["far", "near", "across", "plain"]
Array = NDArray[Any]


@dataclass(frozen=True)
class TellingHead:
    """A weight of one word on another, and its head.

    Attributes:
        layer, head: counted from 0.
        token: the position of the first token of the word that looks.
        key: the position of the first token of the word that it looks at.
        weight: the weight, of a row that sums to 1: the sum over the tokens of the key word, the mean over those of the
            query word.
        why: "far": the sharpest weight on another word, not adjacent; "near": the sharpest is on the adjacent word;
            "across": queries and keys are different texts; "plain": every head that was searched looks at the same,
            the next or the previous token, or is a sink.
    """

    layer: int
    head: int
    token: int
    key: int
    weight: float
    why: Why


def telling(trace: Trace, token: int | None = None, *, layer: int | None = None) -> TellingHead | None:
    """Find the sharpest weight of one word on another among the heads of the last layers.

    The last third of the layers is searched, at least two. Heads that look at the previous, the next or the same token
    and sinks (as `heads` labels them) are left out, and so are words that are set aside, and punctuation. Among weights
    that are equal to six decimals the first in the order of layers, heads, queries and keys is taken. Memory is linear
    in the tokens.

    Args:
        trace: the trace.
        token: the position of a token: only its word looks; any word if not given.
        layer: counted from 0: only its heads are searched; those of the last third if not given.

    Returns:
        The weight and its place; None if no word may look at another.

    Raises:
        TraceError: if there is no such token; a ValueError.
        QuestionError: if there is no such layer; a ValueError.

    >>> from eyeline.traces import record
    >>> found = telling(record("time flies like an arrow"))
    >>> found.layer, found.head, found.token, found.key, found.why
    (5, 11, 3, 5, 'far')
    """
    L = trace.model.layers
    first = max(0, L - max(2, math.ceil(L / 3)))
    layers = list(range(first, L)) if layer is None else [counted("layer", layer, L, trace.model.name)]
    rows = _looking(trace.queries, token)
    looked_at = _is_word(trace.across)
    best: dict[Why, tuple[float, int, int, int, int]] = {}
    kinds = kinds_of(trace)
    for place in layers:
        telling_heads = np.array([PLAIN.isdisjoint(names) for names in kinds[place]])
        for block, weights in word_rows(trace, trace.layers[place], rows):
            weights = weights.round(_DECIMALS)
            weights[..., ~looked_at] = 0
            for why, heads, candidates in _candidates(weights, block, telling_heads, trace.keys is None):
                at = np.unravel_index(candidates.argmax(), candidates.shape)
                weight, (head, row, key) = float(candidates[at]), (int(index) for index in at)
                found = (weight, -place, -int(heads[head]), -int(block[row]), -key)
                if weight > 0:
                    best[why] = max(best.get(why, found), found)
    for why in _chosen(best):
        weight, place, head, query, key = best[why]
        token, key = (text.words[-index].tokens[0] for text, index in ((trace.queries, query), (trace.across, key)))
        return TellingHead(-place, -head, token, key, weight, why)
    return None


def _chosen(best: Mapping[Why, tuple[float, ...]]) -> list[Why]:
    """The reasons, best first, of the weights that were found."""
    order: list[Why] = ["across", "far", "near", "plain"]
    if "far" in best and best["far"][0] < _ENOUGH * best["near"][0]:
        order.remove("far")
    return [why for why in order if why in best]


def _candidates(
    weights: Array, rows: Array, telling_heads: NDArray[np.bool_], same_text: bool
) -> Iterator[tuple[Why, NDArray[np.int64], Array]]:
    """The weights among which each reason chooses: its name, the heads, and (heads, rows, words), 0 where they don't
    count."""
    chosen, every = np.flatnonzero(telling_heads), np.arange(len(weights))
    if not same_text:
        groups: list[tuple[Why, NDArray[np.int64], Array]] = [("across", chosen, weights[chosen])]
    else:
        weights[:, np.arange(len(rows)), rows] = 0
        apart = np.abs(rows[:, None] - np.arange(weights.shape[-1])) > 1
        groups = [("far", chosen, weights[chosen] * apart), ("near", chosen, weights[chosen])]
    for group in [*groups, ("plain", every, weights)]:
        if group[2].size:
            yield group


def _looking(text: TokenizedText, token: int | None) -> NDArray[np.int64]:
    """The indices of the words that look: that of a token; or all, of the first tokens of a long text."""
    if token is None:
        within = [word.tokens[1] <= SEARCHED for word in text.words]
        return np.flatnonzero(_is_word(text) & np.array(within, np.bool_))
    if not is_whole(token) or not 0 <= token < len(text):
        raise TraceError(worded("token must be from 0 to {count}, got {token!r}", count=len(text) - 1, token=token))
    return np.array([place for place, word in enumerate(text.words) if word.tokens[0] <= token < word.tokens[1]])


def _is_word(text: TokenizedText) -> NDArray[np.bool_]:
    """Whether each word of a text is neither set aside nor punctuation."""
    aside = set(text.aside)
    spans = [None if place in aside else word.span for place, word in enumerate(text.words)]
    return np.array([span is not None and not is_punctuation(text.text[slice(*span)]) for span in spans], np.bool_)
