"""Texts that are markup, script or steering to who takes them for it: views stay inert, and show them as typed."""

from __future__ import annotations

import re

import pages
import pytest
from browser import each_view, settled

from eyeline.views.labels import printable
from eyeline.views.page import Page

# What a text must not have become. Text of the page's own stands in none of these.
GROWN = """() => [
  ...document.querySelectorAll(".eyeline :is(script, style, img, iframe, object, embed, link, meta, base, title)"),
  ...[...document.querySelectorAll("*")].filter((one) => one.getAttributeNames().some((name) => /^on/i.test(name))),
].map((one) => one.outerHTML.slice(0, 200))"""


def inert(shown):
    assert shown.evaluate(GROWN) == []
    assert shown.evaluate("[window.ran, {}.polluted, document.images.length]") == [None, None, 0]


@pytest.mark.parametrize("kind", pages.HOSTILE)
def test_every_view_of_a_hostile_text_is_inert(page_of, kind):
    text = pages.HOSTILE[kind]
    page = Page([pages.trace(text, name=text[:60], model=text[:60]), pages.trace(text + " again", seed=1, pieces=2)])
    shown = page_of(page, words="token=1")
    assert shown.title()
    for view in each_view(shown):
        inert(shown)
        if view == "sentence":
            words = [printable(word) for word in text.split(" ") if word]
            assert [token.text_content() for token in shown.locator(".token").all()] == words
    shown.get_by_role("button", name="Save and share").click()
    settled(shown)
    inert(shown)


def test_pieces_of_hostile_words_are_inert_too(page_of):
    text = " ".join(text for kind, text in pages.HOSTILE.items() if kind != "long")
    shown = page_of(pages.trace(text, pieces=3), words="unit=pieces special=shown token=2")
    for _ in each_view(shown):
        inert(shown)


def test_the_file_has_no_word_of_a_text_as_markup(tmp_path):
    for kind, text in pages.HOSTILE.items():
        path = tmp_path / f"{kind}.html"
        Page([pages.trace(text, name=text[:40])]).save(path)
        written = path.read_text("utf-8")
        # Two scripts of ours; the others are blocks of data, which end where we end them.
        assert re.findall(r"<script[^>]*>", written).count("<script>") == 2
        begun, ended = (len(re.findall(sign, written, re.IGNORECASE)) for sign in ("<script", "</script"))
        assert begun == ended
        assert not [sign for sign in ("<img", "<svg onload", "<b>bold", "<style", "<!--", "\u2028", "\u2029") if sign in written]


def test_a_text_of_100_000_characters_is_shown(page_of):
    text = pages.words(512) + " " + "x" * (100_000 - 6_000)
    text = text[:100_000]
    shown = page_of(pages.trace(text, layers=1, heads=2, head_dim=4), words="token=514 head=0")
    for _ in each_view(shown):
        assert shown.evaluate("document.documentElement.scrollWidth") <= 1280
