"""In the browser, the sentence view: the ways to ask for a word, by pointing, clicking, touching and keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.pages import trace, words
from tests.sentence_view import WORDS, bars, go, looked_at, matrix, plainly, token, told, written
from tests.taken import picture


@pytest.fixture
def page_of(page_of):
    return lambda traces, **options: page_of(plainly(traces), **options)


@pytest.fixture
def flies():
    return trace()


@pytest.fixture
def weights(flies):
    """The weights of the words, (5, 5), the mean of the last layer's heads."""
    return matrix(flies, 1, "mean")[1:6, 1:6]


def test_pointing_at_a_word_shows_whom_it_looks_at_and_leaving_it_ends_that(page_of, flies, weights):
    page = page_of(flies)
    expect(page.locator(".says")).to_contain_text("On average")
    expect(page.locator(".links path")).to_have_count(0)
    token(page, "flies").hover()
    names = looked_at(weights[1], 1, WORDS)
    expect(page.locator(".says")).to_have_text(told("looks mostly at", "flies", names, 1 - weights[1].sum()))
    assert bars(page) == names
    expect(page.locator(".links path")).to_have_count(5)
    page.locator(".basis").hover()
    expect(page.locator(".says")).to_contain_text("On average")
    expect(page.locator(".links path")).to_have_count(0)


def test_a_click_pins_and_a_second_lets_go(page_of, flies):
    page = page_of(flies)
    token(page, "like").click()
    expect(token(page, "like")).to_have_attribute("aria-selected", "true")
    assert "token=3" in page.url
    token(page, "an").hover()  # what is pinned stays
    expect(page.locator(".says")).to_contain_text("“like” looks mostly at")
    expect(page.locator(".bars li[data-pointed] .bar-name")).to_have_text("an")
    token(page, "like").click()
    expect(page.locator(".token[aria-selected=true]")).to_have_count(0)
    assert "token" not in page.url


def test_escape_lets_go(page_of, flies):
    page = page_of(flies)
    token(page, "like").click()
    page.keyboard.press("Escape")
    expect(page.locator(".token[aria-selected=true]")).to_have_count(0)
    page.mouse.move(0, 0)
    expect(page.locator(".says")).to_contain_text("On average")


def test_a_tap_pins(page_of, flies):
    page = page_of(flies, has_touch=True, width=390)
    token(page, "an").tap()
    expect(page.locator(".says")).to_contain_text("“an” looks mostly at")
    assert "token=4" in page.url


def test_keys_step_through_the_words_and_a_screen_reader_is_told(page_of, flies, weights):
    page = page_of(flies)
    expect(page.locator(".bars li:not(.aside)")).to_have_count(5)
    assert page.locator(".token[tabindex='0']").all_inner_texts() == ["time"]
    page.locator(".token[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    names = ", ".join(f"{name} {number}" for name, number in looked_at(weights[1], 1, WORDS)[:3])
    expect(page.locator(":focus")).to_have_attribute("aria-label", f"flies, word 2 of 5: looks at {names}")
    expect(page.locator(".says")).to_contain_text("“flies” looks mostly at")
    for key, word in [("End", "arrow"), ("ArrowRight", "arrow"), ("ArrowLeft", "an"), ("Home", "time")]:
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_text(word)
    page.keyboard.press("Enter")
    expect(token(page, "time")).to_have_attribute("aria-selected", "true")
    expect(page.locator("[aria-live=polite].unseen")).to_have_text(page.locator(".says").inner_text())
    page.keyboard.press("ArrowRight")  # the pin goes along
    expect(token(page, "flies")).to_have_attribute("aria-selected", "true")
    expect(token(page, "time")).to_have_attribute("aria-label", f"time, word 1 of 5: {written(weights[1, 0])}")
    page.keyboard.press("Space")
    expect(page.locator(".token[aria-selected=true]")).to_have_count(0)


def test_up_and_down_go_to_the_nearest_word_of_the_next_line(page_of):
    page = page_of(trace(words(60)), width=700)
    page.locator(".token").nth(3).click()

    def place():
        return page.locator(":focus").bounding_box()

    start = place()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("y => document.activeElement.getBoundingClientRect().top > y", arg=start["y"] + 5)
    below = place()
    assert abs(below["x"] + below["width"] / 2 - start["x"] - start["width"] / 2) < 60
    page.keyboard.press("ArrowUp")
    page.wait_for_function("y => document.activeElement.getBoundingClientRect().top < y", arg=below["y"] - 5)


def test_the_list_is_reached_by_keys_and_goes_to_its_word(page_of, flies, weights):
    page = page_of(flies)
    page.locator(".token[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".says")).to_contain_text("“flies” looks mostly at")
    page.keyboard.press("Tab")
    expect(page.locator(".bar-name").first).to_be_focused()
    expect(page.locator(".says")).to_contain_text("“flies” looks mostly at")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    second = WORDS[(-weights[1]).argsort(kind="stable")[1]]
    expect(page.locator(".token[aria-selected=true]")).to_have_text(second)
    expect(token(page, second)).to_be_focused()


def test_what_is_pointed_at_stays_so_with_another_head(page_of, flies):
    page = page_of(flies)
    token(page, "like").hover()
    for head, presses in [("mean", 0), (0, 2), (1, 1)]:  # the largest of all stands between
        for _ in range(presses):
            page.locator(".token[tabindex='0']").press("}")
        row = matrix(flies, 1, head)[3, 1:6]
        expect(page.locator(".bars li:not(.aside) .bar-share")).to_have_text(
            [number for _, number in looked_at(row, 2, WORDS)]
        )
        expect(page.locator(".says")).to_contain_text("“like” looks mostly at")


def test_a_word_that_occurs_twice_is_named_by_its_number_as_it_is_called(page_of):
    """One way of counting: "word 1" in the list is "word 1 of 5" to a screen reader, with [CLS] or without it."""
    page = page_of(trace("to be or to think"), words="token=3 special=shown")
    places = page.locator(".bars li", has_text=re.compile("^to[^a-z]")).locator(".quiet")
    expect(places).to_have_count(2)
    assert sorted(places.all_inner_texts()) == ["word 1", "word 4"]
    expect(page.locator(".token").nth(4)).to_have_attribute("aria-label", re.compile("^to, word 4 of 5"))


def test_in_vietnamese(page_of, flies, weights):
    page = page_of(flies, language="vi-VN", words="token=2")
    [top, _] = looked_at(weights[1], 1, WORDS)[0]
    expect(page.locator(".says")).to_contain_text(f"“flies” nhìn nhiều nhất vào “{top}”")
    expect(page.locator(".says")).to_contain_text("các token đặc biệt chiếm")
    expect(page.get_by_role("button", name="từ nào nhìn vào nó")).to_be_visible()
    expect(token(page, "time")).to_have_attribute("aria-label", re.compile("^time, từ 1 trên 5"))
    expect(page.locator(".bars .aside .bar-name")).to_have_text("token đặc biệt")


def test_its_picture_shows_the_words_the_links_and_the_bars(page_of):
    page = page_of(trace(), words="token=3")
    expect(page.locator(".token[aria-selected=true]")).to_have_text("like")
    found = picture(page)
    space = "{http://www.w3.org/2000/svg}"
    texts = [part.text for part in found.iter(f"{space}text")]
    first = texts.index("time")
    assert texts[first : first + 5] == WORDS
    assert {"special tokens", "The whole row, 100%", "Weight, of the whole row"} <= set(texts)
    drawn = [path.get("d") for path in found.iter(f"{space}path") if path.get("fill-opacity")]
    assert drawn == page.locator(".links path").evaluate_all("all => all.map((one) => one.getAttribute('d'))")
    assert len(drawn) == 5


def test_paper_and_forced_colours_keep_bars_and_fills(page_of, flies):
    page = page_of(flies, words="token=2")
    expect(page.locator(".bars li")).to_have_count(6)
    kept = "all => all.map((one) => getComputedStyle(one).getPropertyValue('-webkit-print-color-adjust'))"
    page.emulate_media(media="print")
    for part in (".bar-fill", ".row-bar span", ".token"):
        assert set(page.locator(part).evaluate_all(kept)) == {"exact"}
    page.emulate_media(media="screen", forced_colors="active")
    fill = "one => getComputedStyle(one).backgroundColor"
    assert page.locator(".bar-fill").first.evaluate(fill) != page.locator(".eyeline").evaluate(fill)
    assert len(set(page.locator(".token").evaluate_all(f"all => all.map({fill})"))) == 5


def test_both_kinds_of_an_earlier_address_still_open(page_of, flies):
    """Addresses of earlier versions say special=yes."""
    page = page_of(flies)
    go(page, "special=yes token=2")
    expect(page.locator(".token.label")).to_have_count(2)
