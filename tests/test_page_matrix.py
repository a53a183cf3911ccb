"""The page's matrix: what it says of cells, what may not be looked at, zooming and moving."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pages
import pytest
from matrix_view import Matrix, given, patterned, total
from taken import numbers

from eyeline.masks import Causal, Window
from eyeline.traces import Trace
from eyeline.views.labels import percent

TEXT = "time flies like an arrow"


@pytest.fixture
def matrix_of(page_of):
    def opened(trace, words="", **options):
        return Matrix(page_of(trace, words=f"view=matrix {words}".strip(), **options))

    return opened


@pytest.mark.parametrize(
    ("head", "unit"), [("mean", "words"), ("max", "words"), (1, "words"), ("mean", "pieces"), (2, "pieces")]
)
def test_weights_under_the_cursor_are_the_librarys(matrix_of, head, unit):
    trace = pages.trace(TEXT)
    matrix = matrix_of(trace, f"head={head} unit={unit} special=shown")
    expected = given(trace, head, unit)
    for row, column in [(0, 0), (1, 3), (len(expected) - 1, len(expected) - 1), (2, 1)]:
        said = matrix.at(row, column)
        assert float(said["weight"]) == pytest.approx(expected[row, column], abs=1e-5)
        assert f"with {percent(expected[row, column])} of its weight" in matrix.sentence


def test_a_row_and_its_grey_part_sum_to_the_whole(matrix_of):
    trace = pages.trace(TEXT)
    expected = given(trace, 1)
    matrix = matrix_of(trace, "head=1")
    said = matrix.at(2, 0)
    assert (said["query"].split("\n")[0], said["key"].split("\n")[0]) == ("like", "time")
    assert float(said["weight"]) == pytest.approx(expected[3, 1], abs=1e-5)
    assert said["special tokens"] == percent(expected[3, 0] + expected[3, -1])
    assert matrix.sentence == f"like looks at time with {percent(expected[3, 1])} of its weight"
    assert "[CLS], [SEP]" in matrix.page.locator(".matrix-legend .grey").inner_text()
    rows = numbers(matrix.page)
    assert list(rows[0])[-1] == "special tokens"
    assert [total(row) for row in rows] == pytest.approx([1] * 5, abs=1e-5)


@pytest.mark.parametrize("head", [1, "mean", "max"])
def test_shares_are_of_the_words_alone(matrix_of, head):
    trace = pages.trace(TEXT)
    shown = given(trace, head)[1:-1, 1:-1]
    matrix = matrix_of(trace, f"special=out head={head}")
    assert "Share of the words" in matrix.page.locator(".matrix-legend").inner_text()
    said = matrix.at(2, 0)
    share = shown[2, 0] / shown[2].sum()
    assert float(said["share of the words"]) == pytest.approx(share, abs=1e-5)
    assert f"with {percent(share)} of what it gives to the words" in matrix.sentence
    assert "special tokens" not in said
    assert [total(row) for row in numbers(matrix.page)] == pytest.approx([1] * 5, abs=1e-5)


def test_the_mouse_reads_the_same_cell_and_presses_pin_its_query(matrix_of):
    trace = pages.trace(TEXT, pieces=1)
    matrix = matrix_of(trace)
    expected = given(trace)[1:-1, 1:-1]
    x, y, side = matrix.spot()
    matrix.page.mouse.move(x + 1.5 * side, y + 3.5 * side)
    assert float(matrix.said["weight"]) == pytest.approx(expected[3, 1], abs=1e-5)
    matrix.page.mouse.click(x + 1.5 * side, y + 3.5 * side)
    assert "token=4" in matrix.words  # [CLS] is the first
    matrix.page.mouse.click(x - 20, y + 0.5 * side)  # a row's label
    assert "token=1" in matrix.words
    matrix.page.mouse.click(x - 20, y + 0.5 * side)
    assert not any(word.startswith("token") for word in matrix.words)
    matrix.page.mouse.move(5, 5)
    assert matrix.said == {}


def test_what_may_not_be_looked_at_is_hatched_and_is_no_zero(matrix_of):
    # The last query gives next to nothing to the first key, and may not look at the others.
    q, k = np.zeros((1, 1, 6, 2), np.float32), np.zeros((1, 1, 6, 2), np.float32)
    q[..., 0], k[..., 0, 0] = 8, -8
    trace = Trace.of(q, k, mask=Causal(), scale=1.0, queries=list("abcdef"))
    matrix = matrix_of(trace, "special=shown")
    assert "weight" not in matrix.at(1, 3)
    assert matrix.sentence == "b may not look at d"
    assert float(matrix.at(4, 0)["weight"].replace("−", "-")) == pytest.approx(0, abs=1e-9)
    assert "the future" in matrix.page.locator(".veil").inner_text()
    x, y, side = matrix.spot()
    inner = int(side) - 8
    nothing = matrix.colours(x + 4, y + 4 * side + 4, 6)
    hidden = matrix.colours(x + 3 * side + 4, y + side + 4, inner)
    assert len(nothing) == 1  # one even colour
    assert len(hidden) > 1  # lines on a ground
    assert not nothing & hidden
    assert (228, 230, 235) in hidden  # --hidden
    weights = matrix.page.evaluate("document.querySelector('.readout').innerText")
    assert "0.000000" not in weights


@pytest.mark.parametrize("mask", [Causal(), Window(1, 1)])
def test_cells_that_are_hidden_are_those_of_the_mask(matrix_of, mask):
    trace = pages.trace(TEXT, pieces=1, mask=mask)
    matrix = matrix_of(trace, "special=shown")
    allowed = np.asarray(mask.dense(7, 7))
    for row, column in [(0, 0), (0, 1), (2, 1), (3, 0), (4, 6), (6, 6)]:
        assert ("weight" in matrix.at(row, column)) == allowed[row, column]
        assert ("may not" in matrix.sentence) == (not allowed[row, column])


def test_nothing_is_said_to_be_hidden_where_all_may_be_seen(matrix_of):
    assert matrix_of(pages.trace(TEXT)).page.locator(".veil").count() == 0


def test_zooming_by_keys_buttons_and_wheel(matrix_of):
    matrix = matrix_of(pages.trace(pages.words(80), pieces=1, heads=1))
    assert matrix.place == "80 queries × 80 keys"
    matrix.press("+")
    first = matrix.place
    assert first != "80 queries × 80 keys"
    assert any(word.startswith("box=") for word in matrix.words)
    matrix.page.get_by_role("button", name="Zoom out").click()
    matrix.page.get_by_role("button", name="Zoom in").click()
    matrix.press("0")
    assert matrix.place == "80 queries × 80 keys"
    assert not any(word.startswith("box=") for word in matrix.words)
    box = matrix.canvas.bounding_box()
    matrix.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    matrix.page.mouse.wheel(0, -300)  # scrolls the page, if there is more of it
    matrix.page.wait_for_timeout(250)
    assert matrix.place == "80 queries × 80 keys"
    matrix.page.keyboard.down("Control")
    matrix.page.mouse.wheel(0, -300)
    matrix.page.keyboard.up("Control")
    matrix.page.wait_for_timeout(300)
    assert matrix.place.startswith("Queries ")
    matrix.page.get_by_role("button", name="All").click()
    assert matrix.place == "80 queries × 80 keys"


def test_dragging_moves_what_is_seen_and_the_address_follows(matrix_of):
    matrix = matrix_of(pages.trace(pages.words(60), pieces=1, heads=1), "box=20,20,30,30")
    assert matrix.place == "Queries 22–31 and keys 22–31 of 60 × 60"
    box = matrix.canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    matrix.page.mouse.move(x, y)
    matrix.page.mouse.down()
    matrix.page.mouse.move(x - 40, y - 160, steps=6)
    matrix.page.mouse.up()
    matrix.wait()
    assert not any(word.startswith("token") for word in matrix.words)  # a drag is no press
    (words,) = [word for word in matrix.words if word.startswith("box=")]
    top, left, bottom, right = map(float, words[4:].split(","))
    assert top > 21
    assert 20 < left < 22
    assert bottom - top == pytest.approx(10, abs=0.1)
    assert right - left == pytest.approx(10, abs=0.1)


def test_the_keyboards_cursor_is_followed_and_said_aloud(matrix_of):
    trace = pages.trace(pages.words(60), pieces=1, heads=1)
    matrix = matrix_of(trace, "box=0,0,8,8")
    said = matrix.at(20, 3)
    assert matrix.place.startswith("Queries ")
    assert "keys 2–" in matrix.place
    expected = given(trace)[21, 4]
    assert float(said["weight"]) == pytest.approx(expected, abs=1e-5)
    live = matrix.page.locator("[aria-live=polite]").inner_text()
    assert said["query"].split("\n")[0] in live
    assert percent(expected) in live
    matrix.press("Enter")
    assert "token=21" in matrix.words
    matrix.press("End")
    assert "keys" in matrix.place
    assert matrix.said["key"].split("\n")[1] == "61"


def test_another_head_has_its_own_weights_under_the_same_cursor(matrix_of):
    trace = pages.trace(TEXT)
    matrix = matrix_of(trace, "head=0")
    before = matrix.weight(1, 2)
    matrix.press("}")
    matrix.wait()
    matrix.page.locator(f".given:not(:has-text('{before:.6f}'))").wait_for()
    assert float(matrix.said["weight"]) == pytest.approx(given(trace, 1)[2, 3], abs=1e-5)
    matrix.press("[")
    matrix.page.locator(f".given:not(:has-text('{given(trace, 1)[2, 3]:.6f}'))").wait_for()
    assert float(matrix.said["weight"]) == pytest.approx(given(trace, 1, layer=0)[2, 3], abs=1e-5)


def test_queries_and_keys_of_two_lines(matrix_of):
    trace = pages.trace("der alte Mann", keys="the old man walks home", pieces=1)
    matrix = matrix_of(trace)
    assert matrix.place == "3 queries × 5 keys"
    said = matrix.at(2, 4)
    assert (said["query"].split("\n")[0], said["key"].split("\n")[0]) == ("Mann", "home")
    assert float(said["weight"]) == pytest.approx(given(trace)[3, 5], abs=1e-5)


@pytest.mark.parametrize("text", pages.HOSTILE.values(), ids=pages.HOSTILE)
def test_hostile_texts_stay_texts(matrix_of, text):
    matrix = matrix_of(pages.trace(text, pieces=1, heads=1), "special=shown")
    matrix.at(1, 1)
    assert matrix.page.evaluate("window.ran") is None
    assert "\u202e" not in matrix.page.locator(".readout").inner_text()


def test_a_narrow_window_holds_it(matrix_of):
    matrix = matrix_of(pages.trace(pages.words(12)), width=390, height=844)
    assert matrix.page.evaluate("document.documentElement.scrollWidth") <= 390
    box = matrix.canvas.bounding_box()
    assert box["x"] + box["width"] <= 390
    matrix.page.set_viewport_size({"width": 900, "height": 800})
    matrix.page.wait_for_timeout(100)
    assert matrix.canvas.bounding_box()["width"] > box["width"]


def test_the_canvas_has_the_devices_pixels(matrix_of):
    matrix = matrix_of(pages.trace(TEXT), device_scale_factor=2)
    assert matrix.page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas.matrix-canvas");
          return canvas.width === Math.round(2 * canvas.getBoundingClientRect().width);
        }"""
    )


def test_the_grey_column_names_a_first_word_and_control_characters(matrix_of):
    found = pages.trace("time \x07 flies fast", pieces=2, special=False, mask=Causal())
    found = replace(found, queries=replace(found.queries, aside=(0, 1)))
    whole = matrix_of(found).page.locator(".matrix-legend .grey").inner_text()
    assert "(time, the first word, control characters)" in whole
    cut = matrix_of(found, "unit=pieces").page.locator(".matrix-legend .grey").inner_text()
    assert "(ti-, the first word, -me, the first word, control characters)" in cut


def test_words_that_make_no_sense_show_all(matrix_of):
    matrix = matrix_of(pages.trace(TEXT, pieces=1), "box=9,9,1,1 clipped=77,-3 token=998 scale=none")
    assert matrix.place == "5 queries × 5 keys"


def test_a_finger_drags_and_two_zoom(matrix_of):
    matrix = matrix_of(pages.trace(pages.words(60), pieces=1, heads=1), has_touch=True)
    box = matrix.canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = matrix.page.context.new_cdp_session(matrix.page)

    def touch(kind, *points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b} for a, b in points]})

    touch("touchStart", (x - 20, y), (x + 20, y))
    for far in (40, 60, 80):
        touch("touchMove", (x - far, y), (x + far, y))
    touch("touchEnd")
    matrix.wait()
    zoomed = matrix.place
    assert zoomed.startswith("Queries ")
    touch("touchStart", (x, y))
    for step in (20, 60, 120):
        touch("touchMove", (x, y - step))
    touch("touchEnd")
    matrix.wait()
    assert matrix.place != zoomed
    matrix.page.touchscreen.tap(x, y)
    assert "weight" in matrix.said


@pytest.mark.parametrize("words", ["ahead=no", "padded=2", "removed=2", "scaled=no"])
def test_what_if_changes_are_obeyed_and_named(matrix_of, words):
    trace = pages.trace(TEXT, pieces=1)
    matrix = matrix_of(trace, f"head=1 special=shown {words}")
    layer = trace.layers[-1]
    scores = layer.q[1].astype(np.float64) @ layer.k[1].T * (1 if words == "scaled=no" else layer.scale)
    seen = np.ones((7, 7), bool)
    if words == "ahead=no":
        seen = np.tril(seen)
    if words == "padded=2":
        seen[:, -2:] = False
    if words == "removed=2":
        seen[:, 2] = False
    weights = np.where(seen, np.exp(scores - scores.max(1, keepdims=True)), 0)
    weights /= weights.sum(1, keepdims=True)
    for row, column in [(1, 0), (3, 3), (6, 4)]:
        said = matrix.at(row, column)
        assert float(said["weight"].replace("−", "-")) == pytest.approx(weights[row, column], abs=1e-5)
    named = {"ahead=no": "the future", "padded=2": "padding, the last tokens: 2", "removed=2": "removed keys: 1"}
    veil = matrix.page.locator(".veil")
    assert named[words] in veil.inner_text() if words in named else veil.count() == 0
    matrix.at(2, 6)
    assert ("may not" in matrix.sentence) == (not seen[2, 6])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("head=0", "Each token looks at the one before it (86%): the line left of the diagonal."),
        ("head=1", "The first token is a sink: it takes 98% of the weight."),
        ("head=2", "Each row is a word that looks: the darker a cell, the larger its weight."),
        ("head=2 theme=dark", "Each row is a word that looks: the brighter a cell, the larger its weight."),
        ("head=0 token=3", "“w3” looks most at “w2”: 98%."),
        ("head=0 scaled=no", "Each token looks at the one before it (86%): the line left of the diagonal."),
        ("head=0 ahead=no", "Each row is a word that looks: the darker a cell, the larger its weight."),
    ],
)
def test_the_title_line_says_what_one_sees(matrix_of, words, sentence):
    matrix = matrix_of(patterned(), f"layer=0 {words}")
    assert matrix.page.locator(".says").inner_text() == sentence
