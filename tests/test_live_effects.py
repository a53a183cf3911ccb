"""On the live page: what matters and where a score comes from, with the numbers that Python has for these weights."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from live import LivePage, minilm
from playwright.sync_api import expect

import eyeline as el
from eyeline.models import load
from eyeline.traces import text_model
from eyeline.views.page import Page

FLIES = "time flies like an arrow"
TYPED = "Unbelievably naïve hoverboards don't fly"
SPLIT = "Some cheap hoverboards don't fly"


@pytest.fixture(scope="module")
def model():
    """The model whose weights the file has."""
    return minilm()


@pytest.fixture(scope="module")
def shown(chromium, live_file):
    """The file in a browser without a network, both models ready."""
    live = LivePage(chromium, live_file)
    live.runs()
    yield live
    live.close()


def go(shown, words):
    """Change the page's state."""
    shown.page.evaluate("(words) => { location.hash = words; }", words.replace(" ", "&"))


def typed(shown, text):
    """Have a text run; the number of its first trace."""
    before = shown.page.evaluate("window.answers.filter(({ job }) => job === 'keep').length")
    shown.page.locator(".prompt textarea").fill(text)
    shown.answered("keep", before + 1)
    return shown.page.evaluate("window.answers.findLast(({ job }) => job === 'keep').request.first")


def python_effects(text, model, **asked):
    return el.effects(text, model=model, edges=0, **asked)


def check_effects(shown, trace, found, **asked):
    """Wait for the overview's effects of a trace, and compare them with Python's."""
    expect(shown.page.locator(".overview-legend .scale")).to_be_visible(timeout=60_000)
    reply, (heads, looks) = shown.asked("effects", trace=trace, **asked)
    assert (reply["over"], reply["measure"], reply["by"], reply["complete"]) == (True, found.measure, "zero", True)
    assert reply["shape"] == list(found.heads.shape)
    np.testing.assert_allclose(heads.reshape(reply["shape"]), found.heads, atol=2e-7)
    np.testing.assert_allclose(looks.reshape(reply["shape"]), found.looks, atol=2e-6)


def test_the_effects_on_a_word_are_pythons(shown, model):
    go(shown, "view=overview colour=matters trace=0 token=2")
    found = python_effects(FLIES, model, token="flies")
    check_effects(shown, 0, found, token=2)
    layer, head = found.ordered[0]
    expect(shown.page.locator(".says")).to_contain_text(
        f"L{layer}H{head} matters most: without it, the vector of “flies”"
    )


def test_the_effects_on_a_typed_text_are_pythons(shown, model):
    number = typed(shown, TYPED)
    go(shown, f"view=overview colour=matters trace={number} token=none")
    check_effects(shown, number, python_effects(TYPED, model, embed=True))


def test_a_word_of_several_tokens_is_measured_as_one(shown, model):
    number = typed(shown, SPLIT)
    tokens = model.tokens(SPLIT)
    last = max(place for place, word in enumerate(tokens.words) if word == 2)
    first = tokens.words.index(2)
    assert (tokens.word(2), last - first) == ("hoverboards", 3)
    go(shown, f"view=overview colour=matters trace={number} token={last}")
    check_effects(shown, number, python_effects(SPLIT, model, token="hoverboards"), token=first)


def test_what_was_done_when_it_was_stopped_is_kept(shown):
    number = typed(shown, "the cat sat on the mat and " * 40)
    go(shown, f"view=overview colour=matters trace={number} token=none")
    legend = shown.page.locator(".overview-legend")
    expect(legend).to_contain_text(re.compile(r"\b[1-9]\d* of 72"), timeout=60_000)
    legend.locator("[data-focus=matters-stop]").click()
    expect(legend.locator(".scale")).to_be_visible(timeout=60_000)
    reply, (heads, _) = shown.asked("effects", trace=number)
    known = np.flatnonzero(~np.isnan(heads))
    assert (reply["over"], reply["complete"]) == (True, False)
    assert 0 < len(known) < 72
    assert known.min() >= 60 - 12 * (len(known) // 12)  # from the last layer to the first


def numbers_in(value, path=""):
    """The numbers and names of a reply, by their places."""
    if isinstance(value, dict):
        return {k: v for name, one in value.items() for k, v in numbers_in(one, f"{path}.{name}").items()}
    if isinstance(value, list):
        return {k: v for at, one in enumerate(value) for k, v in numbers_in(one, f"{path}.{at}").items()}
    return {path: value}


def check_sources(shown, page, request):
    """Compare the page's reply with Python's."""
    shown.answered("answer", **request)
    reply, buffers = shown.asked(**request)
    wanted, _ = page.answer({"id": reply["id"], **request, "trace": 0})
    assert buffers == []
    got, wanted = numbers_in(reply), numbers_in(wanted)
    assert got.keys() == wanted.keys()
    for place, value in wanted.items():
        if isinstance(value, float):
            assert math.isclose(got[place], value, rel_tol=1e-4, abs_tol=2e-5), place
        else:
            assert got[place] == value, place


@pytest.mark.parametrize(("layer", "head", "query", "key"), [(5, 2, 2, 1), (0, 4, 3, 5), (3, 11, 0, 6)])
def test_a_scores_sources_are_pythons(shown, model, layer, head, query, key):
    page = Page([el.record(FLIES, model=model)], models={model.name: text_model(model)})
    go(shown, f"view=steps trace=0 layer={layer} head={head} token={query} key={key}")
    request = {"kind": "sources", "trace": 0, "layer": layer, "head": head, "query": query, "key": key}
    check_sources(shown, page, request)
    expect(shown.page.locator("[data-block='sources'] .source-bars")).to_have_count(3)


def test_the_sources_of_an_encoder_decoders_encoder_are_pythons(shown):
    text = "5 May 1998"
    go(shown, "view=sentence trace=0")
    shown.page.get_by_label("Model", exact=True).select_option("dates")
    number = typed(shown, text)
    page = Page(list(el.record(text, model="dates"))[:1], models={"dates": text_model(load("dates"))})
    go(shown, f"view=steps trace={number} layer=1 head=3 token=2 key=4")
    check_sources(shown, page, {"kind": "sources", "trace": number, "layer": 1, "head": 3, "query": 2, "key": 4})
