"""A text's run with edits: one more trace of the page."""

from __future__ import annotations

from collections.abc import Sequence

from eyeline.edits import Edit, EditError, parse, words_of
from eyeline.models import ModelError
from eyeline.traces import Keep, Trace, TraceError, record_text
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of, whole
from eyeline.words import worded

#: The most edits of a run, and the most characters of one.
MOST, LONGEST = 64, 400


def answer(page: AskedPage, request: Request) -> Reply:
    """Run a trace's text again with edits: the number of the new trace, and the header's entries of all traces after
    the `known` ones, of which there may be other windows'.

    A run that the page has already isn't made again.
    """
    before = trace_of(page, request)
    edits = edits_of(request)
    words = [words_of(one) for one in edits]
    with page.runs.lock:
        model = page.runs.model(before)
        place = next((at for at, one in enumerate(page.traces) if _is_of(one, before, words)), None)
        if place is None:
            keep = Keep(
                values=before.has_values,
                vectors="all" if before.has_vectors else None,
                measures=True,
                input=before.inputs is not None and before.inputs.heads == "all",
            )
            try:
                made = record_text(model, page.runs.read(before), keep=keep, edits=edits)
            except (EditError, TraceError, ModelError) as error:
                raise RequestError("edits", str(error)) from None
            place = page.add(made)
    known = whole(request, "known", 0, len(page.traces))
    return {"made": place, "entries": [page.entry(one) for one in page.traces[known:]]}, []


def edits_of(request: Request) -> list[Edit]:
    """The edits of a request, in words, checked."""
    given = request.get("edits")
    if not isinstance(given, Sequence) or isinstance(given, str) or not 0 < len(given) <= MOST:
        raise RequestError(
            "edits",
            worded("edits must be a list of 1 to {most} edits in words, got {given!r:.60}", most=MOST, given=given),
        )
    found = []
    for one in given:
        if not isinstance(one, str) or len(one) > LONGEST:
            raise RequestError(
                "edits",
                worded(
                    "edits must be words of at most {longest} characters, got {one!r:.60}", longest=LONGEST, one=one
                ),
            )
        try:
            found.append(parse(one))
        except EditError as error:
            raise RequestError("edits", str(error)) from None
    return found


def entry(trace: Trace) -> list[str]:
    """The header's entry: the edits of the trace's run, in words; one that words can't say as Python writes it."""
    return [_said(one) for one in trace.edits]


def _said(edit: Edit) -> str:
    try:
        return words_of(edit)
    except EditError:
        return repr(edit)


def _is_of(trace: Trace, before: Trace, words: list[str]) -> bool:
    """Whether a trace is the run of this text with these edits, and still has its arrays."""
    same = (trace.model.name, trace.kind, trace.queries.ids) == (before.model.name, before.kind, before.queries.ids)
    return same and entry(trace) == words and trace.layers[0].q.shape[1] == len(trace.queries)
