"""What another run of a text changed: the heads that look elsewhere, and each token's vector."""

from __future__ import annotations

import numpy as np

from eyeline.answers.changed_looks import largest, moved
from eyeline.traces import Trace
from eyeline.traces.errors import QuestionError
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of, whole

#: How many heads there are.
HEADS = 12
#: The most tokens of a text of which all rows are compared; of a longer one it is the last token's.
ROWS = 1024


def answer(page: AskedPage, request: Request) -> Reply:
    """The heads whose rows of weights moved most, `[layer, head, query, moved]`, among the queries [first, last) that
    were compared; and for each token 1 - cosine of its vectors after the last layer, null if these weren't kept."""
    before = trace_of(page, request)
    after = page.traces[whole(request, "other", 0, len(page.traces) - 1)]
    N = len(before.queries)
    if request.get("token") is None:
        first, last = (0, N) if N <= ROWS else (N - 1, N)
    else:
        first = whole(request, "token", 0, N - 1)
        last = whole(request, "last", first + 1, N)
    try:
        found = moved(before, after, (first, last))
    except QuestionError as error:
        raise RequestError("other", str(error)) from None
    looks = [[one.layer, one.head, one.query, float(f"{one.moved:.5g}")] for one in largest(found, HEADS, first)]
    turned = int((found.max(axis=2) > 0.005).sum())
    return {"looks": looks, "turned": turned, "rows": [first, last], "vectors": _turned(before, after)}, []


def _turned(before: Trace, after: Trace) -> list[float] | None:
    """1 - cosine of each token's two vectors after the last layer."""
    if before.vectors is None or after.vectors is None or not (before.has_vectors and after.has_vectors):
        return None
    one, other = (vectors[-1].astype(np.float64) for vectors in (before.vectors, after.vectors))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines = (one * other).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    return [float(f"{max(1 - cosine, 0):.5g}") for cosine in cosines]
