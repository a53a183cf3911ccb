"""A rectangle of a head's weights, for pages that can't compute them: where WebAssembly is forbidden."""

from __future__ import annotations

from eyeline.views.page.requests.request import (
    AskedPage,
    Reply,
    Request,
    RequestError,
    head_of,
    layer_of,
    span,
    trace_of,
)
from eyeline.words import worded

#: The largest number of weights in a request.
WEIGHTS = 1 << 22


def answer(page: AskedPage, request: Request) -> Reply:
    """The weights of the queries on the keys, row by row."""
    trace = trace_of(page, request)
    layer, head = layer_of(trace, request), head_of(trace, request)
    queries = span(request, "queries", len(trace.queries))
    keys = span(request, "keys", len(trace.across))
    rows, columns = queries[1] - queries[0], keys[1] - keys[0]
    if rows * columns > WEIGHTS:
        raise RequestError(
            "queries",
            worded(
                "queries × keys must be at most {weights}, got {rows} × {columns}",
                weights=WEIGHTS,
                rows=rows,
                columns=columns,
            ),
        )
    weights = trace.weights(layer, head, slice(*queries), slice(*keys))
    return {"shape": [rows, columns]}, [weights.astype("<f4", copy=False)]
