"""Typing in a live page, from a file without a network: the picture follows, links carry the sentence, and cancelling."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser import settled
from live import LivePage, minilm
from playwright.sync_api import expect

import eyeline as el

BANK = "the bank of the river"
MONEY = "my bank is closed"


@pytest.fixture(scope="module")
def live(chromium, live_file):
    """The file in a browser without a network, with both models ready."""
    shown = LivePage(chromium, live_file, viewport={"width": 1280, "height": 800})
    shown.runs()
    yield shown
    shown.close()


@pytest.fixture
def page(live):
    """The page as it opens, without the lesson and without what was typed before."""
    live.page.evaluate("location.hash = '#stop=none'")
    settled(live.page)
    return live.page


def field(page):
    return page.get_by_label("Type a sentence", exact=True)


def text(page):
    """The text that is shown."""
    return page.locator(".headline .text").first


def texts(page):
    """The texts that can be chosen."""
    return page.get_by_label("Text", exact=True).locator("option").all_text_contents()


def words(page):
    """What the address says, once the last key is a while ago."""
    page.wait_for_timeout(400)
    return page.evaluate("decodeURIComponent(location.hash)")


def typed(page, sentence):
    """Type a sentence, and wait until it is shown."""
    field(page).fill(sentence)
    expect(text(page)).to_have_text(sentence)
    settled(page)


def test_the_picture_follows_and_the_list_of_texts_does_not_grow_with_every_key(page):
    before = texts(page)
    field(page).fill("")
    field(page).press_sequentially(BANK, delay=20)
    expect(text(page)).to_have_text(BANK)
    expect(page.locator(".token", has_text="river").first).to_be_visible()
    assert texts(page) == [*before, BANK]
    typed(page, f"{BANK} is green")
    assert texts(page) == [*before, f"{BANK} is green"]
    # Kept, it stays, and what is typed next is another text.
    field(page).press("Enter")
    assert field(page).input_value() == f"{BANK} is green"
    typed(page, MONEY)
    assert texts(page) == [*before, f"{BANK} is green", MONEY]
    expect(page.get_by_role("button", name="Keep", exact=True)).to_be_enabled()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("button", name="Keep", exact=True)).to_be_disabled()


def test_its_numbers_are_those_of_python(live, page):
    typed(page, "an old bank by the river was flooded")
    page.evaluate("location.hash = location.hash + '&layer=4&head=7&token=3'")
    settled(page)
    trace = el.record("an old bank by the river was flooded", model=minilm())
    row = trace.weights(4, 7)[3]
    _, (q, k, lse, *_) = live.asked("head", layer=4, head=7)
    weights = np.exp(trace.layers[4].scale * q.reshape(-1, 32) @ k.reshape(-1, 32).T - lse[:, None])
    assert np.abs(weights[3] - row).max() < 1e-6
    # The percentages on screen are these, in whole percent.
    shown = page.locator(".bar-row, .bar-list li, .bars tr").all_inner_texts()
    assert any(f"{round(100 * row[5])}%" in one for one in shown) or f"{round(100 * row[5])}%" in page.inner_text(
        ".panel"
    )


def test_shift_enter_is_a_new_line(page):
    typed(page, "a bank")
    field(page).press("Shift+Enter")
    field(page).press_sequentially("a river")
    assert field(page).input_value() == "a bank\na river"
    expect(page.locator(".headline .text").first).to_have_text("a bank\na river", use_inner_text=False)


def test_the_pinned_word_stays_pinned_while_the_sentence_grows(page):
    typed(page, "the river bank")
    page.evaluate("location.hash = location.hash.replace(/&token=[^&]*/, '') + '&token=3'")
    settled(page)
    typed(page, "near the river bank")
    assert "token=4" in words(page)
    expect(page.locator(".says")).to_contain_text("“bank”")


def test_the_link_carries_the_sentence_and_the_model(live, page):
    typed(page, "a stream; 50% of it")
    assert "trace=t&" in words(page)
    assert "text=a+stream~3b~+50~25~+of+it" in words(page)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(text(page)).to_have_text("a stream; 50% of it")
    expect(field(page)).to_have_value("a stream; 50% of it")
    settled(page)
    assert page.url == address
    # A link made by hand, of another model: letter by letter it writes a date.
    page.goto("about:blank")
    page.goto(f"{address.partition('#')[0]}#text=24+December+1999&model=dates")
    expect(text(page)).to_have_text("1999-12-24 → 24 December 1999")
    expect(field(page)).to_have_value("24 December 1999")
    expect(page.get_by_label("Model", exact=True)).to_have_value("dates")
    live.runs()


def test_back_and_forward_go_between_texts_and_typing_is_one_step(page):
    typed(page, "first bank")
    field(page).press("Enter")
    typed(page, "second bank")
    typed(page, "second bank here")
    words(page)
    page.go_back()
    expect(text(page)).to_have_text("first bank")
    expect(field(page)).to_have_value("first bank")
    page.go_forward()
    expect(text(page)).to_have_text("second bank here")
    expect(field(page)).to_have_value("second bank here")


def test_a_text_that_is_too_long_for_a_link_is_refused_in_words(page):
    typed(page, "w" * 2001)
    assert "text=" not in words(page)
    page.get_by_role("button", name="Save and share").click()
    expect(page.locator("dialog[open]")).to_contain_text("The text is left out of the words and the link")
    page.keyboard.press("Escape")
    page.evaluate("location.hash = '#view=matrix&trace=t&layer=4&token=1'")
    settled(page)
    expect(page.locator(".prompt .trouble")).to_have_text(
        "Not run: this link is of a text that it doesn't carry, as it was too long"
    )
    assert "view=matrix" in words(page)
    assert "layer=4" not in words(page)


def test_two_typed_sentences_are_compared(page):
    typed(page, BANK)
    page.get_by_role("tab", name="Compare").click()
    page.get_by_label("Type a second sentence to compare with").fill(MONEY)
    expect(text(page)).to_have_text(BANK)
    expect(page.locator(".headline .text").nth(1)).to_have_text(MONEY)
    settled(page)
    expect(page.locator(".says")).to_contain_text("bank: its two vectors part most")
    assert re.search(r"trace=t&.*other=t2,.*text=the\+bank\+of\+the\+river&text2=my\+bank\+is\+closed", words(page))
    # The cosine at the last layer is Python's.
    one, other = (el.record(sentence, model=minilm(), keep=["vectors"]).vectors[-1, 2] for sentence in (BANK, MONEY))
    cosine = float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    expect(page.locator(".river-row").last).to_contain_text(f"{cosine:.2f}")


def test_escape_and_the_button_cancel_a_run_and_the_page_goes_on(page):
    typed(page, "short bank")
    long = "the bank of a river " * 90
    for cancel in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.evaluate("document.querySelector('.prompt .wide button').click()"),
    ):
        page.evaluate(
            """text => { const field = document.querySelector('.prompt textarea');
          field.value = text; field.dispatchEvent(new Event('input')); }""",
            long,
        )
        page.wait_for_timeout(30)
        cancel()
        settled(page)
        expect(text(page)).to_have_text("short bank")
        assert field(page).input_value() == long
    typed(page, "short bank again")


def test_the_page_stays_smooth_while_the_worker_is_busy(page):
    typed(page, "a bank")
    slow = page.evaluate(
        """async text => {
      const field = document.querySelector('.prompt textarea');
      field.value = text;
      field.dispatchEvent(new Event('input'));
      let frames = 0;
      const began = performance.now();
      while (performance.now() - began < 300) { await new Promise(requestAnimationFrame); frames += 1; }
      return frames;
    }""",
        "the bank of a river " * 60,
    )
    assert slow > 3  # frames: were the text run in the page's own thread, there would be none
    expect(page.locator(".headline .text").first).to_contain_text("the bank of a river the bank", timeout=30_000)


def test_exports_say_the_model_with_its_rounded_weights(page):
    typed(page, BANK)
    page.get_by_role("button", name="Save and share").click()
    with page.expect_download() as download:
        page.locator("dialog[open] button", has_text=re.compile("^CSV$")).click()
    rows = download.value.path().read_text("utf-8").splitlines()
    assert rows[0].startswith("input,model,")
    assert rows[1].startswith(f"{BANK},minilm int8,")
    assert "minilm-int8" in download.value.suggested_filename
    with page.expect_download() as download:
        page.locator("dialog[open] button", has_text=re.compile("^SVG$")).click()
    assert "minilm int8" in download.value.path().read_text("utf-8")
    link = page.locator("dialog[open] input[readonly]").nth(1).input_value()
    assert link.endswith("text=the+bank+of+the+river")
    page.keyboard.press("Escape")


def test_it_speaks_vietnamese(page):
    typed(page, BANK)
    page.get_by_label("Language").select_option("vi")
    expect(page.get_by_label("Gõ một câu", exact=True)).to_have_value(BANK)
    expect(page.get_by_role("button", name="Giữ", exact=True)).to_be_visible()
    page.get_by_label("Ngôn ngữ").select_option("en")
