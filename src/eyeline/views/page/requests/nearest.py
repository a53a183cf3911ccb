"""The words of the vocabulary that are nearest to a word's vector before and after each layer."""

from __future__ import annotations

from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of, whole

#: How many words there are for each layer.
COUNT = 5


def answer(page: AskedPage, request: Request) -> Reply:
    """The texts and cosines of the words whose embeddings are nearest to the mean vector of tokens [token, last)."""
    trace = trace_of(page, request)
    first = whole(request, "token", 0, len(trace.queries) - 1)
    last = whole(request, "last", first + 1, len(trace.queries))
    if trace.vectors is None or not trace.has_vectors:
        raise RequestError("trace", "trace must be one whose tokens' vectors were kept, got one without")
    if trace.vocabulary is None:
        raise RequestError("trace", "trace must have its model's vocabulary, got one from a file or of a model without")
    found = trace.vocabulary.nearest(trace.vectors[:, first:last].mean(axis=1), COUNT)
    words = [[[word.text, float(f"{word.cosine:.6f}")] for word in layer] for layer in found]
    return {"words": words}, []
