"""The thumbnails of all heads of a trace."""

from __future__ import annotations

from eyeline.views.page.requests.request import AskedPage, Reply, Request, trace_of


def answer(page: AskedPage, request: Request) -> Reply:
    """The bytes of each cell of each thumbnail, and each head's largest cell."""
    measures = trace_of(page, request).measures
    return {"shape": list(measures.pictures.shape)}, [measures.pictures, measures.most.astype("<f4", copy=False)]
