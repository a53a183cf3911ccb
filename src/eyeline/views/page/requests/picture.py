"""A picture of a region of a head's weights."""

from __future__ import annotations

from eyeline.traces import TraceError
from eyeline.views.page.requests.request import (
    AskedPage,
    Reply,
    Request,
    RequestError,
    head_of,
    layer_of,
    span,
    trace_of,
    whole,
)
from eyeline.words import worded

#: The largest number of cells in a requested picture.
CELLS = 1 << 20


def answer(page: AskedPage, request: Request) -> Reply:
    """The mean weight of each cell."""
    trace = trace_of(page, request)
    layer, head = layer_of(trace, request), head_of(trace, request)
    queries = span(request, "queries", len(trace.queries))
    keys = span(request, "keys", len(trace.across))
    rows = whole(request, "rows", 1, queries[1] - queries[0])
    columns = whole(request, "columns", 1, keys[1] - keys[0])
    if rows * columns > CELLS:
        raise RequestError(
            "rows",
            worded(
                "rows × columns must be at most {cells}, got {rows} × {columns}",
                cells=CELLS,
                rows=rows,
                columns=columns,
            ),
        )
    try:
        picture = trace.pooled(layer, head, queries, keys, rows, columns)
    except TraceError as error:  # errors that the checks above don't cover
        raise RequestError("request", str(error)) from None
    return {"shape": [rows, columns]}, [picture.astype("<f4", copy=False)]
