"""In the browser, the overview: every head as a small picture, in any order, and how to open one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.masks import Causal
from eyeline.views.labels import percent
from tests.pages import line, trace, words
from tests.taken import numbers, picture

L, H = 4, 3


@pytest.fixture
def found():
    return trace(words(12), layers=L, heads=H)


def heads(page):
    return page.locator(".heads .head")


def shown(page):
    """The (layer, head) of each picture in the order in which they stand."""
    labels = heads(page).evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    return [tuple(map(int, re.match(r"L(\d+)H(\d+):", label).groups())) for label in labels]


def places(order):
    return [divmod(int(at), H) for at in order]


def told(trace, layer, head):
    """What is said of a head."""
    found = trace.measures
    return (
        f"L{layer}H{head}: entropy {found.entropy[layer, head]:.2f} nats, "
        f"distance {found.distance[layer, head]:.1f} tokens, {percent(found.aside[layer, head])} on what is set aside"
    )


def colours(page):
    """The colour in the middle of each dot of each picture, (heads, R, C, 3)."""
    page.wait_for_function("document.querySelector('.board canvas').width > 300")
    return page.evaluate(
        """(count) => {
          const canvas = document.querySelector(".board canvas");
          const [box, pen] = [canvas.getBoundingClientRect(), canvas.getContext("2d")];
          const density = canvas.width / box.width;
          const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
          return [...document.querySelectorAll(".heads .head")].map((one) => {
            const { left, top, width } = one.getBoundingClientRect();
            return Array.from({ length: count }, (_, row) => Array.from({ length: count }, (_, column) => {
              const x = left - box.left + ((column + 0.5) * width) / count;
              const y = top - box.top + ((row + 0.5) * width) / count;
              const at = 4 * (Math.floor(y * density) * canvas.width + Math.floor(x * density));
              return [...data.slice(at, at + 3)];
            }));
          });
        }""",
        14,
    )


def test_every_head_is_there_with_its_numbers(page_of, found):
    page = page_of(found, words="view=overview")
    expect(heads(page)).to_have_count(L * H)
    assert shown(page) == places(range(L * H))
    labels = heads(page).evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert labels == [told(found, layer, head) for layer in range(L) for head in range(H)]
    assert heads(page).all_inner_texts() == [f"{value:.2f}" for value in found.measures.entropy.flat]
    expect(page.get_by_role("columnheader")).to_have_text(["", "H0", "H1", "H2"])
    expect(page.get_by_role("rowheader")).to_have_text(["L0", "L1", "L2", "L3"])


def test_pictures_show_the_weights(page_of, found):
    page = page_of(found, words="view=overview")
    expect(heads(page)).to_have_count(L * H)
    seen = np.array(colours(page))
    wanted = found.measures.pictures.reshape(L * H, 14, 14)
    light = seen.sum(axis=-1)
    for head in range(L * H):  # the more, the darker
        order = np.argsort(wanted[head].ravel())
        assert (np.diff(light[head].ravel()[order]) <= 2).all()
        assert (seen[head][wanted[head] == 255] == seen[0][wanted[0] == 255][0]).all()


def test_where_a_causal_mask_hides_is_another_colour_than_nothing(page_of):
    page = page_of(trace(words(14), mask=Causal(), special=False), words="view=overview")
    expect(heads(page)).to_have_count(6)
    seen = np.array(colours(page))
    ahead = np.triu_indices(14, 1)
    assert (seen[:, ahead[0], ahead[1]] == [0xE4, 0xE6, 0xEB]).all()
    back = np.tril_indices(14)
    assert not (seen[:, back[0], back[1]] == [0xE4, 0xE6, 0xEB]).all(axis=-1).any()


@pytest.mark.parametrize(("order", "sign"), [("entropy", 1), ("distance", -1), ("aside", -1)])
def test_orders(page_of, found, order, sign):
    page = page_of(found, words="view=overview")
    expect(heads(page)).to_have_count(L * H)
    page.get_by_label("Order").select_option(order)
    values = getattr(found.measures, order).ravel()
    wanted = places(np.argsort(sign * values, kind="stable"))
    expect(page.get_by_role("rowheader")).to_have_count(0)
    assert shown(page) == wanted
    layer, head = wanted[0]
    text = {"entropy": f"{values.min():.2f}", "distance": f"{values.max():.1f}", "aside": percent(values.max())}[order]
    expect(heads(page).first).to_have_text(f"L{layer}H{head} · {text}")
    assert f"order={order}" in page.url
    rows = numbers(page)
    assert [(int(row["layer"]), int(row["head"])) for row in rows] == wanted
    np.testing.assert_allclose([float(row[order]) for row in rows], np.sort(sign * values) * sign, rtol=1e-4, atol=0)


def test_a_click_opens_the_head(page_of, found):
    page = page_of(found, words="view=overview order=aside")
    expect(heads(page)).to_have_count(L * H)
    layer, head = shown(page)[4]
    heads(page).nth(4).click()
    expect(page.get_by_role("tab", name="Matrix")).to_have_attribute("aria-selected", "true")
    assert page.get_by_label("Layer", exact=True).input_value() == str(layer)
    assert page.get_by_label("Head", exact=True).input_value() == str(head)


def test_pointing_at_a_head_says_its_numbers(page_of, found):
    page = page_of(found, words="view=overview")
    readout = page.locator(".readout")
    expect(readout).to_have_text(
        "Every head is a small picture: its rows look, its columns are looked at. Click one to open it."
    )
    heads(page).nth(5).hover()
    expect(readout).to_have_text(told(found, 1, 2))
    readout.hover()
    expect(readout).to_contain_text("Every head")


def test_the_head_that_is_looked_at_is_outlined(page_of, found):
    page = page_of(found, words="view=overview layer=1 head=2")
    current = page.locator(".head[aria-current=true]")
    expect(current).to_have_attribute("aria-label", told(found, 1, 2))
    expect(page.locator(".readout")).to_have_text(told(found, 1, 2))
    assert current.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    page.keyboard.press("{")
    expect(current).to_have_attribute("aria-label", told(found, 1, 1))


def test_keys_step_through_the_heads(page_of, found):
    page = page_of(found, words="view=overview layer=1")
    expect(page.locator(".head[tabindex='0']")).to_have_count(1)
    page.locator(".head[tabindex='0']").focus()
    steps = [
        ("ArrowRight", (1, 1)), ("ArrowDown", (2, 1)), ("End", (2, 2)), ("ArrowRight", (3, 0)), ("ArrowDown", (3, 0)),
        ("ArrowUp", (2, 0)), ("ArrowLeft", (1, 2)), ("Home", (1, 0)),
    ]  # fmt: skip
    for key, place in steps:
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_attribute("aria-label", told(found, *place))
        expect(page.locator(".readout")).to_have_text(told(found, *place))
    assert page.locator(".head[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Matrix")).to_have_attribute("aria-selected", "true")
    assert page.get_by_label("Layer", exact=True).input_value() == "1"


def test_between_two_lines_there_is_no_distance(page_of):
    page = page_of(trace("the cat sat", line("die Katze saß da", special=False)), words="view=overview order=distance")
    expect(heads(page)).to_have_count(6)
    assert page.get_by_label("Order").locator("option").count() == 3
    assert "distance" not in heads(page).first.get_attribute("aria-label")
    assert {row["distance"] for row in numbers(page)} == {""}


def test_of_very_many_heads_a_part_is_drawn(page_of):
    found = trace("a b", layers=40, heads=32, head_dim=2, value_dim=None)
    page = page_of(found, words="view=overview")
    expect(heads(page)).to_have_count(1024)
    assert page.locator("*").count() < 2000
    page.get_by_label("The heads after").click()
    expect(heads(page)).to_have_count(256)
    expect(page.get_by_role("rowheader").first).to_have_text("L32")
    page.get_by_label("The heads before").click()
    expect(page.get_by_role("rowheader").first).to_have_text("L0")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(page_of, width):
    page = page_of(trace("a b c", layers=2, heads=12), words="view=overview", width=width)
    expect(heads(page)).to_have_count(24)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = [one.bounding_box() for one in heads(page).all()]
    assert all(box["width"] >= 24 and box["height"] >= 24 and box["x"] + box["width"] <= width for box in boxes)


def test_its_picture_holds_the_pictures_and_their_numbers(page_of, found):
    page = page_of(found, words="view=overview")
    expect(heads(page)).to_have_count(L * H)
    colours(page)
    drawn = picture(page)
    space = "{http://www.w3.org/2000/svg}"
    (image,) = drawn.iter(f"{space}image")
    assert image.get("href").startswith("data:image/png;base64,")
    texts = [part.text for part in drawn.iter(f"{space}text")]
    assert all(f"{value:.2f}" in texts for value in found.measures.entropy.flat)


def test_in_vietnamese(page_of, found):
    page = page_of(found, words="view=overview", language="vi-VN")
    entropy, distance, aside = (getattr(found.measures, name)[0, 0] for name in ("entropy", "distance", "aside"))
    expect(heads(page).first).to_have_attribute(
        "aria-label",
        f"L0H0: entropy {entropy:.2f} nat, khoảng cách {distance:.1f} token, {percent(aside)} cho phần để riêng",
    )
