"""The edits of a trace in its file: in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eyeline.edits import CallEdits, CallPlace, Edit, EditError, MeanOutput, lowered, parse, words_of
from eyeline.edits.lowered import Pairs
from eyeline.edits.runs import KINDS
from eyeline.traces.errors import TraceError
from eyeline.traces.settings import StoredSettings
from eyeline.words import worded

#: The most intervals of cut keys in a layer's mask.
_INTERVALS = 8


def stored_edits(edits: Sequence[Edit]) -> list[str]:
    """Edits in words.

    Raises:
        TraceError: if one of them takes other runs or texts, which the file hasn't.
    """
    for one in edits:
        try:
            if isinstance(one, MeanOutput):
                raise EditError
            words_of(one)
        except EditError:
            raise TraceError(
                worded(
                    "edits must be ones that words can say for a trace to be saved, got {edit!r}; keep the trace in "
                    "memory, or record it without",
                    edit=one,
                )
            ) from None
    return [words_of(one) for one in edits]


def opened_edits(about: StoredSettings) -> tuple[Edit, ...]:
    """The edits of a file; older files have none."""
    if about.get("edits") is None:
        return ()
    try:
        return tuple(parse(words) for words in about.texts("edits"))
    except EditError:
        about.wrong("edits", worded("edits in words"))


def edits_of_layer(
    edits: Sequence[Edit], kind: str, layer: int, layers: int, heads: tuple[int, int], tokens: tuple[int, int]
) -> CallEdits | None:
    """What the edits of a run change in one of its layers after the softmax; None for nothing.

    Args:
        edits: with positions in place of words.
        kind: the trace's kind.
        layer, layers: the layer, and how many there are.
        heads: (H, G). tokens: (N, M).
    """
    (H, G), (N, M) = heads, tokens
    place = CallPlace(H, G, np.arange(N)[None], np.arange(M)[None], layer, KINDS[kind])
    return after_softmax(lowered(edits, place, layers)) if edits else None


def after_softmax(edits: CallEdits | None) -> CallEdits | None:
    """The edits without those that a trace's q, k, v and mask have already; None for nothing."""
    if edits is None:
        return None
    return replace(edits, inputs=(), cuts=() if mask_has(edits.cuts) else edits.cuts) or None


def mask_has(cuts: Sequence[Pairs]) -> bool:
    """Whether a trace's mask has these cuts: as intervals of keys, they would take much memory where keys are
    scattered."""
    ends = (np.diff(one.keys.astype(np.int8), prepend=0, append=0) for one in cuts)
    return sum(int(np.abs(end).sum(axis=1).max(initial=0)) // 2 for end in ends) <= _INTERVALS
