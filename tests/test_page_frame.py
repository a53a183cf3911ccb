"""The frame of the page: the title line, the controls that a view has, Back and Forward, and where the focus stays."""

from __future__ import annotations

import pages
import pytest
from browser import VIEWS, each_view, settled
from playwright.sync_api import expect
from served import Served, session_of

from eyeline.masks import Causal
from eyeline.serving import Session
from eyeline.views.page import Page

STATE = "layer=1 head=2 token=3"


@pytest.fixture
def flies(page_of):
    """The page of a short text, at L1H2."""
    return lambda words="", **options: page_of(pages.trace(pieces=2), words=f"{STATE} {words}".strip(), **options)


def title(page):
    """The parts of the title line."""
    return page.locator(".headline > *").all_inner_texts()


def controls(page):
    """The names of the controls that the views share, as far as they are shown."""
    names = ("Text", "Layer", "Head", "Units", "Special tokens")
    bar = page.locator(".controls > :not(.own)")
    found = [name for name in names if bar.get_by_label(name, exact=True).count()]
    return [*found, *(["What if"] if page.locator(".what-if").is_visible() else [])]


def focused(page):
    """The role or tag of what has the focus."""
    return page.evaluate("document.activeElement.getAttribute('role') ?? document.activeElement.localName")


# The title line


def test_the_title_says_text_model_and_place_and_the_window_too(flies):
    page = flies("view=matrix")
    settled(page)
    assert title(page) == [pages.FLIES, "random", "L1H2"]
    assert page.title() == "time flies like an arrow · random · L1H2 · Matrix – Eyeline"
    page.get_by_label("Head", exact=True).select_option("mean")
    expect(page.locator(".headline .site")).to_have_text("L1, mean of H0 to H2")
    page.get_by_role("tab", name="Overview").click()
    expect(page.locator(".headline .site")).to_have_text("L0 to L1, H0 to H2")


@pytest.mark.parametrize("language", ["en", "vi"])
def test_every_view_says_in_one_sentence_what_one_sees(flies, language):
    page = flies(language=language)
    said = set()
    for view in each_view(page):
        sentence = page.locator(".says").inner_text()
        assert len(sentence) > 15, view
        said.add(sentence)
    assert len(said) == len(VIEWS)


def test_a_long_text_is_cut_by_the_window_and_whole_in_the_tooltip(page_of):
    text = pages.words(400)
    page = page_of(pages.trace(text, pieces=1), words="view=matrix layer=0 head=0")
    settled(page)
    line = page.locator(".headline")
    assert line.get_attribute("title") == f"{text} · random · L0H0"
    assert line.bounding_box()["height"] < 30
    assert page.locator(".headline .site").inner_text() == "L0H0"
    assert page.locator(".headline .site").evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_both_texts_of_cross_attention_are_named(page_of):
    page = page_of(pages.trace("ein Pfeil", "an arrow flies", name="cross"), words="view=matrix layer=0 head=0")
    settled(page)
    assert title(page) == ["ein Pfeil → an arrow flies", "random", "L0H0"]


# The controls


def test_a_view_has_the_controls_that_change_something_in_it(flies):
    page = flies()
    found = {view: controls(page) for view in each_view(page)}
    whole = ["Layer", "Head", "Units", "Special tokens", "What if"]
    assert found["sentence"] == found["matrix"] == whole
    assert set(found["steps"]) < set(whole)
    assert not {"Layer", "Head", "What if"} & set(found["overview"])
    assert not {"Layer", "Head", "What if"} & set(found["compare"])
    assert found.get("toy", []) == []


def test_what_a_text_has_not_is_not_offered(page_of):
    plain = pages.trace("time flies", pieces=1, special=False)
    page = page_of(plain, words="view=matrix layer=0 head=0")
    settled(page)
    assert controls(page) == ["Layer", "Head", "What if"]
    page = page_of(pages.trace("ein Pfeil", "an arrow", name="cross"), words="view=matrix layer=0 head=0")
    settled(page)
    assert "What if" not in controls(page)


def test_the_future_and_padding_are_switched_and_said(flies):
    page = flies("view=matrix")
    page.locator(".what-if summary").click()
    page.get_by_label("the future were hidden").check()
    expect(page.locator(".headline .changed")).to_have_text(["future hidden"])
    page.get_by_label("last tokens that were padding").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(".headline .changed")).to_have_text(["future hidden", "last tokens as padding: 2"])
    expect(page.locator(".what-if summary")).to_have_text("What if (2)")
    assert {"ahead=no", "padded=2"} <= set(page.url.split("#")[1].split("&"))
    page.get_by_role("button", name="Back to how it was").click()
    expect(page.locator(".headline .changed")).to_have_count(0)
    assert page.locator(".what-if summary").evaluate("(one) => one === document.activeElement")


def test_the_future_of_a_decoder_is_hidden_already(page_of):
    page = page_of(pages.trace(mask=Causal()), words="view=matrix layer=0 head=0")
    page.locator(".what-if summary").click()
    expect(page.get_by_label("last tokens that were padding")).to_be_visible()
    expect(page.get_by_label("the future were hidden")).to_have_count(0)


def test_the_mean_of_all_heads_is_a_plain_choice(flies):
    page = flies()
    settled(page)
    options = page.get_by_label("Head", exact=True).locator("option").all_inner_texts()
    assert options == ["mean of all", "largest of all", "H0", "H1", "H2"]


# Back and Forward


def test_back_and_forward_go_through_what_was_opened(flies):
    page = flies("view=sentence")
    settled(page)
    layer = page.get_by_label("Layer", exact=True)
    page.get_by_role("tab", name="Matrix").click()
    settled(page)
    layer.select_option("0")
    settled(page)
    page.locator(".of-tokens summary").click()
    page.get_by_label("Special tokens", exact=True).select_option("out")  # no step of its own
    page.get_by_label("Language").select_option("vi")  # the reader's: it stays
    settled(page)
    page.go_back()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Ma trận")
    expect(page.get_by_label("Tầng", exact=True)).to_have_value("1")
    page.go_back()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Câu")
    page.go_forward()
    page.go_forward()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Ma trận")
    expect(page.get_by_label("Tầng", exact=True)).to_have_value("0")
    assert "special=out" in page.url


def test_a_words_pin_is_a_step(flies):
    page = flies("view=sentence")
    settled(page)
    page.locator(".token", has_text="arrow").click()
    settled(page)
    pinned = page.locator("[data-kind~=pinned]")
    expect(pinned).to_have_text("arrow")
    page.go_back()
    expect(pinned).not_to_have_text("arrow")


def test_an_address_that_is_typed_is_opened_as_it_stands(flies):
    page = flies("view=matrix language=vi")
    settled(page)
    page.evaluate("location.hash = 'view=steps&layer=0&head=1&token=2'")
    expect(page.get_by_role("tab", selected=True)).to_have_text("Steps")
    settled(page)
    assert title(page)[2] == "L0H1"
    page.go_back()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Matrix")


# The focus


def test_the_focus_stays_in_the_page_when_what_had_it_vanishes(flies):
    page = flies("view=overview")
    settled(page)
    page.locator(".head").nth(1).focus()
    page.keyboard.press("Enter")  # opens the head
    settled(page)
    assert page.evaluate("document.activeElement.closest('.eyeline') !== null")
    assert focused(page) in ("tabpanel", "application")
    page.keyboard.press("1")
    settled(page)
    expect(page.get_by_role("tab", selected=True)).to_have_text("Sentence")


def test_a_part_that_is_rebuilt_keeps_the_focus(flies):
    page = flies("view=matrix")
    settled(page)
    later = page.get_by_role("button", name="The layer before")
    later.focus()
    page.keyboard.press("Enter")
    settled(page)
    assert later.evaluate("(one) => one === document.activeElement")
    page.locator(".of-tokens summary").click()
    page.get_by_label("Special tokens", exact=True).focus()
    page.keyboard.press("ArrowDown")
    settled(page)
    assert page.evaluate("document.activeElement.ariaLabel") == "Special tokens"


def test_whoever_leaves_the_page_is_not_fetched_back(flies):
    page = flies("view=matrix")
    settled(page)
    page.get_by_label("Layer", exact=True).focus()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("]")
    settled(page)
    assert page.evaluate("document.activeElement === document.body")


# Without a text


def test_a_page_without_a_text_has_the_views_that_need_none(open_page, tiny_model):
    with Served(Session(Page([]), ["tiny"], ready={"tiny": tiny_model})) as served:
        address = f"http://{served.host}/"
        page = open_page(address, within=(address,))
        settled(page)
        assert page.get_by_role("tab").all_inner_texts()[0] == "Toy"
        assert page.locator(".trouble:visible").count() == 0
        expect(page.get_by_role("tab", selected=True)).to_have_text("Toy")
        page.get_by_label("Type a sentence").fill("a fox flies")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_role("tab", selected=True)).to_have_text("Sentence")
        expect(page.locator(".headline .text")).to_have_text("a fox flies")


def test_the_server_opens_what_was_run_in_the_view_that_is_open(open_page, tiny_trace, tiny_model):
    with Served(session_of(tiny_trace, tiny_model)) as served:
        address = f"http://{served.host}/"
        page = open_page(address, within=(address,), words="view=matrix")
        settled(page)
        page.get_by_label("Type a sentence").fill("a fox flies")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator(".headline .text")).to_have_text("a fox flies")
        page.go_back()
        expect(page.locator(".headline .text")).to_have_text("the cat ran")
