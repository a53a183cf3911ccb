"""The replies about words in context that a file holds: its host has no model to compute others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eyeline.traces import Trace
from eyeline.views.page.requests import nearest
from eyeline.views.page.requests.products import comparable

#: The most words of a text for each of which a file holds the nearest words of the vocabulary.
WORDS = 24


def stored_products(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """The requests `products` of all pairs of traces that can be compared."""
    pairs = [(one, other) for one in range(len(traces)) for other in range(one, len(traces))]
    return [
        {"kind": "products", "trace": one, "other": other}
        for one, other in pairs
        if comparable(traces[one], traces[other])
    ]


def stored_nearest(traces: Sequence[Trace]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The requests `nearest` of short texts' words, each with its reply."""
    for number, trace in enumerate(traces):
        words = [word.tokens for word in trace.queries.words if word.span is not None]
        if trace.has_vectors and trace.vocabulary is not None and len(words) <= WORDS:
            for (first, last), reply in zip(words, nearest.replies(trace, words), strict=True):
                yield {"kind": "nearest", "trace": number, "token": first, "last": last}, reply
