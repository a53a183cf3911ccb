"""The toy in the browser: every number is the reference's, and follows what is dragged, typed, masked or shuffled."""

from __future__ import annotations

import re

import numpy as np
import pages
import pytest
from browser import settled
from playwright.sync_api import expect

import eyeline as el
from eyeline.views.toy_page import toy_page, toy_text
from tests.taken import numbers, picture

PARTS = {
    "scores": "scores",
    "quotients": "scaled",
    "exponentials": "exponentials",
    "weights": "weights",
    "output": "output",
}


@pytest.fixture
def opened(page_of):
    """Opens a page on its toy."""

    def call(words="", **options):
        shown = page_of(pages.trace(), words=f"view=toy {words}".strip(), **options)
        settled(shown)
        return shown

    return call


def cell(shown, part, row, column):
    return shown.locator(f"[data-cell={part}-{row}-{column}]")


def cells(shown, part):
    """The numbers that a table shows, as written."""
    return shown.eval_on_selector_all(
        f"[data-cell^={part}-] .number:not(input)", "all => all.map((one) => one.textContent.replace('−', '-'))"
    )


def written(array):
    return [f"{0.0 if abs(value) < 0.005 else value:.2f}" for value in np.asarray(array).ravel()]


def story(shown):
    return shown.locator(".toy .story")


def slide(shown, key, value):
    shown.locator(f"[data-slide='{key}'] input").evaluate(
        "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', { bubbles: true })); }", str(value)
    )


def test_it_opens_on_the_textbooks_example(opened):
    shown = opened()
    truth = el.toy()
    for part, name in PARTS.items():
        assert cells(shown, part) == written(getattr(truth, name)), part
    assert cells(shown, "weights")[3:6] == ["0.45", "0.10", "0.45"]
    given = [
        float(one)
        for one in shown.eval_on_selector_all(".given input", "all => all.map((one) => one.value.replace('−', '-'))")
    ]
    assert given == np.hstack([truth.q, truth.k, truth.v]).ravel().tolist()
    assert shown.url.endswith("#view=toy")


@pytest.mark.parametrize("mask", [None, "causal", "padding"])
@pytest.mark.parametrize("scale", [True, False])
def test_the_exported_numbers_are_the_references(opened, mask, scale):
    rng = np.random.default_rng(7)
    q, k, v = (rng.normal(0, 2, (5, width)).round(3) for width in (3, 3, 2))
    truth = el.toy(["a", "b", "ü&c", "đ", "e"], q=q, k=k, v=v, mask=mask, scale=scale)
    shown = opened(f"toy={toy_text(truth, 2)}")
    rows = numbers(shown)
    assert len(rows) == 25
    for row in rows:
        i, j = int(row["query_index"]), int(row["key_index"])
        assert (row["query"], row["key"]) == (truth.words[i], truth.words[j])
        assert bool(int(row["hidden"])) is not bool(truth.allowed[i, j])
        named = {
            "score": truth.scores,
            "scaled": truth.scaled,
            "exponential": truth.exponentials,
            "weight": truth.weights,
        }
        for name, array in named.items():
            assert float(row[name]) == pytest.approx(array[i, j], rel=1e-6, abs=1e-9), name
        assert float(row["sum"]) == pytest.approx(truth.sums[i], rel=1e-6)
        for at in range(2):
            assert float(row[f"output{at}"]) == pytest.approx(truth.output[i, at], rel=1e-6, abs=1e-9)
            assert float(row[f"v{at}"]) == truth.v[j, at]


def test_bars_and_colours_are_their_numbers_on_a_stated_scale(opened):
    shown = opened()
    truth = el.toy()
    widths = [
        float(one)
        for one in shown.eval_on_selector_all(
            "[data-cell^=weights-] .bar", "all => all.map((one) => parseFloat(one.style.width))"
        )
    ]
    np.testing.assert_allclose(widths, 100 * truth.weights.ravel(), rtol=1e-4)
    expect(shown.locator("[data-legend=weights]")).to_have_text("0100%")
    widths = [
        float(one)
        for one in shown.eval_on_selector_all(
            "[data-cell^=exponentials-] .bar", "all => all.map((one) => parseFloat(one.style.width))"
        )
    ]
    np.testing.assert_allclose(widths, 20 * truth.exponentials.ravel(), rtol=1e-4)
    expect(shown.locator("[data-legend=exponentials]")).to_have_text("05")
    expect(shown.locator("[data-legend=scores]")).to_have_text("−22")
    ground = "(one) => getComputedStyle(one).backgroundColor"
    assert cell(shown, "scores", 1, 0).evaluate(ground) == cell(shown, "scores", 1, 2).evaluate(ground)
    assert cell(shown, "scores", 1, 0).evaluate(ground) != cell(shown, "scores", 0, 2).evaluate(ground)


def test_dragging_a_score_moves_its_key_and_all_follows(opened):
    shown = opened()
    slide(shown, 0, 3)
    # The least change of [1.5, 0.5] whose product with the query [1, 1] is 3 rather than 2.
    truth = el.toy(k=[[2, 1], [0.4, -0.5], [0.5, 1.5]])
    for part, name in PARTS.items():
        assert cells(shown, part) == written(getattr(truth, name)), part
    assert shown.locator(".given input").nth(2).input_value() == "2"
    assert "toy=time:0.5,-1.5:2,1:2,0;" in shown.url
    shown.reload()
    settled(shown)
    assert cells(shown, "weights") == written(truth.weights)
    shown.get_by_role("button", name="Reset").click()
    assert cells(shown, "weights") == written(el.toy().weights)


def test_a_slider_by_keyboard_keeps_the_focus(opened):
    shown = opened()
    shown.get_by_role("slider", name="score for flies").focus()
    shown.keyboard.press("ArrowRight")
    assert cells(shown, "scores")[4] == "0.00"
    assert shown.evaluate("document.activeElement.getAttribute('data-focus')") == "slide-1"
    shown.get_by_role("combobox", name="Word whose scores are dragged").select_option("arrow")
    assert shown.locator("[data-slide='1'] .score").inner_text() == "0.45"
    for place in (0, 1):
        shown.locator("[data-cell=q-2-0] input, [data-cell=q-2-1] input").nth(place).fill("0")
    expect(shown.get_by_role("slider").first).to_be_disabled()
    expect(shown.locator(".slides p")).to_contain_text("all its scores are 0")


def test_numbers_are_typed(opened):
    shown = opened()
    box = shown.get_by_role("textbox", name="value of arrow, coordinate 1")
    box.fill("−4,5")
    truth = el.toy(v=[[2, 0], [-1, 1], [0, -4.5]])
    assert cells(shown, "output") == written(truth.output)
    box.press("ArrowUp")
    assert box.input_value() == "−4.4"
    for wrong in ("x", "", "1e9", "NaN"):
        box.fill(wrong)
        assert (box.input_value(), box.get_attribute("aria-invalid")) == (wrong, "true")
        assert cells(shown, "output") == written(el.toy(v=[[2, 0], [-1, 1], [0, -4.4]]).output)


def test_the_mask_and_the_root(opened):
    shown = opened()
    shown.get_by_role("combobox", name="Mask").select_option("the future is hidden")
    truth = el.toy(mask="causal")
    assert cells(shown, "weights") == written(truth.weights)
    assert cells(shown, "open")[:3] == ["0.00", "-∞", "-∞"]
    shown.get_by_role("checkbox", name="÷ √2").uncheck()
    assert cells(shown, "weights") == written(el.toy(mask="causal", scale=False).weights)
    expect(shown.locator(".toy-formula")).to_have_text("softmax(QKᵀ + mask)V")
    shown.get_by_role("combobox", name="Mask").select_option("the last is padding")
    assert cells(shown, "weights") == written(el.toy(mask="padding", scale=False).weights)
    for _ in range(2):
        shown.get_by_role("button", name="Remove time").or_(
            shown.get_by_role("button", name="Remove flies")
        ).first.click()
    expect(shown.locator(".toy .remark")).to_have_text(
        "arrow may look at nothing: its weights are all 0, and so is its output."
    )


def test_words_are_added_removed_and_shuffled(opened):
    shown = opened()
    shown.get_by_role("button", name="Add a word").click()
    truth = el.toy(["time", "flies", "arrow", "fast"])
    assert cells(shown, "weights") == written(truth.weights)
    outputs = [cells(shown, "output")[2 * at : 2 * at + 2] for at in range(4)]
    shown.get_by_role("button", name="Shuffle the words").click()
    assert [cells(shown, "output")[2 * at : 2 * at + 2] for at in range(4)] == [outputs[3], *outputs[:3]]
    expect(shown.locator(".toy .remark")).to_have_text(re.compile("^Another order, the same outputs"))
    shown.get_by_role("combobox", name="Mask").select_option("the future is hidden")
    shown.get_by_role("button", name="Shuffle the words").click()
    expect(shown.locator(".toy .remark")).to_have_text(re.compile("^Another order, other outputs"))
    shown.get_by_role("button", name="Remove fast").click()
    assert shown.locator(".word-field").count() == 3
    shown.get_by_role("textbox", name="Word 1").fill("<b>tên</b>")
    shown.get_by_role("combobox", name="Numbers in each vector").select_option("3 numbers each")
    assert shown.locator(".given input").count() == 27
    expect(shown.get_by_role("grid", name="scores: QKᵀ").get_by_role("rowheader").first).to_have_text("<b>tên</b>")
    shown.reload()
    settled(shown)
    assert shown.get_by_role("textbox", name="Word 1").input_value() == "<b>tên</b>"


@pytest.mark.parametrize(
    ("place", "english", "vietnamese", "made_of"),
    [
        (
            "scores-1-0",
            "Query of flies · key of time: 1 · 1.5 + 1 · 0.5 = 2",
            "Truy vấn của flies · khóa của time: 1 · 1.5 + 1 · 0.5 = 2",
            4,
        ),
        (
            "quotients-1-0",
            "flies → time, scaled: 2 ÷ √2 = 2 ÷ 1.414 ≈ 1.41",
            "flies → time, sau khi chia: 2 ÷ √2 = 2 ÷ 1.414 ≈ 1.41",
            1,
        ),
        ("exponentials-1-1", "flies → flies: e^(−0.07) ≈ 0.93", "flies → flies: e^(−0.07) ≈ 0.93", 1),
        (
            "sums-1-0",
            "Sum of the row of flies: 4.11 + 0.93 + 4.11 ≈ 9.16",
            "Tổng hàng của flies: 4.11 + 0.93 + 4.11 ≈ 9.16",
            3,
        ),
        (
            "weights-1-2",
            "Weight of arrow for flies: 4.11 ÷ 9.16 ≈ 0.45",
            "Trọng số của arrow đối với flies: 4.11 ÷ 9.16 ≈ 0.45",
            2,
        ),
        (
            "output-1-1",
            "Output of flies, coordinate 1, the sum of weight · value: 0.45 · 0 + 0.1 · 1 + 0.45 · 2 = 1",
            "Đầu ra của flies, tọa độ 1, là tổng trọng số · giá trị: 0.45 · 0 + 0.1 · 1 + 0.45 · 2 = 1",
            6,
        ),
    ],
)
def test_a_number_tells_how_it_was_made(opened, place, english, vietnamese, made_of):
    for language, expected in (("en", english), ("vi", vietnamese)):
        shown = opened(f"language={language}")
        shown.locator(f"[data-cell={place}]").hover()
        expect(story(shown)).to_have_text(expected)
        assert shown.locator(".made-of").count() == made_of
        assert shown.locator(".made-here").get_attribute("data-cell") == place


def test_cells_are_read_by_keyboard(opened):
    shown = opened()
    cell(shown, "weights", 0, 0).focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        shown.keyboard.press(key)
    assert shown.evaluate("document.activeElement.dataset.cell") == "weights-1-2"
    expect(story(shown)).to_have_text("Weight of arrow for flies: 4.11 ÷ 9.16 ≈ 0.45")
    cell(shown, "weights", 2, 1).click()
    assert "row2" in shown.url


@pytest.mark.parametrize(
    "wrong",
    [
        "nonsense",
        "a:1:1",
        "a:1,2:1:1",
        "a:1:1:1001",
        "a:x:1:1",
        "a:1:1:1;b:1,2:1,2:1",
        "$zz:1:1:1",
        ";".join(["a:1:1:1"] * 9),
    ],
)
def test_a_wrong_text_in_the_address_is_the_default(opened, wrong):
    assert cells(opened(f"toy={wrong}"), "weights") == written(el.toy().weights)


def test_very_large_numbers_stay_finite(opened):
    truth = el.toy(["a", "b"], q=[[1000], [-1000]], k=[[1000], [999]], v=[[1], [0]])
    shown = opened(f"toy={toy_text(truth, 0)}")
    assert cells(shown, "weights") == ["1.00", "0.00", "0.00", "1.00"]
    cell(shown, "exponentials", 0, 0).hover()
    expect(story(shown)).to_contain_text("− ")


@pytest.mark.parametrize("language", ["en", "vi"])
def test_every_number_fits_on_one_screen(opened, language):
    for words in ("", "toy=" + toy_text(el.toy(["time", "flies", "arrow", "fast"]), 1)):
        shown = opened(f"{words} language={language}".strip(), width=1280, height=800)
        for part in ("q", "scores", "quotients", "open", "exponentials", "weights", "output"):
            box = shown.locator(f"[data-cell^={part}-]").last.bounding_box()
            assert box["y"] + box["height"] <= 800, part
            assert box["x"] + box["width"] <= 1280, part


def test_a_narrow_page_is_one_column(opened):
    shown = opened(width=390, height=844)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    lefts = {round(one.bounding_box()["x"]) for one in shown.locator(".toy .toy-step").all()}
    assert len(lefts) == 1


def test_the_picture_has_the_typed_numbers(opened):
    texts = ["".join(one.itertext()) for one in picture(opened()).iter("{http://www.w3.org/2000/svg}text")]
    assert {"0.45", "0.10", "−1.5", "9.16"} <= set(texts)
    assert "Add a word" not in texts


def test_the_page_of_a_toy_opens_on_it(page_of):
    truth = el.toy(["no", "yes"], q=[[1], [2]], k=[[1], [-1]], v=[[1, 2], [3, 4]], mask="causal")
    shown = page_of(toy_page(truth))
    settled(shown)
    assert cells(shown, "weights") == written(truth.weights)
    shown.get_by_role("button", name="Add a word").click()
    shown.get_by_role("button", name="Reset").click()
    assert cells(shown, "output") == written(truth.output)
