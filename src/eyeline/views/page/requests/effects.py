"""What changes when each head is cut: computed on request, with progress, and stored in a file."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from eyeline.answers.mattering import Effects, effects
from eyeline.models.units import units_of
from eyeline.traces import Trace
from eyeline.traces.word_search import find
from eyeline.views.page.effects_runs import EffectsRun
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, trace_of, whole
from eyeline.words import worded

#: Seconds that a request waits for the outcome before it reports the progress.
SOON = 0.25


def answer(page: AskedPage, request: Request) -> Reply:
    """The effect of each head of a text on the vector of the word at `token`, or on the next word (a decoder's), or on
    the text's vector (an encoder's, without `token`): `done` of `count` heads until it is over; then what was found,
    (L, H), beside the weights of the heads' strongest looks. With `stop`, what is done so far is kept."""
    trace = trace_of(page, request)
    number = whole(request, "trace", 0, len(page.traces) - 1)
    token = None if request.get("token") is None else whole(request, "token", 0, len(trace.queries) - 1)
    known = next((one for one in page.effects if one.trace is trace and asked_token(one) == token), None)
    if known is not None:
        return reply(known)
    key = (number, token)
    run = page.runs.effects.get(key)
    if request.get("stop"):
        if run is not None:
            run.stop()
            run.wait(5)
    elif run is None or (run.over and (run.found is None or not run.found.complete)):
        run = page.runs.effects[key] = _started(page, trace, token)
    if run is None:
        return {"over": True, "done": 0, "count": 0}, []
    run.wait(SOON)
    if run.error is not None:
        del page.runs.effects[key]
        if isinstance(run.error, ValueError):
            raise RequestError("trace", str(run.error)) from None
        raise run.error
    if not run.over or run.found is None:
        return {"over": run.over, "done": run.done, "count": run.count}, []
    return reply(run.found)


def reply(found: Effects) -> Reply:
    """The reply with what was found."""
    said: dict[str, Any] = {"over": True, "measure": found.measure, "by": found.question.by, "complete": found.complete}
    if found.question.next is not None:
        next, rather = found.question.next, found.question.rather
        said |= {"next": next.text, "probability": next.probability, "rather": None if rather is None else rather.text}
    arrays = [found.heads, found.looks]
    return said | {"shape": list(found.heads.shape)}, [np.asarray(array, "<f4") for array in arrays]


def asked_token(found: Effects) -> int | None:
    """The first token of the word whose vector was measured; None if it wasn't a word's."""
    units = found.question.units
    return found.units[units[0]].tokens[0] if units else None


def stored(found: Effects, trace: int) -> dict[str, Any]:
    """The request whose reply a file holds for some effects."""
    token = asked_token(found)
    return {"kind": "effects", "trace": trace} | ({} if token is None else {"token": token})


def _started(page: AskedPage, trace: Trace, token: int | None) -> EffectsRun:
    model = page.runs.model(trace)
    asked: dict[str, Any] = {"model": model, "edges": 0, "edits": trace.edits}
    if token is not None:
        asked |= _word(page, trace, token)
    elif trace.kind == "encoder":
        asked |= {"embed": True}
    compute = partial(effects, trace.queries.text, **asked)

    def run(heads_done: Any, cancelled: Any) -> Effects:
        with page.runs.lock:
            return compute(heads_done=heads_done, cancelled=cancelled)

    return EffectsRun(run)


def _word(page: AskedPage, trace: Trace, token: int) -> dict[str, Any]:
    """The word at a token, as `effects` finds it."""
    tokens = page.runs.read(trace).tokens
    units = units_of(tokens, pieces=False)
    place = next(place for place, unit in enumerate(units) if token in unit.tokens)
    for nth in range(1, len(units) + 1):
        found = find(units[place].text, nth, units, tokens.text, special=True)
        if place in found.units:
            return {"token": units[place].text, "nth": nth, "special": True}
    raise RequestError("token", worded("token must be one of a word, got {token}", token=token))
