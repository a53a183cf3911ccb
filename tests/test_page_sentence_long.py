"""In the browser, the sentence view of a long text: a column that scrolls, its margin, and finding words."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.traces import TokenizedText
from eyeline.traces.tokenized_text import Word
from tests.pages import line, trace, words
from tests.sentence_view import bars, matrix, plainly, scale_end, written

COUNT = 2400


@pytest.fixture
def page_of(page_of):
    return lambda traces, **options: page_of(plainly(traces), **options)


@pytest.fixture(scope="module")
def long():
    return trace(line(words(COUNT), special=False), layers=1, heads=1, head_dim=4, value_dim=None, spread=4)


@pytest.fixture(scope="module")
def middling():
    """A text that is drawn whole."""
    return trace(line(words(600), special=False), layers=1, heads=2, head_dim=4, value_dim=None, spread=4)


def visible(page):
    """The units that are in sight in the column."""
    return page.evaluate(
        """() => {
          const room = document.querySelector(".scroller").getBoundingClientRect();
          return [...document.querySelectorAll(".token")].filter((one) => {
            const { top, bottom } = one.getBoundingClientRect();
            return bottom > room.top && top < room.bottom;
          }).map((one) => Number(one.dataset.unit));
        }"""
    )


def marks(page, unit, count):
    """The length of the mark at a unit's height in the margin, as a share of the scale."""
    return page.evaluate(
        """([place]) => {
          const canvas = document.querySelector(".margin canvas");
          const ink = getComputedStyle(canvas).getPropertyValue("--weight").match(/[0-9a-f]{2}/g)
            .map((part) => parseInt(part, 16));
          const { width, height } = canvas;
          const row = canvas.getContext("2d").getImageData(0, Math.floor(place * height), width, 1).data;
          let length = 0;
          while (length < width && ink.every((part, at) => Math.abs(row[4 * length + at] - part) < 60)) length += 1;
          return length / width;
        }""",
        [(unit + 0.5) / count],
    )


def test_it_is_a_column_of_comfortable_measure_beside_the_list(page_of, middling):
    page = page_of(middling)
    expect(page.locator(".token")).to_have_count(600)
    text, under = page.locator(".tokens").bounding_box(), page.locator(".under").bounding_box()
    size = page.locator(".tokens").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert 30 <= text["width"] / size <= 45  # ems: twice as many letters
    assert under["x"] > text["x"] + text["width"]
    assert under["y"] < 300
    assert page.evaluate(
        "document.querySelector('.scroller').scrollHeight > document.querySelector('.scroller').clientHeight"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_unasked_the_margin_shows_what_is_received_on_average(page_of, middling):
    page = page_of(middling)
    received = matrix(middling, 0, "mean").mean(axis=0)
    end, top = scale_end(received), int(received.argmax())
    expect(page.locator(".says")).to_contain_text(
        f"“{middling.queries.text.split()[top]}” is looked at most ({written(received.max(), end)})"
    )
    expect(page.locator(".margin .axis")).to_contain_text(f"{int(100 * end)}%")
    assert marks(page, top, 600) == pytest.approx(received[top] / end, abs=0.05)


def test_marks_stand_at_their_words_and_a_click_goes_there(page_of, middling):
    page = page_of(middling, words="token=299")
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", "299")
    assert 299 in visible(page)
    row = matrix(middling, 0, "mean")[299]
    far = int(np.argmax(np.where(np.abs(np.arange(600) - 299) > 150, row, 0)))
    assert marks(page, far, 600) == pytest.approx(row[far] / scale_end(row), abs=0.05)
    strip = page.locator(".margin canvas").bounding_box()
    assert far not in visible(page)
    page.mouse.click(strip["x"] + 10, strip["y"] + strip["height"] * (far + 0.5) / 600)
    page.wait_for_function("(unit) => document.querySelector('.scroller').scrollTop !== unit", arg=-1)
    assert far in visible(page)
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", "299")  # what is pinned stays


def test_of_a_very_long_text_a_part_is_drawn(page_of, long):
    page = page_of(long, words="token=0")
    pager = page.locator(".pager")
    expect(pager).to_contain_text("words 1 to 1,500 of 2,400")
    expect(page.get_by_label("Back in the text")).to_be_disabled()
    page.get_by_label("On in the text").click()
    expect(pager).to_contain_text("words 901 to 2,400 of 2,400")
    expect(page.locator(".token").first).to_have_attribute("data-unit", "900")
    page.locator(".token").first.focus()
    page.locator(".token").first.press("ArrowLeft")  # over the edge
    expect(page.locator(":focus")).to_have_attribute("data-unit", "899")
    strip = page.locator(".margin canvas").bounding_box()
    page.mouse.click(strip["x"] + 10, strip["y"] + strip["height"] * 0.999)
    expect(pager).to_contain_text("words 901 to 2,400")
    assert COUNT - 3 in visible(page)


def test_what_isnt_drawn_is_listed_and_can_be_gone_to(page_of, long):
    page = page_of(long, words="token=99")
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", "99")
    row = matrix(long, 0, 0)[99]
    best = np.argsort(-row, kind="stable")[:8]
    assert [number for _, number in bars(page)] == [written(row[at], scale_end(row)) for at in best]
    outside = next(place for place, at in enumerate(best) if at >= 1500)
    item = page.locator(".bars li").nth(outside)
    expect(item).to_contain_text(f"word {best[outside] + 1:,}")
    item.get_by_role("button").click()
    expect(page.locator(".token[aria-selected=true]")).to_have_attribute("data-unit", str(best[outside]))
    expect(page.locator(":focus")).to_have_attribute("data-unit", str(best[outside]))


def test_who_looks_in_a_long_text(page_of, long):
    for special, wanted in (("grey", matrix(long, 0, 0)[:, 6]), ("out", matrix(long, 0, 0)[:, 6])):
        page = page_of(long, words=f"token=6 toward=to head=0 special={special}")
        expect(page.locator(".bars li")).to_have_count(8)
        best = np.sort(wanted)[::-1][:8]
        assert [number for _, number in bars(page)] == [written(number, scale_end(wanted)) for number in best]


def test_a_text_too_long_for_averages_says_so(page_of):
    """Nothing is left blank: what isn't computed is said."""
    found = trace(line(words(6000), special=False), layers=1, heads=2, head_dim=32, value_dim=None)
    page = page_of(found, words="token=none", half=True)
    expect(page.locator(".basis")).to_contain_text("the averages aren't computed: choose a word")


def found_by(page, text, key="Enter"):
    """The unit that is pinned after looking for a text."""
    box = page.get_by_label("Find a word")
    if box.input_value() != text:
        box.fill(text)
    box.press(key)
    return page.locator(".token[aria-selected=true]")


def test_a_word_can_be_found_round_and_round(page_of, long):
    wanted = long.queries.text.split()[900]
    places = [at for at, word in enumerate(long.queries.text.split()) if wanted in word]
    page = page_of(long, words="token=0")
    for number, place in enumerate([*places, places[0]]):  # and round again
        expect(found_by(page, wanted.upper())).to_have_attribute("data-unit", str(place))
        assert place in visible(page)
        expect(page.locator(".pager")).to_contain_text(f"{number % len(places) + 1} of {len(places)}")
    if len(places) > 1:
        expect(found_by(page, wanted.upper(), "Shift+Enter")).to_have_attribute("data-unit", str(places[-1]))
    found_by(page, "not there at all")
    expect(page.locator(".pager")).to_contain_text("not there")


def test_texts_are_found_across_words_and_pieces_without_their_accents(page_of):
    begin = " ".join(f"w{at}" for at in range(130))
    text = f"{begin} Đường về có một con ruồi, as time  passes\nslowly in 日本 today"
    cuts, found = [], []
    for at, word in enumerate(text.split()):  # each its own word, but two tokens for 日本
        start = cuts[-1][1] if cuts else 0
        start = text.index(word, start)
        parts = [(start, start + 1), (start + 1, start + 2)] if word == "日本" else [(start, start + len(word))]
        found.append(Word((len(cuts), len(cuts) + len(parts)), (start, start + len(word))))
        cuts += parts
        assert at < 200
    ids, spellings = tuple(range(len(cuts))), tuple(text[first:last] for first, last in cuts)
    page = page_of(trace(TokenizedText(text, ids, spellings, tuple(cuts), tuple(found), ())), words="unit=pieces")
    for sought, first in [
        ("日本", "日"), ("ruoi", "ruồi,"), ("DUONG VE", "Đường"), ("đuong", "Đường"), ("time passes", "time"),
        ("passes slowly", "passes"), ("w129 duong", "w129"), ("w12", "w12"),
    ]:  # fmt: skip
        expect(found_by(page, sought)).to_have_text(first)
    expect(found_by(page, "w12")).to_have_text("w120")  # the next one


def test_another_text_is_begun_at_its_beginning(page_of, long, middling):
    page = page_of([long, middling], words="token=1599")
    expect(page.locator("[data-kind~=pinned]")).to_have_attribute("data-unit", "1599")
    page.get_by_label("Text", exact=True).select_option("1")
    expect(page.locator(".token")).to_have_count(600)
    expect(page.locator("[data-kind~=pinned]")).to_have_count(0)
    expect(page.locator(".says")).to_contain_text("On average")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(page_of, width):
    for count in (60, 200):
        page = page_of(trace("w" * 300 + " and " + words(count)), words="token=2", width=width)
        expect(page.locator(".token[aria-selected=true]")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
