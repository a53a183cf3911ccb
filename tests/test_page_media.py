"""The page on a phone, at 200 % zoom, on paper, with forced colours, and with texts that read from right to left."""

from __future__ import annotations

import re
import zlib

import pages
import pytest
from browser import VIEWS, each_view, settled
from playwright.sync_api import expect
from served import Served, session_of

PHONE = {"width": 390, "height": 844}
STATE = "layer=1 head=2 token=3"
ARABIC = "الكلب يطارد القطة السوداء"


@pytest.fixture
def flies():
    return pages.trace(pieces=2)


# A phone


@pytest.mark.parametrize("language", ["en", "vi"])
def test_two_thirds_of_a_phone_belong_to_the_content(page_of, flies, language):
    page = page_of(flies, words=STATE, language=language, **PHONE)
    for view in each_view(page):
        panel = page.locator(".panel").bounding_box()
        assert panel["y"] <= PHONE["height"] / 3, view
        assert panel["width"] >= PHONE["width"] - 26, view
        assert page.locator(".drawer").is_hidden()


def test_on_a_phone_also_where_texts_are_typed(open_page, tiny_trace, tiny_model):
    with Served(session_of(tiny_trace, tiny_model)) as served:
        address = f"http://{served.host}/"
        page = open_page(address, within=(address,), **PHONE)
        settled(page)
        assert page.locator(".panel").bounding_box()["y"] <= PHONE["height"] / 3
        page.get_by_role("button", name="Controls").click()
        expect(page.get_by_label("Type a sentence")).to_be_visible()


def test_the_controls_are_a_drawer_and_what_they_change_is_seen(page_of, flies):
    page = page_of(flies, words=f"{STATE} view=matrix", **PHONE)
    settled(page)
    opener = page.get_by_role("button", name="Controls")
    expect(opener).to_have_attribute("aria-expanded", "false")
    opener.click()
    drawer = page.get_by_role("region", name="Controls")
    drawer.locator(".of-tokens summary").click()
    for name in ("Layer", "Head", "Special tokens", "Language"):
        expect(drawer.get_by_role("combobox", name=name, exact=True)).to_be_visible()
    expect(drawer.get_by_role("button", name="Save and share")).to_be_visible()
    box = drawer.bounding_box()
    assert box["y"] + box["height"] <= PHONE["height"] + 1
    assert box["y"] >= PHONE["height"] * 0.35  # what is changed is seen above it
    drawer.get_by_role("combobox", name="Head", exact=True).select_option("0")
    expect(page.locator(".headline .site")).to_have_text("L1H0")
    expect(drawer).to_be_visible()
    page.keyboard.press("Escape")  # what is dropped down in it
    expect(drawer).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    assert opener.evaluate("(one) => one === document.activeElement")


def test_a_wide_window_has_no_drawer_and_a_narrowed_one_has(page_of, flies):
    page = page_of(flies, words=STATE)
    settled(page)
    expect(page.get_by_label("Layer", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Controls")).to_be_hidden()
    page.set_viewport_size(PHONE)
    expect(page.get_by_label("Layer", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Controls").click()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.get_by_label("Layer", exact=True)).to_be_visible()


def test_the_chosen_tab_is_in_sight_on_a_phone(page_of, flies):
    page = page_of(flies, words=STATE, **PHONE)
    for _ in each_view(page):
        tab = page.get_by_role("tab", selected=True).bounding_box()
        assert tab["x"] >= 0
        assert tab["x"] + tab["width"] <= PHONE["width"]


def test_nothing_scrolls_sideways_at_200_percent(page_of, flies):
    page = page_of(flies, words=STATE, width=640, height=400)
    for view in each_view(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= 640, view


# Paper


def colours(data):
    """The colours that a PDF fills with, as lists of three shares."""
    found = set()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        found |= {tuple(map(float, one)) for one in re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) rg", text)}
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_a_dark_page_is_printed_light_without_controls(page_of, flies, view):
    page = page_of(flies, words=f"{STATE} view={view} theme=dark", dark=True)
    settled(page)
    page.emulate_media(media="print")
    expect(page.locator(".eyeline")).to_have_attribute("data-theme", "light")
    for part in (".controls", ".views", ".masthead .tools"):
        expect(page.locator(part)).to_be_hidden()
    expect(page.locator(".headline")).to_be_visible()
    imprint = page.locator(".imprint")
    expect(imprint).to_be_visible()
    said = imprint.inner_text().split(" · ")
    textless = view in ("toy", "positions", "cost")
    assert said[:2] == ([view.capitalize(), said[-1]] if textless else [pages.FLIES, "random"])
    assert said[-1].startswith("Eyeline ")
    box, panel = imprint.bounding_box(), page.locator(".panel").bounding_box()
    assert box["y"] >= panel["y"] + panel["height"]
    page.emulate_media(media="screen")
    expect(page.locator(".eyeline")).to_have_attribute("data-theme", "dark")


def test_bars_are_printed_in_their_colours(page_of, flies):
    page = page_of(flies, words=f"{STATE} theme=dark", dark=True)
    settled(page)
    found = colours(page.pdf(format="A4"))  # without the option that prints backgrounds: a page asks for its own
    weight = (0x5B, 0x3F, 0xA3)
    assert any(all(abs(255 * part - whole) < 1 for part, whole in zip(one, weight, strict=True)) for one in found)
    expect(page.locator(".eyeline")).to_have_attribute("data-theme", "dark")  # on the screen again


# Forced colours


def test_with_forced_colours_the_tab_and_the_bars_are_seen(page_of, flies):
    page = page_of(flies, words=STATE)
    settled(page)
    page.emulate_media(forced_colors="active")
    underline = "(one) => getComputedStyle(one, '::after').display"
    assert page.get_by_role("tab", selected=True).evaluate(underline) == "block"
    assert page.get_by_role("tab", selected=False).first.evaluate(underline) == "none"
    ground = page.evaluate("getComputedStyle(document.querySelector('.eyeline')).backgroundColor")
    bars = page.locator(".bar-fill, .painted")
    assert bars.count() > 3
    assert all(
        one != ground for one in bars.evaluate_all("(all) => all.map((x) => getComputedStyle(x).backgroundColor)")
    )
    chosen = page.locator("[aria-pressed=true]").first
    assert chosen.evaluate("(one) => getComputedStyle(one).backgroundColor") != ground


# From right to left


def test_a_text_from_right_to_left_is_named_as_it_reads(page_of):
    page = page_of(pages.trace(ARABIC, pieces=1), words="view=matrix layer=0 head=0")
    settled(page)
    parts = page.locator(".headline > *")
    assert parts.first.inner_text() == ARABIC
    boxes = [part.bounding_box()["x"] for part in parts.all()]
    assert boxes == sorted(boxes)  # our own line stays from left to right: text, model, place
    assert parts.first.evaluate("(one) => getComputedStyle(one).unicodeBidi") == "isolate"


def test_a_page_within_a_document_from_right_to_left_has_its_arrows_turned(page_of, flies):
    page = page_of(flies, words=f"{STATE} view=steps")
    settled(page)
    page.evaluate("document.documentElement.dir = 'rtl'")
    page.get_by_role("tab", selected=True).focus()
    page.keyboard.press("ArrowLeft")  # onwards
    expect(page.get_by_role("tab", selected=True)).to_have_text("Matrix")
    boxes = [tab.bounding_box()["x"] for tab in page.get_by_role("tab").all()]
    assert boxes == sorted(boxes, reverse=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
