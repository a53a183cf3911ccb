"""The likeliest next words of a text, in its runs side by side, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eyeline.answers.next_words import NextWord, NextWords
from eyeline.edits import EditError
from eyeline.models import ModelError
from eyeline.views.page.requests.request import AskedPage, Reply, Request, RequestError, whole
from eyeline.words import worded

#: The likeliest words of each side; all sides have all of them.
COUNT = 6
#: The most tokens that a text is gone on with, and the most sides.
MOST, SIDES = 256, 4


def answer(page: AskedPage, request: Request) -> Reply:
    """For each of `sides`, {"trace", "written": [token ids added so far]}: its next words, [id, text, probability], the
    likeliest first and with those that are likeliest on another side; and whether its text has ended."""
    given = request.get("sides")
    if not isinstance(given, Sequence) or isinstance(given, str) or not 0 < len(given) <= SIDES:
        raise RequestError(
            "sides", worded("sides must be a list of 1 to {sides} objects, got {given!r:.60}", sides=SIDES, given=given)
        )
    with page.runs.lock:
        texts = [_written(page, one) for one in given]
        likely = [text.likeliest(COUNT) for text in texts]
        every = list(dict.fromkeys(word.id for words in likely for word in words))
        sides = []
        for text, words in zip(texts, likely, strict=True):
            own = {word.id for word in words}
            others = sorted((text.word(id) for id in every if id not in own), key=lambda word: -word.probability)
            shown = [_entry(word) for word in [*words, *others]]
            sides.append({"words": shown, "ended": text.ended or text.full})
    return {"sides": sides}, []


def _written(page: AskedPage, given: Any) -> NextWords:
    """The text of a side, with the tokens that were added; what was computed of it is used again."""
    if not isinstance(given, dict):
        raise RequestError("sides", worded("sides must be objects, got {given!r:.60}", given=given))
    number = whole(given, "trace", 0, len(page.traces) - 1)
    trace, written = page.traces[number], given.get("written", [])
    if not isinstance(written, list) or len(written) > MOST or not all(isinstance(id, int) for id in written):
        raise RequestError(
            "written",
            worded(
                "written must be a list of at most {most} token ids, got {written!r:.60}", most=MOST, written=written
            ),
        )
    model = page.runs.model(trace)
    if not model.generates():
        raise RequestError(
            "trace", worded("trace must be of a decoder that Eyeline runs, got one of {name}", name=trace.model.name)
        )
    if any(not 0 <= id < model.vocabulary_size for id in written):
        raise RequestError(
            "written",
            worded("written must be token ids from 0 to {vocabulary_size}", vocabulary_size=model.vocabulary_size - 1),
        )
    text = page.runs.going_on.get(number)
    try:
        if text is None or text.added != written[: len(text.added)]:
            text = NextWords(model.model, page.runs.read(trace).tokens, trace.edits)
            page.runs.going_on[number] = text
        for id in written[len(text.added) :]:
            if text.full:
                raise RequestError(
                    "written",
                    worded(
                        "written must leave room within the model's {positions} positions", positions=model.positions
                    ),
                )
            text.go_on(id)
    except (EditError, ModelError) as error:
        raise RequestError("trace", str(error)) from None
    return text


def _entry(word: NextWord) -> list[Any]:
    return [word.id, word.text, float(f"{word.probability:.6g}")]
