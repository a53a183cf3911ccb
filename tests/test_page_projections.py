"""The steps view from x to what is added to x: every number is the model's, in a file and wherever it is missing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from eyeline.models import load
from eyeline.views.viewing import view
from tests.steps_view import values, walked
from tests.taken import taken

TEXT = "time flies like an arrow"
FLIES, TIME = 2, 1
#: What float16 matrices leave of a file's sums.
ROUNDED = {"rtol": 4e-3, "atol": 4e-3}


@pytest.fixture(scope="module")
def minilm():
    return load("minilm")


@pytest.fixture(scope="module")
def made(minilm):
    """A page of which a file has the matrices of L0H3 and L5H2."""
    return view(TEXT, model=minilm, state={"layer": 5, "head": 2}, keep=["L0H3"])


@pytest.fixture
def walk(page_of):
    def opened(page, words="", **options):
        return walked(page_of, page, f"token={FLIES} {words}", **options)

    return opened


@pytest.mark.parametrize(("role", "token"), [("query", FLIES), ("key", TIME), ("value", TIME)])
def test_a_coordinate_is_the_sum_of_its_products_and_the_bias(walk, made, role, token):
    page = walk(made, words=f"key={TIME} coordinate=7 passed=7")
    page.locator(f"[data-focus=apart-{role}]").click()
    found = made.traces[0].projections(5, 2)
    letter = role[0] if role != "key" else "k"
    W, b = getattr(found, f"W_{letter}"), getattr(found, f"b_{letter}")
    products = W[7].astype(float) * found.x[token]
    sum_, bias, value = values(page, ".apart .sum")
    np.testing.assert_allclose(sum_, products.sum(), **ROUNDED)
    np.testing.assert_allclose(bias, b[7], **ROUNDED)
    np.testing.assert_allclose(value, products.sum() + b[7], **ROUNDED)
    layer = made.traces[0].layer(5)
    vector = {"query": layer.q, "key": layer.k, "value": layer.v}[role]
    np.testing.assert_allclose(value, vector[2, token, 7], **ROUNDED)
    at = int(np.abs(products).argmax())
    assert page.locator(".apart .which").inner_text() == f"at {at}"
    want = [found.x[token, at], W[7, at], products[at], products[: at + 1].sum()]
    np.testing.assert_allclose(values(page, ".apart .at"), want, **ROUNDED)


def test_any_coordinate_can_be_asked_for(walk, made):
    page = walk(made, words="coordinate=7")
    page.locator("[data-focus=apart-query]").click()
    field = page.get_by_role("spinbutton", name="coordinate")
    field.fill("30")
    field.press("Enter")
    layer, found = made.traces[0].layer(5), made.traces[0].projections(5, 2)
    assert "coordinate=30" in page.url
    np.testing.assert_allclose(values(page, ".apart .sum")[2], layer.q[2, FLIES, 30], **ROUNDED)
    # a press on a row of W_v takes a coordinate of v apart
    box = page.locator(".projection.value .whole").bounding_box()
    page.locator(".projection.value .whole").click(position={"x": 40, "y": box["height"] * 4.5 / 32})
    assert "passed=4" in page.url
    token = int(np.argmax(made.traces[0].weights(5, 2, FLIES)[0]))
    want = found.value(found.x[[token]])[0, 4]
    np.testing.assert_allclose(values(page, ".apart .sum")[2], want, **ROUNDED)


def test_what_is_added_is_given_away_and_its_lengths_are_shown(walk, made):
    page = walk(made)
    trace, found = made.traces[0], made.traces[0].projections(5, 2)
    output = trace.weights(5, 2, FLIES)[0] @ trace.layer(5).v[2]
    part = found.W_o @ output
    rows = {row[0]: row[-384:] for row in json.loads(taken(page, "json"))["rows"]}
    want = {
        "x": found.x[FLIES],
        "residual": found.x[FLIES],
        "added": found.added[FLIES],
        "part": part,
        "sum": found.x[FLIES] + found.added[FLIES],
    }
    for name, vector in want.items():
        np.testing.assert_allclose(rows[name], vector, **ROUNDED, err_msg=name)
    lengths = [np.linalg.norm(want[name]) for name in ("residual", "added", "part", "sum")]
    np.testing.assert_allclose(values(page, ".lengths"), lengths, **ROUNDED)
    widths = page.eval_on_selector_all(".lengths .bar", "all => all.map((one) => one.getBoundingClientRect().width)")
    np.testing.assert_allclose(np.array(widths) / widths[0], np.array(lengths) / lengths[0], rtol=0.02)
    heights = page.eval_on_selector_all(".joined i", "all => all.map((one) => one.getBoundingClientRect().height)")
    parts = found.lengths[:, FLIES]
    np.testing.assert_allclose(np.array(heights) / max(heights), parts / parts.max(), atol=0.02)
    assert page.locator(".joined .here .name").inner_text() == "H2"


def test_a_change_changes_this_heads_part_alone(walk, made):
    page = walk(made, words="removed=1")
    trace, found = made.traces[0], made.traces[0].projections(5, 2)
    weights = trace.weights(5, 2, FLIES)[0].astype(float)
    before = found.W_o @ (weights @ trace.layer(5).v[2])
    weights[1] = 0
    after = found.W_o @ (weights / weights.sum() @ trace.layer(5).v[2])
    added = found.added[FLIES] - before + after
    want = [np.linalg.norm(one) for one in (found.x[FLIES], added, after, found.x[FLIES] + added)]
    np.testing.assert_allclose(values(page, ".lengths"), want, **ROUNDED)
    assert "the other heads are as they were" in page.locator("[data-step='6']").inner_text()


def test_the_first_layer_shows_word_and_position(walk, made):
    page = walk(made, words="layer=0 head=3 key=1")
    found = made.traces[0].projections(0, 3)
    at = int(page.locator("[data-step='0'] .which").first.inner_text().split()[-1])
    ends = [float(text.split()[-1]) for text in page.locator("[data-step='0'] .scalebar").all_inner_texts()]
    parts = np.abs([found.words[FLIES], found.positions[FLIES]]).max()
    np.testing.assert_allclose(ends, [parts, np.abs(found.x[[FLIES, TIME]]).max()], atol=0.01)
    want = [found.words[FLIES, at], found.positions[FLIES, at], found.x[FLIES, at], found.x[TIME, at]]
    np.testing.assert_allclose(values(page, "[data-step='0'] .at"), want, **ROUNDED)
    said = page.locator("[data-step='0'] .why").inner_text()
    assert said == "x begins as the embedding of flies plus that of its position (and the token type's), normed."


def test_a_head_without_matrices_says_where_to_see_them(walk, made):
    page = walk(made, words="layer=3 head=1")
    said = page.locator("[data-step='1'] .missing").inner_text()
    assert "--keep L3H1" in said
    assert "eyeline view has every head's" in said
    assert page.locator("[data-step='0']").count() == 0
    page.locator("[data-step='1'] .missing").get_by_role("button", name="L0H3").click()
    expect(page.locator(".projection")).to_have_count(3)
    assert "head=3" in page.url


def test_turned_queries_are_shown_before_and_after(walk, tiny_model):
    made = view("the cat ran", model=tiny_model, state={"layer": 1, "head": 3})
    page = walk(made, words="coordinate=2 key=0")
    trace, found = made.traces[0], made.traces[0].projections(1, 3)
    page.locator("[data-focus=apart-query]").click()
    sum_, _, used = values(page, ".apart .sum")[[0, 0, 1]]
    token = FLIES
    np.testing.assert_allclose(sum_, found.W_q[2] @ found.x[token], **ROUNDED)
    np.testing.assert_allclose(used, trace.layer(1).q[3, token, 2], **ROUNDED)
    assert page.locator(".projection.query .column").count() == 2  # W·x, and turned; there is no bias
    assert "H2 to H3 share their keys" in page.locator(".remark").first.inner_text()
    assert "RMSNorm" in page.locator("[data-step='0'] .why").inner_text()


# The scroller


def test_the_formula_stays_in_view_and_lights_up_where_one_is(walk, made):
    page = walk(made, height=700)
    lit = page.locator(".formula button[aria-current=step]")
    for at in (4, 1, 6, 0):
        page.locator(f".formula [data-part='{at}']").first.click()
        expect(lit).to_have_attribute("data-part", str(at))
        expect(page.locator(f"[data-step='{at}'] h3")).to_be_in_viewport()
        assert page.locator(".formula").bounding_box()["y"] >= -1
    page.locator("[data-step='3']").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('[data-step=\"3\"]').scrollIntoView({ block: 'start' })")
    expect(lit).to_have_attribute("data-part", "3")
    page.locator("[data-focus=output-strip]").focus()
    expect(lit).to_have_attribute("data-part", "5")
    page.locator(".formula [data-part='2']").first.focus()
    page.keyboard.press("Enter")
    expect(lit).to_have_attribute("data-part", "2")


def test_the_five_steps_of_the_textbook_are_numbered(walk, made):
    page = walk(made)
    names = [text.split("\n", 1)[-1] for text in page.locator(".step h3").all_inner_texts()]
    assert [name.split(" ", 1)[1] if name[0].isdigit() else name for name in names] == [
        "The input, x",
        "Projections: where q, k and v come from",
        "Scores: the query times each key",
        "Scaled: ÷ √32",
        "Softmax: from scores to weights",
        "The weighted sum of the values",
        "Heads joined, and added to x",
    ]


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_numbers_move_into_place_unless_motion_is_reduced(walk, made, motion):
    page = walk(made)
    page.emulate_media(reduced_motion=motion)
    page.evaluate(
        "window.moved = 0; const animate = Element.prototype.animate;"
        "Element.prototype.animate = function (...of) { window.moved += 1; return animate.apply(this, of); }; null"
    )
    page.locator(".formula [data-part='4']").first.click()
    expect(page.locator(".formula button[aria-current=step]")).to_have_attribute("data-part", "4")
    page.wait_for_timeout(200)
    assert (page.evaluate("window.moved") > 0) == (motion == "no-preference")


@pytest.mark.parametrize(("width", "dark", "language"), [(390, True, "vi"), (390, False, "en"), (1280, True, "vi")])
def test_nothing_is_wider_than_the_page_and_nothing_lacks_its_text(walk, made, width, dark, language):
    page = walk(made, width=width, dark=dark, language=language)
    page.locator("[data-focus=apart-key]").click()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    text = page.locator(".steps").inner_text()
    assert "{" not in text
    assert "steps." not in text
