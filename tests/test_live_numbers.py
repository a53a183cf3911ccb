"""The numbers of a live page: what its worker makes of a typed text and answers about it, against `record` with the
same rounded weights."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from live import LivePage, minilm

from eyeline.answers.telling import telling
from eyeline.traces import Keep
from eyeline.traces.model_choice import text_model
from eyeline.traces.recording import record_text
from eyeline.views.page import Page
from eyeline.views.page.message import trace_entry
from eyeline.views.page.requests.errors import RequestError

#: The name of the file's rounded model.
MODEL = "minilm int8"
TEXTS = (
    "time flies like an arrow",
    "hello",
    "...",
    "Well, time flies!? «no», it doesn't — really (so)...",
    "the the the the cat cat cat the the",
    "Tôi không thích cơm rang, nhưng tôi rất thích phở bò Hà Nội.",
    "🦜 flies 👨‍👩‍👧‍👦 🙂🙂 over",
    "Supercalifragilisticexpialidocious antidisestablishmentarianism, naïve café – déjà vu",
    "日本語 の テスト です 。",
    "</script> <b>bold</b> &amp; `${1}` __proto__",
    " ".join(f"word {number % 17} isn't number {number}, said she." for number in range(15)),
)
DATES = ("3rd of March, 2021", "12.11.2003")


@pytest.fixture(scope="module")
def model():
    """The model whose weights the file has."""
    return minilm()


@pytest.fixture(scope="module")
def live(chromium, live_file):
    """A live page whose models can run."""
    opened = LivePage(chromium, live_file)
    opened.runs()
    opened.taken = 5  # the traces of the lesson
    yield opened
    opened.close()


def run(live, text, model=MODEL, **changes):
    """What the worker makes of a text, entries and opening, once it has kept that; and its first trace's number."""
    made = live.job("run", text=text, model=model, **{"mask": None, "scale": None, **changes})
    first = live.taken
    live.job("keep", first=first)
    live.taken += len(made["entries"])
    return made | {"first": first}


def of_text(model, text, **changes):
    """The trace that Python makes of it, with all that a page asks for."""
    keep = Keep(vectors="all", measures=True, input=True)
    asked = text_model(model)
    return record_text(asked, asked.read(text), keep=keep, **changes)


def parts_of(text):
    """The traces of a date: encoder, decoder, cross."""
    return text_model("dates").record_parts(text, Keep(vectors="all", measures=True, input=True)).traces


def check(found: Any, wanted: Any, where: str) -> None:
    """Compare an entry: numbers of five digits, or four decimals, up to one unit of the last; all else exactly."""
    if isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1.01e-4, abs=1.01e-4 if ".kinds" in where else 1e-6), where
    elif isinstance(wanted, Mapping):
        assert list(found) == list(wanted), where
        for key in wanted:
            check(found[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), where
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            check(one, other, f"{where}[{place}]")
    else:
        assert found == wanted, where


def check_run(found, traces):
    """Compare what the worker made of a text with Python's traces."""
    for entry, trace in zip(found["entries"], traces, strict=True):
        wanted = trace_entry(trace)
        if max(len(trace.queries), len(trace.across)) <= 32:
            wanted["picture"] = None  # the page draws the thumbnails itself
        check(entry, wanted, trace.queries.text[:20])
    opening, wanted = found["opening"], telling(traces[-1])
    if wanted is None:
        assert opening is None
    else:
        check(opening, vars(wanted), traces[-1].queries.text[:20])


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
def test_the_entry_and_the_opening_of_a_typed_text(live, model, text):
    check_run(run(live, text), [of_text(model, text)])


def test_those_of_a_changed_run(live, model):
    changed = {"mask": "causal", "scale": 1.0}
    found = run(live, TEXTS[0], **changed)
    check_run(found, [of_text(model, TEXTS[0], **changed)])
    assert found["entries"][0]["name"] == "causal, without ÷ √d"


@pytest.mark.parametrize("text", DATES)
def test_those_of_a_date(live, text):
    check_run(run(live, text, "dates"), parts_of(text))


def reply(live, request):
    """The worker's reply to a request, and its arrays."""
    answer = live.job("answer", id=7, **request)
    kind = {"float16": np.float16}.get(answer["reply"].get("dtype"), np.float32)
    return answer["reply"], [base64.b64decode(text) for text in answer["buffers"]], kind


def check_reply(live, page, request, number):
    """Compare the worker's reply about its trace `number` with Python's about the same of `page`."""
    wanted, arrays = page.answer({"id": 7, **request})
    moved = {name: request[name] + number for name in ("trace", "other") if name in request}
    found, buffers, kind = reply(live, {**request, **moved})
    if "words" in wanted:
        assert [[word for word, _ in level] for level in found["words"]] == [
            [word for word, _ in level] for level in wanted["words"]
        ]
    check(found, wanted, request["kind"])
    assert len(buffers) == len(arrays)
    for place, (one, other) in enumerate(zip(buffers, arrays, strict=True)):
        dtype = np.uint8 if request["kind"] == "overview" and not place else kind
        one, other = (np.frombuffer(data, dtype).astype(np.float64) for data in (one, other))
        # Halves and bytes may be rounded up instead of down.
        unit = {np.float16: 2**-10, np.uint8: 1 / 255}.get(dtype, 1e-5)
        np.testing.assert_allclose(
            one, other, rtol=0, atol=unit * np.abs(other).max(initial=1e-3), err_msg=f"{request}"
        )


def test_the_replies_about_typed_texts(live, model):
    """Every kind, of two texts and a longer one; a page of Python's has the same traces."""
    texts = (TEXTS[5], TEXTS[3], TEXTS[10])
    page = Page([of_text(model, text) for text in texts])
    number, *_ = [run(live, text)["first"] for text in texts]
    for request in (
        *({"kind": "head", "trace": trace, "layer": 5, "head": head} for trace in range(3) for head in (0, 11)),
        *({"kind": "projections", "trace": 0, "layer": layer, "head": 3} for layer in (0, 4)),
        *({"kind": "products", "trace": 0, "other": other} for other in (0, 1)),
        *({"kind": "nearest", "trace": 1, "token": token, "last": token + 2} for token in (1, 9)),
        {"kind": "positions", "trace": 0},
        {"kind": "positions", "trace": 0, "brief": 1},
        {"kind": "overview", "trace": 2},
        {
            "kind": "picture",
            "trace": 2,
            "layer": 1,
            "head": 4,
            "queries": [3, 90],
            "keys": [10, 121],
            "rows": 20,
            "columns": 37,
        },
    ):
        check_reply(live, page, request, number)


def test_the_replies_about_a_date(live):
    page = Page(parts_of(DATES[0]))
    number = run(live, DATES[0], "dates")["first"]
    for trace in range(3):
        check_reply(live, page, {"kind": "head", "trace": trace, "layer": 1, "head": 2}, number)
        for layer in range(2):
            check_reply(live, page, {"kind": "projections", "trace": trace, "layer": layer, "head": 1}, number)
        check_reply(live, page, {"kind": "products", "trace": trace, "other": trace}, number)
        check_reply(live, page, {"kind": "positions", "trace": trace}, number)
    check_reply(live, page, {"kind": "nearest", "trace": 0, "token": 3, "last": 6}, number)


def test_wrong_requests_are_refused_as_in_python(live, model):
    page = Page([of_text(model, TEXTS[0]), of_text(model, TEXTS[10]), parts_of(DATES[0])[2]])
    number = run(live, TEXTS[0])["first"]
    run(live, TEXTS[10])
    run(live, DATES[0], "dates")
    picture = {
        "kind": "picture",
        "trace": 1,
        "layer": 0,
        "head": 0,
        "queries": [0, 8],
        "keys": [0, 8],
        "rows": 2,
        "columns": 2,
    }
    for request in (
        {"kind": "head", "trace": 0, "layer": 6, "head": 0},
        {"kind": "head", "trace": 0, "layer": 0, "head": 1.5},
        {"kind": "products", "trace": 0, "other": 1},
        {"kind": "nearest", "trace": 0, "token": 3, "last": 3},
        {**picture, "keys": [8, 8]},
        {**picture, "rows": 9},
        {"kind": "positions", "trace": 0, "brief": 2},
    ):
        with pytest.raises(RequestError) as refused:
            page.answer({"id": 7, **request})
        moved = {name: request[name] + number for name in ("trace", "other") if name in request}
        found, buffers, _ = reply(live, {**request, **moved})
        assert found["error"]["argument"] == refused.value.argument, request
        assert found["error"]["message"].partition(", got ")[0] == refused.value.message.partition(", got ")[0]
        assert found["id"] == 7
        assert not buffers
