"""The lesson of a live page on the reader's own sentences: its questions are checked with the numbers of these."""

from __future__ import annotations

import numpy as np
import pytest
from browser import settled
from live import LivePage, minilm
from playwright.sync_api import expect

import eyeline as el
from eyeline.answers.telling import telling

OWN = "the old bank by the river was flooded"
OTHER = "she works in a bank downtown"


@pytest.fixture(scope="module")
def live(chromium, live_file):
    """The file in a browser without a network, with both models ready."""
    shown = LivePage(chromium, live_file, viewport={"width": 1280, "height": 900})
    shown.runs()
    yield shown
    shown.close()


def choose(page, stop):
    page.locator(".lesson .stops button").nth(stop).click()
    settled(page)


def verdict(page):
    return page.locator(".lesson .verdict")


def test_a_typed_sentence_becomes_the_lesson_s(live):
    page = live.page
    expect(page.locator(".own-sentence")).to_contain_text("Type a sentence of your own above")
    page.locator(".prompt textarea").first.fill(OWN)
    expect(page.locator(".own-sentence")).to_contain_text("The lesson is about your sentence now.")
    settled(page)
    trace = el.record(OWN, model=minilm())
    told = telling(trace)
    assert told is not None
    expect(page.locator(".headline .site")).to_have_text(f"L{told.layer}H{told.head}")
    # The word that is looked at most is Python's.
    asked = page.locator(".lesson .question b").inner_text().split("“")[1].split("”")[0]
    row = trace.weights(told.layer, told.head)[trace.queries.pieces.index(asked)].copy()
    row[[0, -1, trace.queries.pieces.index(asked)]] = 0
    right = trace.queries.pieces[int(np.argmax(row))]
    page.locator(".lesson .answers label", has_text=right).first.locator("input").check()
    page.locator(".lesson form button").click()
    expect(verdict(page)).to_contain_text("Right")


def test_two_sentences_with_a_word_in_common_are_compared(live):
    page = live.page
    choose(page, 6)
    expect(page.locator(".own-sentence")).to_contain_text("Type a second one that shares a word with yours")
    second = page.get_by_label("Type a second sentence to compare with")
    second.fill("nothing to see")
    expect(page.locator(".own-sentence")).to_contain_text("no word in common")
    second.fill(OTHER)
    expect(page.locator(".own-sentence")).to_contain_text("These are your sentences.")
    settled(page)
    expect(page.locator(".lesson")).to_contain_text("Before the first layer the two vectors of bank differ at most by")
    one, other = (el.record(text, model=minilm(), keep=["vectors"]) for text in (OWN, OTHER))
    a = one.vectors[1:, one.queries.pieces.index("bank")].astype(np.float64)
    b = other.vectors[1:, other.queries.pieces.index("bank")].astype(np.float64)
    cosines = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    page.locator(".lesson form input").fill(str(int(np.argmin(cosines))))
    page.locator(".lesson form button").click()
    expect(verdict(page)).to_contain_text("Right")


def test_the_way_back_is_the_lesson_s_own_sentence(live):
    page = live.page
    page.get_by_role("button", name="Back to the lesson's sentence").click()
    settled(page)
    expect(page.locator(".lesson")).to_contain_text("flies")
    choose(page, 0)
    expect(page.locator(".headline .text").first).to_have_text("time flies like an arrow")
    expect(page.locator(".prompt textarea").first).to_have_value("time flies like an arrow")
