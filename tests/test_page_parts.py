"""In the browser, what isn't one text looking at itself: the parts of an encoder-decoder, and a picture's patches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

import eyeline as el
from eyeline.traces.image import Image, patch_tokens
from eyeline.views.page import Page
from tests.pages import trace


@pytest.fixture(scope="module")
def dates():
    return el.record("3rd of March, 2021", model="dates")


def test_an_encoder_decoder_opens_on_cross_attention(dates, page_of):
    page = page_of(Page(dates))
    shown = page.locator(".eyeline")
    expect(shown).to_contain_text("2021-03-03 (cross-attention)")
    expect(shown).to_contain_text("“03” looks mostly at “3rd”")


@pytest.mark.parametrize(("number", "name"), [(0, "bộ mã hóa"), (1, "bộ giải mã"), (2, "chú ý chéo")])
def test_each_part_is_named_in_vietnamese(dates, page_of, number, name):
    page = page_of(Page(dates), words=f"trace={number}", language="vi")
    expect(page.locator(".eyeline")).to_contain_text(name)


@pytest.fixture
def picture():
    pixels = np.zeros((30, 40, 3), np.uint8)
    pixels[:, 20:] = 255, 200, 0
    image = Image(pixels, 3, 4, 1)
    return replace(trace(patch_tokens(image, ["[CLS]"])), image=image)


@pytest.mark.parametrize(("language", "name"), [("en", "row 1, column 2"), ("vi", "hàng 1, cột 2")])
def test_a_patch_has_one_name_in_all_views(picture, page_of, language, name):
    page = page_of(Page([picture]), words="token=7 layer=0 head=1", language=language)
    expect(page.locator(".patch")).to_have_count(12)
    assert name in page.locator(".patch").nth(6).get_attribute("aria-label")
    page.evaluate("location.hash = 'view=matrix&token=7&layer=0&head=1'")
    expect(page.locator(".eyeline")).to_contain_text(name)


def test_the_picture_lies_under_its_patches(picture, page_of):
    page = page_of(Page([picture]), words="layer=0 head=1")
    expect(page.locator("canvas.image")).to_have_attribute("width", "40")
    row = page.evaluate("[...document.querySelector('canvas.image').getContext('2d').getImageData(0, 5, 40, 1).data]")
    black, orange = row[4 * 5 : 4 * 6], row[4 * 35 : 4 * 36]
    assert max(black[:3]) < min(orange[:2])  # pale or not
