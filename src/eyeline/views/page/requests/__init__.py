"""The requests of a page, one file for each kind: `answer` gives its reply and the reply's arrays.

docs/page-format.md describes each request and reply. A module here imports little of the page but `request.py`.
"""

from __future__ import annotations

from eyeline.views.page.requests import (
    changes,
    edited,
    effects,
    head,
    image,
    nearest,
    next_words,
    overview,
    picture,
    positions,
    products,
    projections,
    sources,
    weights,
)
from eyeline.views.page.requests.request import Answering

#: How each kind of request is answered.
KINDS: dict[str, Answering] = {
    "changes": changes.answer,
    "edited": edited.answer,
    "effects": effects.answer,
    "head": head.answer,
    "image": image.answer,
    "nearest": nearest.answer,
    "next": next_words.answer,
    "overview": overview.answer,
    "picture": picture.answer,
    "positions": positions.answer,
    "products": products.answer,
    "projections": projections.answer,
    "sources": sources.answer,
    "weights": weights.answer,
}
