"""The requests of a page, one file for each kind: `answer` gives its reply and the reply's arrays.

docs/page-format.md describes each request and reply. A module here imports nothing of the page but `request.py`.
"""

from __future__ import annotations

from eyeline.views.page.requests import head, image, nearest, overview, picture, positions, products, projections
from eyeline.views.page.requests.request import Answering

#: How each kind of request is answered.
KINDS: dict[str, Answering] = {
    "head": head.answer,
    "image": image.answer,
    "nearest": nearest.answer,
    "overview": overview.answer,
    "picture": picture.answer,
    "positions": positions.answer,
    "products": products.answer,
    "projections": projections.answer,
}
