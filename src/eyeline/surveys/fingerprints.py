"""The fingerprint of a block: of all that decides its figures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from eyeline.surveys.document import Document
from eyeline.surveys.parts import FORMAT
from eyeline.surveys.settings import Settings

#: Of survey.json's "model", what decides the figures; where its files lie, and so its name, doesn't.
_MODEL = ("family", "layers", "heads", "causal", "positions", "vocabulary_size", "sha256")


def fingerprint(documents: Sequence[Document], settings: Settings, model: dict[str, Any]) -> str:
    """The SHA-256 of a block's documents, of the settings, the model and the version of what is measured: a part that
    has another was measured of something else. In hex.

    Args:
        documents: the block's documents; of each, its number, file, place and text count.
        settings: the survey's settings.
        model: survey.json's "model".

    >>> one = fingerprint([Document(0, "a.txt", 0, "time flies")], Settings(512, 64), {"name": "minilm"})
    >>> one == fingerprint([Document(0, "a.txt", 0, "time flies!")], Settings(512, 64), {"name": "minilm"})
    False
    """
    names = _MODEL if model.get("sha256") else (*_MODEL, "name")
    about = [FORMAT, settings.as_json(), {name: model.get(name) for name in names}]
    whole = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for document in documents:
        text = document.text.encode("utf-8", "surrogatepass")
        head = [document.number, document.file, document.place, len(text)]
        whole.update(json.dumps(head).encode())  # the length, so that no two texts run into one another
        whole.update(text)
    return whole.hexdigest()
