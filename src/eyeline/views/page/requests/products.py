"""The products of the vectors of two traces' tokens, from which the page computes the cosine of any two words."""

from __future__ import annotations

import numpy as np

from eyeline.traces import Trace
from eyeline.traces.keep import SHORT
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of, whole
from eyeline.words import worded


def answer(page: AskedPage, request: Request) -> Reply:
    """The inner product of each token's vector in `trace` with each one's in `other`, before and after each layer."""
    first = trace_of(page, request)
    second = page.traces[whole(request, "other", 0, len(page.traces) - 1)]
    for name, trace in (("trace", first), ("other", second)):
        if not has_products(trace):
            raise RequestError(
                name,
                worded(
                    "{name} must have all tokens' vectors, of at most {short}, got {count}",
                    name=name,
                    short=SHORT,
                    count=len(trace.vector_tokens),
                ),
            )
    if not comparable(first, second):
        raise RequestError("other", worded("other must be of the same model and part as trace, got another's"))
    assert first.vectors is not None
    assert second.vectors is not None
    products = np.asarray(first.vectors @ second.vectors.swapaxes(1, 2), "<f4")
    return {"shape": list(products.shape)}, [products]


def has_products(trace: Trace) -> bool:
    """Whether a trace has the vectors of all tokens, and few enough for a page."""
    return trace.has_vectors and len(trace.queries) <= SHORT


def comparable(first: Trace, second: Trace) -> bool:
    """Whether the products of two traces can be asked for: their vectors are in one space, of one model and part."""
    if first.vectors is None or second.vectors is None or not (has_products(first) and has_products(second)):
        return False
    alike = (first.model.name, first.kind) == (second.model.name, second.kind)
    return alike and first.vectors.shape[::2] == second.vectors.shape[::2]
