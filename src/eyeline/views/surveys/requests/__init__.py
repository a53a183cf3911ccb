"""The requests of a survey's page, one file for each kind: `answer` gives its reply, and no arrays.

docs/page-format.md describes each request and reply. They are read from the survey's files when they are asked for, by
row group: a survey may have a million examples, and be written anew while it is looked at.
"""

from __future__ import annotations

from eyeline.views.surveys.requests import documents, examples, tokens
from eyeline.views.surveys.requests.request import Answering

#: How each kind of request is answered.
KINDS: dict[str, Answering] = {
    "documents": documents.answer,
    "examples": examples.answer,
    "tokens": tokens.answer,
}
