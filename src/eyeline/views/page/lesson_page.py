"""`lesson`: the page of a lesson on attention, in twelve stops, each beside the view that it speaks of."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.traces import record
from eyeline.traces.errors import TraceError
from eyeline.views.page.page import Page
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.models import Model

#: The lesson's texts: two sentences with one word in two senses, and a date for the encoder and decoder.
FLIES, FRUIT, DATE = "time flies like an arrow", "fruit flies like a banana", "3rd of March, 2021"


def lesson(*, model: str | os.PathLike[str] | Model = "minilm", progress: Callable[[str], None] | None = None) -> Page:
    """Make the page of the lesson. It displays itself in a notebook, and `save` writes it to a file.

    Args:
        model: the encoder that reads the sentences: a name from the catalogue, a folder, or a loaded model.
        progress: as for `eyeline.record`.

    Raises:
        TraceError: if the model is an encoder-decoder; a ValueError.
        ModelError: if the model is unknown, or its files are invalid; a ValueError.

    >>> lesson().header()["lesson"]
    {'flies': 0, 'fruit': 1, 'encoder': 2, 'decoder': 3, 'cross': 4}
    """
    if isinstance(model, (str, os.PathLike)):
        from eyeline.models import load

        model = load(model, progress=progress)
    if isinstance(getattr(model, "network", None), EncoderDecoder):
        raise TraceError(
            worded(
                "model must be an encoder of sentences, such as minilm, got {model}, an encoder-decoder",
                model=f"{model.name!r:.40}",
            )
        )
    sentences = [record(text, model=model, keep=["input", "vectors"], progress=progress) for text in (FLIES, FRUIT)]
    page = Page([*sentences, *record(DATE, model="dates", progress=progress)], {"stop": 0, "trace": 0, "token": 2})
    page.lesson = {"flies": 0, "fruit": 1} | {trace.name: 2 + place for place, trace in enumerate(page.traces[2:])}
    return page
