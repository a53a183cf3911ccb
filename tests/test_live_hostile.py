"""A live page with what is hostile or broken: texts of markup and controls, links, too long a text, a damaged file."""

from __future__ import annotations

import re

import pytest
from browser import settled
from live import LivePage
from pages import HOSTILE
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def live(chromium, live_file):
    """The file in a browser without a network, with both models ready: nothing may be asked or complained of."""
    shown = LivePage(chromium, live_file)
    shown.runs()
    yield shown
    shown.close()


@pytest.fixture
def page(live):
    live.page.evaluate("location.hash = '#stop=none'")
    settled(live.page)
    return live.page


def enter(page, text):
    """Put a text into the field, as a paste does, and wait until it was run."""
    field = page.locator(".prompt textarea").first
    field.evaluate("(field, text) => { field.value = text; field.dispatchEvent(new Event('input')); }", text)
    return field


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_stays_text_and_so_does_its_link(page, kind):
    wanted = enter(page, HOSTILE[kind]).input_value()
    titled = page.locator(".headline .text").first
    expect(titled).to_contain_text(re.compile(re.escape(wanted.split()[0][:20])))
    settled(page)
    page.wait_for_timeout(400)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    if len(wanted) < 2000:
        expect(page.locator(".prompt textarea").first).to_have_value(wanted)
        expect(titled).to_contain_text(re.compile(re.escape(wanted.split()[0][:20])))
    settled(page)
    assert page.evaluate("window.ran") is None
    assert page.locator("img, svg[onload], .eyeline b:not(.lesson b)").count() == 0


def test_a_text_too_long_an_empty_one_and_no_unicode_are_said_in_a_sentence(page):
    trouble = page.locator(".prompt .trouble").first
    enter(page, "word " * 600)
    expect(trouble).to_have_text(re.compile("^Not run: minilm int8 has 512 positions, got 602 tokens"))
    enter(page, " ")
    expect(trouble).to_be_hidden()  # while one types, an empty field is no mistake
    page.locator(".prompt textarea").first.press("Enter")
    expect(trouble).to_contain_text("Not run: text must have at least one word, got ' '")
    enter(page, "a \ud800")
    expect(trouble).to_contain_text("text must be valid Unicode")
    enter(page, "a bank")
    expect(page.locator(".headline .text").first).to_have_text("a bank")
    expect(trouble).to_be_hidden()


def test_what_the_vocabulary_lacks_is_said(page):
    enter(page, "I love 🇻🇳")
    expect(page.locator(".unknown")).to_have_text("Read as [UNK], since the vocabulary has no pieces for it: 🇻🇳.")


def test_a_link_of_nonsense_opens_the_page(page):
    for words in ("trace=t9&text=", "text=~ffffff~&model=none", "trace=t.7e&text=bank&other=t2,9,9&own=t,t,t"):
        page.evaluate("words => { location.hash = words; }", words)
        settled(page)
        assert page.locator(".eyeline .work .trouble, .eyeline > .trouble").is_hidden()


def test_a_damaged_file_says_so_once_and_shows_what_it_holds(chromium, live_file, tmp_path):
    text = live_file.read_text("utf-8")
    block = re.search(r'id="eyeline-weights-0-1">', text)
    damaged = tmp_path / "damaged.html"
    at = block.end() + 4000
    damaged.write_text(text[:at] + "AAAAAAAA" + text[at + 8 :], "utf-8")
    shown = LivePage(chromium, damaged)
    trouble = shown.page.locator(".prompt .trouble").first
    expect(trouble).to_contain_text("the model in this file is damaged")
    expect(shown.page.locator(".token", has_text="flies").first).to_be_visible()
    shown.close()
