"""Which replies about words in context a file holds: its host has no model to compute others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eyeline.traces import Trace
from eyeline.views.page.requests.products import comparable

#: The most words of a text for each of which a file holds the nearest words of the vocabulary.
WORDS = 24


def contexts(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """The requests `products` of all pairs of traces that can be compared, and `nearest` of short texts' words."""
    pairs = [(one, other) for one in range(len(traces)) for other in range(one, len(traces))]
    requests: list[dict[str, Any]] = [
        {"kind": "products", "trace": one, "other": other}
        for one, other in pairs
        if comparable(traces[one], traces[other])
    ]
    for number, trace in enumerate(traces):
        words = [word.tokens for word in trace.queries.words if word.span is not None]
        if trace.has_vectors and trace.vocabulary is not None and len(words) <= WORDS:
            requests += [{"kind": "nearest", "trace": number, "token": first, "last": last} for first, last in words]
    return requests
