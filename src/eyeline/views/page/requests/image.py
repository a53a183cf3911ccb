"""The picture of a trace."""

from __future__ import annotations

import numpy as np

from eyeline.traces import Trace
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of
from eyeline.words import worded


def answer(page: AskedPage, request: Request) -> Reply:
    """The picture as a PNG, and its size in pixels."""
    image = trace_of(page, request).image
    if image is None:
        raise RequestError("trace", worded("trace must be of a picture, and this one has none"))
    data = np.frombuffer(image.png(), np.uint8)
    return {"media": "image/png", "width": image.width, "height": image.height}, [data]


def stored(traces: list[Trace]) -> list[Request]:
    """The requests whose replies a file holds: one for each trace that has a picture."""
    return [{"kind": "image", "trace": place} for place, trace in enumerate(traces) if trace.image is not None]
