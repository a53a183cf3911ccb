"""The lesson: every stop opens its view, and its question is checked with the numbers on screen, in both languages."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.traces import TraceError
from eyeline.views.page.lesson_page import lesson
from eyeline.words.translations import page_table
from tests.browser import settled

STOPS = ("what", "sum", "qkv", "score", "example", "cross", "context", "masks", "heads", "cost", "both", "limits")
VIEWS = {
    "what": "sentence", "sum": "sentence", "qkv": "steps", "score": "steps", "example": "toy", "cross": "sentence",
    "context": "compare", "masks": "matrix", "heads": "overview", "cost": "cost", "both": "matrix", "limits": "steps",
}  # fmt: skip
LANGUAGES = ("en", "vi")


@pytest.fixture(scope="module")
def made():
    """The lesson's page."""
    return lesson()


@pytest.fixture(scope="module")
def path(made, tmp_path_factory):
    """The lesson as a file."""
    path = tmp_path_factory.mktemp("lesson") / "lesson.html"
    made.save(path)
    return path


def test_an_encoder_decoder_reads_no_sentences():
    with pytest.raises(TraceError, match="model must be an encoder of sentences, such as minilm, got 'dates', an enc"):
        lesson(model="dates")


def said(language, key, **values):
    """A text of the page, as a reader sees it."""
    text = page_table()[key][LANGUAGES.index(language)]
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def at_stop(open_page, path, language, name):
    """The lesson's file, at a stop that was chosen there."""
    page = open_page(path, language={"en": "en-US", "vi": "vi-VN"}[language])
    settled(page)
    page.locator(".lesson .stops button").nth(STOPS.index(name)).click()
    expect(page.locator(".lesson h2")).to_contain_text(said(language, f"lesson.{name}.title"))
    settled(page)
    return page


def row(made):
    """The weights of *flies* in the head that the lesson opens on, and the words."""
    told = made.header()["opening"]
    trace = made.traces[0]
    return trace, told, trace.weights(told["layer"], told["head"])[told["token"]]


def right_word(name, made):
    """The right answer to a question for a word, from NumPy."""
    trace, told, weights = row(made)
    if name == "limits":
        weights = weights * np.linalg.norm(trace.layers[told["layer"]].v[told["head"]], axis=-1)
        return trace.queries.pieces[int(np.argmax(weights))]
    words = [place for place in range(1, len(weights) - 1) if place != told["token"]]
    return trace.queries.pieces[max(words, key=lambda place: weights[place])]


def right_number(name, made):
    """The right answer to a question for a number, from NumPy."""
    if name == "context":
        one, other = (trace.vectors[1:, 2].astype(np.float64) for trace in made.traces[:2])
        cosines = (one * other).sum(-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(other, axis=-1)
        return str(int(np.argmin(cosines)))
    return {"sum": "1", "qkv": "32", "score": "5.66", "example": "55", "masks": "3", "cost": "4"}[name]


def answer(page, name, made, right):
    """Give an answer to the question of the stop that is open, and ask for it to be checked."""
    form = page.locator(".lesson form")
    if name in ("what", "limits"):
        wanted = right_word(name, made)
        labels = form.locator(".answers label")
        texts = labels.all_inner_texts()
        at = next(at for at, text in enumerate(texts) if (text.strip() == wanted) == right)
        labels.nth(at).locator("input").check()
    elif name == "cross":
        form.locator(f"input[value={'other' if right else 'same'}]").check()
    elif name == "heads" and right:
        kinds = made.header()["traces"][0]["kinds"]
        layer, head = next(
            (layer, head)
            for layer, heads in enumerate(kinds)
            for head, labels in enumerate(heads)
            if "previous" in labels
        )
        page.locator(".lesson h2").focus()
        page.evaluate(f"location.hash = location.hash + '&layer={layer}&head={head}'")
        settled(page)
    elif name == "both" and right:
        page.evaluate("location.hash = location.hash + '&trace=4'")
        settled(page)
    elif name not in ("heads", "both"):
        form.locator("input").fill(right_number(name, made) if right else "77")
    form.locator("button[type=submit]").click()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", STOPS)
def test_each_stop(open_page, path, made, language, name):
    page = at_stop(open_page, path, language, name)
    assert re.search(rf"\bview={VIEWS[name]}\b", page.url) or VIEWS[name] == "sentence"
    for part in ("first", "second", "third", "try"):
        text = said(language, f"lesson.{name}.{part}").split("{word}")[-1].strip()
        expect(page.locator(".lesson")).to_contain_text(text)
    verdict = page.locator(".lesson .verdict")
    answer(page, name, made, right=False)
    expect(verdict).to_contain_text(said(language, "lesson.wrong"))
    expect(verdict).to_contain_text(said(language, f"lesson.{name}.hint"))
    assert "done=" not in page.url
    answer(page, name, made, right=True)
    expect(verdict).to_contain_text(said(language, "lesson.right").rstrip("."))
    expect(page.locator(".lesson .stops button").nth(STOPS.index(name))).to_have_text("✓")
    assert re.search(rf"\bdone={STOPS.index(name)}\b", page.url)


def test_progress_is_in_the_address(open_page, path):
    page = open_page(path, words="stop=3 done=0,2 view=steps")
    settled(page)
    marks = page.locator(".lesson .stops button").all_inner_texts()
    assert marks == ["✓", "2", "✓", *map(str, range(4, 13))]
    expect(page.locator(".lesson .stops [aria-current]")).to_have_text("4")
    page.get_by_role("button", name=said("en", "lesson.next")).click()
    expect(page.locator(".lesson .stops [aria-current]")).to_have_text("5")
    page.go_back()
    expect(page.locator(".lesson .stops [aria-current]")).to_have_text("4")


@pytest.mark.parametrize(("name", "step"), [("qkv", 1), ("score", 2), ("limits", 5)])
def test_a_stop_goes_to_its_step(open_page, path, name, step):
    page = at_stop(open_page, path, "en", name)
    expect(page.locator(".steps .formula [aria-current=step]")).to_have_attribute("data-part", str(step))
    heading = page.locator(f".steps [data-step='{step}']").bounding_box()
    assert 0 < heading["y"] < 500


def test_the_focus_goes_to_the_title_of_the_next_stop_and_stays_where_an_answer_is_given(open_page, path):
    page = at_stop(open_page, path, "en", "example")
    page.get_by_role("button", name=said("en", "lesson.next")).press("Enter")
    expect(page.locator(".lesson h2")).to_contain_text(said("en", "lesson.cross.title"))
    expect(page.locator(".lesson h2")).to_be_focused()
    page.locator(".lesson input[value=other]").check()
    page.locator(".lesson input[value=other]").press("Enter")
    expect(page.locator(".lesson .verdict")).to_contain_text(said("en", "lesson.right").rstrip("."))
    expect(page.locator(".lesson input[value=other]")).to_be_focused()


def test_a_question_names_the_word_that_its_answer_is_about(open_page, path, made):
    page = open_page(path, words="stop=0 token=none")
    settled(page)
    expect(page.locator(".lesson .question b")).to_contain_text("“time”")
    cross = made.lesson["cross"]
    last = len(made.traces[cross].across) - 1
    page = open_page(path, words=f"stop=5 trace={cross} token={last} toward=to")
    settled(page)
    expect(page.locator(".lesson h2")).to_contain_text(said("en", "lesson.cross.title"))
    assert last >= len(made.traces[cross].queries)  # a key without a query at its place


def test_an_address_may_name_a_stop_alone(open_page, path):
    page = open_page(path, words="stop=6 language=vi")
    settled(page)
    expect(page.locator(".lesson h2")).to_contain_text(said("vi", "lesson.context.title"))
    expect(page.get_by_role("tab", selected=True)).to_have_text(said("vi", "view.compare"))
    assert re.search(r"\bview=compare\b.*\bstop=6\b", page.url)


def test_the_tab_opens_and_closes_the_lesson(page_of, made):
    from eyeline.views.page import Page

    beside = Page(made.traces, {"trace": 0, "token": 2})  # as `eyeline view` has it, which opens without the lesson
    beside.lesson = made.lesson
    page = page_of(beside, words="")
    settled(page)
    tab = page.get_by_role("button", name=said("en", "lesson"), exact=True)
    expect(page.locator(".lesson")).to_be_hidden()
    tab.click()
    expect(page.locator(".lesson h2")).to_contain_text(said("en", "lesson.what.title"))
    tab.click()
    expect(page.locator(".lesson")).to_be_hidden()


def test_a_page_without_the_lesson_has_no_tab_of_it(page_of):
    from tests import pages

    page = page_of(pages.trace())
    settled(page)
    assert page.get_by_role("tab", name=said("en", "lesson")).count() == 0
