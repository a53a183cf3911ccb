"""In the browser, the overview: every head as a small picture, in any order, and how to open one."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.answers.behaviour.trace_kinds import kinds_of
from eyeline.masks import Causal
from eyeline.views.labels import percent
from tests.matrix_view import patterned
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
    return [tuple(map(int, re.match(r"L(\d+)H(\d+)", label).groups())) for label in labels]


def places(order):
    return [divmod(int(at), H) for at in order]


DOES = {
    "same": "looks at the token itself ({})",
    "sink": "looks at the first token, a sink ({})",
    "mixed": "has no one pattern",
}


def told(trace, layer, head):
    """What is said of a head."""
    found = trace.measures
    kinds = kinds_of(trace)[layer][head]
    does = "; ".join(DOES[kind].format(percent(value or 0)) for kind, value in kinds.items())
    return f"L{layer}H{head} {does}. {measured(found, layer, head)}."


def measured(found, layer, head):
    return (
        f"Entropy {found.entropy[layer, head]:.2f} nats; it looks {found.distance[layer, head]:.1f} tokens far on "
        f"average, and gives {percent(found.aside[layer, head])} to special tokens"
    )


def colours(page, rows=14, columns=None):
    """The colour in the middle of each dot of each picture, (heads, rows, columns, 3)."""
    page.wait_for_function(
        "document.querySelector('.board canvas').width > 100 && document.querySelector('.overview-legend').textContent"
    )
    return page.evaluate(
        """([rows, columns]) => {
          const canvas = document.querySelector(".board canvas");
          const copy = document.createElement("canvas");
          [copy.width, copy.height] = [canvas.width, canvas.height];
          const [box, pen] = [canvas.getBoundingClientRect(), copy.getContext("2d", { willReadFrequently: true })];
          pen.drawImage(canvas, 0, 0);
          const density = canvas.width / box.width;
          const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
          return [...document.querySelectorAll(".heads .head")].map((one) => {
            const { left, top, width } = one.getBoundingClientRect();
            return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => {
              const x = left - box.left + ((column + 0.5) * width) / columns;
              const y = top - box.top + ((row + 0.5) * width) / rows;
              const at = 4 * (Math.floor(y * density) * canvas.width + Math.floor(x * density));
              return [...data.slice(at, at + 3)];
            }));
          });
        }""",
        [rows, columns or rows],
    )


def test_every_head_is_there_with_its_numbers(page_of, found):
    page = page_of(found, words="view=overview")
    expect(heads(page)).to_have_count(L * H)
    assert shown(page) == places(range(L * H))
    labels = heads(page).evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert labels == [told(found, layer, head) for layer in range(L) for head in range(H)]
    assert heads(page).all_inner_texts() == ["mixed"] * L * H
    expect(page.get_by_role("columnheader")).to_have_text(["", "H0", "H1", "H2"])
    expect(page.get_by_role("rowheader")).to_have_text(["L0", "L1", "L2", "L3"])


def test_pictures_show_the_weights(page_of, found):
    page = page_of(found, words="view=overview special=shown")
    expect(heads(page)).to_have_count(L * H)
    seen = np.array(colours(page))
    wanted = found.measures.pictures.reshape(L * H, 14, 14)
    light = seen.sum(axis=-1)
    for head in range(L * H):  # the more, the darker
        order = np.argsort(wanted[head].ravel())
        assert (np.diff(light[head].ravel()[order]) <= 2).all()
        assert (seen[head][wanted[head] == 255] == seen[0][wanted[0] == 255][0]).all()


def test_where_a_causal_mask_hides_is_another_colour_than_nothing(page_of):
    page = page_of(trace(words(14), mask=Causal(), special=False), words="view=overview special=shown")
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
    expect(heads(page).first.locator("span")).to_have_text([f"L{layer}H{head} · {text}", "mixed"])
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


def test_pointing_at_a_head_says_it_in_words(page_of, found):
    page = page_of(found, words="view=overview")
    tip = page.locator(".head-tip")
    expect(tip).to_be_hidden()
    heads(page).nth(5).hover()
    expect(tip.locator("p")).to_have_text(["L1H2 has no one pattern", measured(found.measures, 1, 2)])
    page.get_by_role("columnheader").first.hover()
    expect(tip).to_be_hidden()


def test_the_head_that_is_looked_at_is_outlined(page_of, found):
    page = page_of(found, words="view=overview layer=1 head=2")
    current = page.locator(".head[aria-current=true]")
    expect(current).to_have_attribute("aria-label", told(found, 1, 2))
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
        expect(page.locator(".head-tip p").first).to_have_text(told(found, *place).split(".")[0])
    assert page.locator(".head[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Matrix")).to_have_attribute("aria-selected", "true")
    assert page.get_by_label("Layer", exact=True).input_value() == "1"


def test_between_two_lines_there_is_no_distance(page_of):
    page = page_of(trace("the cat sat", line("die Katze saß da", special=False)), words="view=overview order=distance")
    expect(heads(page)).to_have_count(6)
    assert page.get_by_label("Order").locator("option").count() == 3
    assert "far" not in heads(page).first.get_attribute("aria-label")
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
    images = list(drawn.iter(f"{space}image"))
    assert len(images) == 2  # the ramp of the legend, and all heads
    assert all(image.get("href").startswith("data:image/png;base64,") for image in images)
    texts = [part.text for part in drawn.iter(f"{space}text")]
    assert texts.count("mixed") == L * H


def test_in_vietnamese(page_of, found):
    page = page_of(found, words="view=overview", language="vi-VN")
    entropy, distance, aside = (getattr(found.measures, name)[0, 0] for name in ("entropy", "distance", "aside"))
    expect(heads(page).first).to_have_attribute(
        "aria-label",
        f"L0H0 không theo một khuôn mẫu nào. Entropy {entropy:.2f} nat; trung bình nhìn xa {distance:.1f} token, "
        f"và dành {percent(aside)} cho token đặc biệt.",
    )


# Kinds, and what a picture holds


def test_kinds_are_badges_and_filters(page_of):
    page = page_of(patterned(), words="view=overview layer=0 head=2")
    expect(heads(page)).to_have_text(["previous", "sink", "mixed"])
    chips = page.get_by_role("group", name="Kinds of heads").get_by_role("button")
    expect(chips).to_have_text(["all 3", "previous token 1", "first-token sink 1", "mixed 1"])
    expect(heads(page).first).to_have_attribute(
        "aria-label", re.compile(r"^L0H0 looks at the previous token \(8[67]%\)\.")
    )
    chips.nth(1).focus()
    page.keyboard.press("Enter")
    assert "kind=previous" in page.url
    expect(page.locator(".head.faded")).to_have_count(2)
    expect(chips.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(chips.nth(1)).to_be_focused()
    chips.nth(1).click()
    assert "kind=" not in page.url
    expect(page.locator(".head.faded")).to_have_count(0)
    assert [row["kinds"] for row in numbers(page)] == ["previous", "sink", "mixed"]


def test_one_scale_for_all_or_one_for_each(page_of):
    page = page_of(patterned(), words="view=overview")
    legend = page.locator(".overview-legend")
    expect(legend).to_contain_text("its largest")
    expect(legend).to_contain_text("a scale of its own")
    own = np.array(darkness(page, 8))
    page.get_by_label("Scale").select_option("shared")
    expect(legend).to_contain_text("100%")
    assert "thumbnails=shared" in page.url
    shared = np.array(darkness(page, 8))
    assert shared[2].max() < own[2].max()  # 1/8 of a scale that ends at 100 %
    assert shared[0].max() > 0.9 * own[0].max()  # 98 % of it


@pytest.mark.parametrize(("special", "rows", "columns"), [("grey", 5, 6), ("shown", 7, 7), ("out", 5, 5)])
def test_short_texts_set_special_tokens_aside(page_of, special, rows, columns):
    given = trace("time flies like an arrow", layers=1, heads=2)
    page = page_of(given, words=f"view=overview special={special}")
    expect(heads(page)).to_have_count(2)
    seen = np.array(darkness(page, rows, columns))
    weights = np.stack([given.weights(0, head) for head in range(2)])
    if special != "shown":
        weights = weights[:, 1:-1]
        aside = weights[:, :, [0, -1]].sum(-1)
        weights = weights[:, :, 1:-1]
    if special == "grey":
        grey = seen[:, :, -1]
        assert [list(np.argsort(row)) for row in grey] == [list(np.argsort(row)) for row in aside]
        seen = seen[:, :, :-1]
    if special == "out":
        weights = weights / weights.sum(-1, keepdims=True)
    for head in range(2):
        order = np.argsort(weights[head].ravel())
        assert (np.diff(seen[head].ravel()[order]) >= -3).all()


def test_heads_by_how_much_one_word_looks_at_another(page_of, found):
    page = page_of(found, words="view=overview token=2")
    line = found.queries.words
    asker, asked = page.get_by_label("The word that looks"), page.get_by_label("The word that is looked at")
    assert asker.locator("option:checked").inner_text() == found.queries.text[slice(*line[2].span)]
    asked.select_option("5")
    weights = np.array([[found.weights(layer, head)[2, 5] for head in range(H)] for layer in range(L)]).ravel()
    wanted = places(np.argsort(-weights, kind="stable"))
    (layer, head), most = wanted[0], percent(weights.max())
    expect(heads(page).first.locator("span").first).to_have_text(f"L{layer}H{head} · {most}")
    assert shown(page) == wanted
    assert "order=pair" in page.url
    words = [found.queries.text[slice(*line[at].span)] for at in (2, 5)]
    heads(page).first.hover()
    expect(page.locator(".head-tip p").nth(1)).to_have_text(f"“{words[0]}” looks at “{words[1]}”: {most}")
    rows = numbers(page)
    np.testing.assert_allclose([float(row["pair"]) for row in rows], np.sort(weights)[::-1], rtol=1e-4)
    page.locator(".of-tokens summary").click()
    page.get_by_label("Special tokens", exact=True).select_option("out")
    shares = np.array([[weight(found, layer, head) for head in range(H)] for layer in range(L)]).ravel()
    expect(heads(page).first.locator("span").first).to_contain_text(percent(shares.max()))
    asked.select_option("")
    expect(page.get_by_role("rowheader")).to_have_count(L)


def weight(found, layer, head):
    """The share of the words alone that the third token gives to the sixth."""
    row = found.weights(layer, head)[2]
    return row[5] / row[1:-1].sum()


def darkness(page, rows, columns=None):
    """How dark the middle of each dot of each picture is, (heads, rows, columns)."""
    return 765 - np.array(colours(page, rows, columns)).sum(axis=-1)
