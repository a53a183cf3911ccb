"""In the browser, the sentence view of an image: its patches, where each looks, and how one asks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.pages import image_trace, trace
from tests.sentence_view import bar_lengths, bars, matrix, plainly, scale_end, written
from tests.taken import numbers

ROWS, COLUMNS = 4, 6


@pytest.fixture
def shown():
    return plainly(image_trace(ROWS, COLUMNS))


@pytest.fixture
def weights(shown):
    return matrix(shown.traces[0], 1, "mean")


def patch(page, row, column):
    """The cell of a patch."""
    return page.locator(".patch").nth(row * COLUMNS + column)


def name(token):
    """A patch's name."""
    return f"row {(token - 1) // COLUMNS}, column {(token - 1) % COLUMNS}"


def test_the_image_is_shown_with_its_patches_over_it(page_of, shown):
    page = page_of(shown)
    expect(page.get_by_role("gridcell")).to_have_count(ROWS * COLUMNS)
    page.wait_for_function("() => document.querySelector('canvas.image').width === 96")
    boxes = [
        one.bounding_box() for one in (patch(page, 0, 0), patch(page, ROWS - 1, COLUMNS - 1), page.locator(".picture"))
    ]
    first, last, whole = boxes
    assert first["x"] == pytest.approx(whole["x"], abs=2)
    assert first["width"] == pytest.approx(first["height"], abs=2)
    assert last["y"] + last["height"] == pytest.approx(whole["y"] + whole["height"], abs=2)
    red = page.locator("canvas.image").evaluate(
        """(one) => [...one.getContext("2d").getImageData(0, one.height / 2, one.width, 1).data]
          .filter((_, at) => at % 4 === 0)"""
    )
    assert red[-2] > red[1] + 40  # as in the image, it grows to the right


def test_pointing_at_a_patch_shows_where_it_looks(page_of, shown, weights):
    page = page_of(shown)
    patch(page, 1, 2).hover()
    own = 1 + COLUMNS + 2
    row = weights[own]
    end = scale_end(row[1:])
    best = 1 + np.argsort(-row[1:], kind="stable")[:8]
    names = ["itself" if at == own else name(at) for at in best]
    expect(page.locator(".says")).to_have_text(
        f"row 1, column 2 looks mostly at {names[0]} ({written(row[best[0]], end)}) and "
        f"{names[1]} ({written(row[best[1]], end)}); [CLS] takes {written(row[0], end)}."
    )
    assert bars(page) == [(called, written(row[at], end)) for called, at in zip(names, best, strict=True)]
    np.testing.assert_allclose(bar_lengths(page), row[best] / end, rtol=0, atol=0.005)
    expect(page.locator(".bars .aside .bar-name")).to_have_text("[CLS]")
    opacities = page.locator(".patch").evaluate_all(
        r"all => all.map((one) => Number(getComputedStyle(one).backgroundColor.match(/[\d.]+\)$/)[0].slice(0, -1)))"
    )
    np.testing.assert_allclose(opacities, 0.85 * row[1:] / end, rtol=0, atol=0.005)
    for rank, at in enumerate(best[:5], 1):
        expect(page.locator(".patch").nth(at - 1).locator(".rank")).to_have_text(str(rank))
    expect(page.locator(".rank")).to_have_count(5)


def test_the_chip_beside_it_is_cls(page_of, shown, weights):
    page = page_of(shown)
    page.get_by_role("button", name=re.compile(r"^\[CLS\]")).click()
    assert "token=0" in page.url
    best = int(1 + weights[0, 1:].argmax())
    expect(page.locator(".says")).to_contain_text(f"“[CLS]” looks mostly at {name(best)}")
    expect(page.locator(".chips [aria-pressed=true]")).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator(".says")).to_contain_text("“[CLS]” is looked at most by row")
    page.keyboard.press("Escape")
    expect(page.locator(".says")).to_contain_text("On average")


def test_keys_go_from_patch_to_patch(page_of, shown):
    page = page_of(shown)
    expect(page.locator(".patch[tabindex='0']")).to_have_count(1)
    patch(page, 0, 0).focus()
    for key, place in [
        ("ArrowRight", "row 0, column 1"), ("ArrowDown", "row 1, column 1"), ("End", "row 1, column 5"),
        ("ArrowRight", "row 1, column 5"), ("ArrowUp", "row 0, column 5"), ("ArrowUp", "row 0, column 5"),
        ("Home", "row 0, column 0"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_attribute("aria-label", re.compile(f"^{place}: looks at"))
        expect(page.locator(".says")).to_contain_text(f"{place} looks mostly at")
    page.keyboard.press("Enter")
    expect(patch(page, 0, 0)).to_have_attribute("aria-selected", "true")
    assert "token=1" in page.url
    expect(patch(page, 0, 0)).to_be_focused()


def test_a_bar_goes_to_its_patch_and_special_tokens_obey(page_of, shown, weights):
    page = page_of(shown, words="token=5 special=shown")
    row = weights[5]
    best = np.sort(row)[::-1][:8]
    expect(page.locator(".bars li")).to_have_count(8)
    assert [number for _, number in bars(page)] == [written(number, scale_end(row)) for number in best]
    expect(page.locator(".bars .aside")).to_have_count(0)
    page.locator(".bars .bar-name", has_text="row").first.click()
    expect(page.locator(".patch[aria-selected=true]")).to_have_count(1)
    rows = numbers(page)
    assert len(rows) == ROWS * COLUMNS + 1
    page.locator(".of-tokens summary").click()
    page.get_by_label("Special tokens", exact=True).select_option("out")
    expect(page.locator(".legend")).to_contain_text("Share of the patches")


def test_a_text_beside_an_image_has_the_view_of_texts(page_of, shown):
    shown.add(trace())
    page = page_of(shown)
    expect(page.locator(".patch")).to_have_count(ROWS * COLUMNS)
    page.get_by_label("Text", exact=True).select_option("1")
    expect(page.locator(".token")).to_have_count(5)
    expect(page.locator(".patch")).to_have_count(0)
    page.get_by_label("Text", exact=True).select_option("0")
    expect(page.locator(".patch")).to_have_count(ROWS * COLUMNS)


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_the_window_in_vietnamese(page_of, shown, width):
    page = page_of(shown, words="token=9", width=width, language="vi-VN")
    expect(page.locator(".says")).to_contain_text("hàng 1, cột 2 nhìn nhiều nhất vào hàng")
    box = page.locator(".picture").bounding_box()
    assert box["width"] > 0.4 * width
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
