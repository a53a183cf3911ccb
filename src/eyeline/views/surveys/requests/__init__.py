"""The requests of a survey's page, one file for each kind: `answer` gives its reply, an object.

docs/page-format.md describes each request and reply. All but the header is read from the survey's files when it is
asked for, by row group: a survey may have a million examples, and be written anew while it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eyeline.surveys import SurveyError
from eyeline.views.page.requests.request import RequestError, is_number
from eyeline.views.surveys.requests import documents, examples, head, tokens
from eyeline.views.surveys.requests.request import Answering, AskedSurvey

#: How each kind of request is answered.
KINDS: dict[str, Answering] = {
    "survey_documents": documents.answer,
    "survey_examples": examples.answer,
    "survey_head": head.answer,
    "survey_tokens": tokens.answer,
}


def answer(surveys: Sequence[AskedSurvey], request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request of a survey's page.

    Args:
        surveys: the page's surveys.
        request: `id`, any number; `kind`, one of `KINDS`; and the kind's own keys.

    Returns:
        The reply, with the request's `id` and `kind`.

    Raises:
        RequestError: if it can't be answered: naming the invalid key, or "survey" for a folder that can't be read.
    """
    if not isinstance(request, Mapping):
        raise RequestError("request", f"request must be an object, got {type(request).__name__}")
    number, kind = request.get("id"), request.get("kind")
    if not is_number(number):
        raise RequestError("id", f"id must be a number, got {number!r:.40}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise RequestError("kind", f"kind must be one of {', '.join(KINDS)}, got {kind!r:.40}")
    try:
        reply = KINDS[kind](surveys, request)
    except SurveyError as error:
        raise RequestError("survey", str(error)) from None
    return {"id": number, "kind": kind, **reply}
