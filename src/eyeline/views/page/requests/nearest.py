"""The words of the vocabulary that are nearest to a word's vector before and after each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eyeline.traces import Trace
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of, whole
from eyeline.words import worded

#: How many words there are for each layer.
COUNT = 5


def answer(page: AskedPage, request: Request) -> Reply:
    """The texts and cosines of the words whose embeddings are nearest to the mean vector of tokens [token, last)."""
    trace = trace_of(page, request)
    first = whole(request, "token", 0, len(trace.queries) - 1)
    last = whole(request, "last", first + 1, len(trace.queries))
    if trace.vectors is None or not trace.has_vectors:
        raise RequestError("trace", worded("trace must be one whose tokens' vectors were kept, got one without"))
    if trace.vocabulary is None:
        raise RequestError(
            "trace", worded("trace must have its model's vocabulary, got one from a file or of a model without")
        )
    return replies(trace, [(first, last)])[0], []


def replies(trace: Trace, words: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """The replies for several words, each of the tokens [first, last): the vocabulary is read once for all of them.

    The trace must have all its tokens' vectors, and a vocabulary.
    """
    if not words:
        return []
    assert trace.vectors is not None
    assert trace.vocabulary is not None
    vectors = np.concatenate([trace.vectors[:, first:last].mean(axis=1) for first, last in words])
    found = [
        [[word.text, float(f"{word.cosine:.6f}")] for word in vector]
        for vector in trace.vocabulary.nearest(vectors, COUNT)
    ]
    L = len(trace.vectors)
    return [{"words": found[place : place + L]} for place in range(0, len(found), L)]
