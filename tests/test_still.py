"""The still picture where a page's scripts don't run: its numbers are the page's, and it is readable as it is."""

from __future__ import annotations

import functools
import http.server
import re
import threading

import numpy as np
import pages
import pytest

import eyeline as el
from eyeline.masks import Causal
from eyeline.traces import Trace, record
from eyeline.views.labels import percent
from eyeline.views.page import Page
from eyeline.views.page.still import ROWS, still, still_html, why_still

FLIES = "time flies like an arrow"


@pytest.fixture(scope="module")
def flies():
    return record(FLIES)


def test_the_bars_are_the_pinned_words_weights(flies):
    picture = still(Page([flies]))
    row = flies.weights(5, 11, 3)[0]
    want = [*row[1:6], row[0] + row[6]]
    assert [bar.number for bar in picture.rows] == [percent(weight) for weight in want]
    assert [bar.length for bar in picture.rows] == pytest.approx(want, abs=1e-4)  # the scale ends at 100%
    assert [bar.label for bar in picture.rows] == [*FLIES.split(), "special tokens"]
    assert [bar.own for bar in picture.rows] == [False, False, True, False, False, False]
    assert [bar.aside for bar in picture.rows] == [False] * 5 + [True]
    assert picture.says == "like looks most at arrow (71%) and flies (5%)."
    assert picture.about == f"minilm · L5H11 of L0 to L5, H0 to H11 · as trained · eyeline {el.__version__}"
    assert picture.scale == "Weights; bars from 0 to 100%."


def test_special_tokens_are_drawn_or_left_out_as_the_state_says(flies):
    asked = {"layer": 5, "head": "mean", "token": 2}
    shown = still(Page([flies], asked | {"special": "shown"}))
    assert [bar.label for bar in shown.rows] == ["[CLS]", *FLIES.split(), "[SEP]"]
    out = still(Page([flies], asked | {"special": "out"}))
    found = el.explain(FLIES, "flies")
    assert [bar.number for bar in out.rows] == [percent(share) for share in found.shares]
    assert out.scale == "Shares of the words; bars from 0 to 50%."


def test_without_a_pinned_word_each_word_has_its_strongest(flies):
    picture = still(Page([flies], {"layer": 5, "head": 11}))
    row = flies.weights(5, 11)[1:6, 1:6]
    words = FLIES.split()
    want = [f"{words[at]} → {words[row[at].argmax()]}" for at in range(5)]
    assert [bar.label for bar in picture.rows] == want
    assert [bar.number for bar in picture.rows] == [percent(weight) for weight in row.max(axis=1)]
    most = still(Page([flies], {"layer": 5, "head": "max"})).rows
    weights = np.max([flies.weights(5, head) for head in range(12)], axis=0)[1:6, 1:6]
    assert [bar.number for bar in most] == [percent(weight) for weight in weights.max(axis=1)]


def test_a_long_text_has_so_many_bars_and_says_how_many_more():
    trace = pages.trace(pages.words(300), mask=Causal(), layers=2, heads=2)
    pinned = still(Page([trace], {"token": 250}))
    assert len([bar for bar in pinned.rows if not bar.aside]) == ROWS
    assert re.fullmatch(r"and \d+ more, together \d+%", pinned.rest)
    every = still(Page([trace], {"head": 0}))
    assert len(every.rows) == ROWS
    assert re.fullmatch(r"and \d+ more words", every.rest)


def test_across_two_texts():
    trace = pages.trace("ein Pfeil fliegt", "an arrow flies", name="cross")
    picture = still(Page([trace], {"token": 1, "head": 0}))
    assert [bar.label for bar in picture.rows if not bar.aside] == ["an", "arrow", "flies"]
    assert not any(bar.own for bar in picture.rows)


def test_words_are_inert():
    q = np.zeros((1, 1, 3, 1))
    hostile = ["</section><script>alert(1)</script>", "<b>", "\x1b[31m\u202e&amp;"]
    markup = still_html(still(Page([Trace.of(q, q, queries=hostile, name="<i>", model="<u>")])))
    assert not set(re.findall(r"</?(\w+)", markup)) & {"script", "i", "u"}
    assert not set(markup) & {"\x1b", "\u202e"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markup


def test_it_needs_no_styles(flies):
    markup = still_html(still(Page([flies])), why_still())
    assert "style" not in markup
    assert "class" not in markup


@pytest.fixture
def served(tmp_path):
    """A site that serves the test's folder, and lets pages run scripts from its own files alone."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def end_headers(self):
            self.send_header("Content-Security-Policy", "default-src 'self'")
            super().end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def seen(page):
    """What a reader sees of the still picture: its text, and the lengths of its bars in pixels."""
    picture = page.locator("#eyeline-still")
    assert picture.is_visible()
    bars = picture.locator("rect").evaluate_all("(all) => all.map((bar) => bar.getBoundingClientRect().width)")
    return picture.inner_text(), bars


@pytest.mark.parametrize("width", [1280, 390])
def test_a_host_that_blocks_scripts_shows_it_with_the_reason(flies, served, tmp_path, open_page, width):
    page = Page([flies])
    page.save(tmp_path / "page.html")
    within = (served,)
    shown = open_page(f"{served}/page.html", width=width, within=within, ours=lambda message: False)
    text, bars = seen(shown)
    assert why_still() in text
    assert "like looks most at arrow (71%)" in text
    assert bars == pytest.approx([200 * bar.length for bar in still(page).rows], abs=0.1)
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert shown.locator(".eyeline").count() == 0


def test_without_scripts_it_is_there_and_with_them_it_makes_room(flies, tmp_path, open_page):
    Page([flies]).save(tmp_path / "page.html")
    text, _ = seen(open_page(tmp_path / "page.html", java_script_enabled=False))
    assert why_still() in text
    running = open_page(tmp_path / "page.html")
    running.wait_for_selector(".eyeline [role=tab]")
    running.wait_for_function("!document.getElementById('eyeline-still')")
