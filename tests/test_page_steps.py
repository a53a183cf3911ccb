"""The steps view in the browser: every number that it shows or gives away is the reference's, whatever is changed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pages
import pytest
from playwright.sync_api import expect

from eyeline import reference
from eyeline.masks import Causal, Dense, Window
from eyeline.models.model_positions import ModelPositions
from eyeline.views.page import Page
from tests.steps_view import values, walked
from tests.taken import taken

WITHIN = {"rtol": 1e-5, "atol": 1e-5}
TEXT = "time flies like an arrow"
D = 8


@pytest.fixture
def walk(page_of):
    """Opens a page on its steps of one head."""

    def opened(traces, words="", **options):
        return walked(page_of, traces, f"layer=0 head=0 {words}", **options)

    return opened


def expected(trace, token, *, layer=0, head=0, allowed=None, ahead=True, scaled=True, removed=(), padded=0):
    """The reference's steps of one token of a head, with what is changed: q·k, scaled, masked, weights, output."""
    part = trace.layer(layer)
    group = trace.key_head(head)
    seen = pages.seen(trace, allowed=allowed, ahead=ahead, padded=padded, removed=removed)
    v = np.zeros((len(trace.across), 1)) if part.v is None else part.v[group]
    scale = part.scale if scaled else 1.0
    found = reference.steps(part.q[head], part.k[group], v, mask=Dense(seen), scale=scale)
    masked = found.masked[token]
    top = masked.max() if np.isfinite(masked.max()) else 0.0
    exponentials = np.exp(masked - top)
    return {
        "score": found.scores[token],
        "scaled": found.scaled[token],
        "masked": masked,
        "exponential": exponentials,
        "weight": found.weights[token],
        "output": found.output[token],
    }


def table(page):
    """The tables of steps 3 and 4: a row for each key."""
    scaled = values(page, ".of-scaled tbody tr[data-key]").reshape(-1, 3)
    return np.hstack([scaled, values(page, ".of-softmax tbody tr[data-key]").reshape(-1, 2)])


def opened(page, name):
    """The numbers of one of the tables that open."""
    page.locator(f"details[data-table={name}] summary").click()
    page.locator(f"details[data-table={name}] tbody data").first.wait_for()
    cells = values(page, f"details[data-table={name}] tbody")
    columns = page.locator(f"details[data-table={name}] thead th").count() - 1
    return cells.reshape(-1, columns)


def numbers(page):
    """What is given away: the columns, and the rows by what they are of."""
    found = json.loads(taken(page, "json"))
    by_kind = {}
    for row in found["rows"]:
        by_kind.setdefault(row[0], []).append(row[1:])
    return found["columns"][1:], by_kind


def agree(page, want, keys=None):
    """That the page shows, and gives away, what the reference has."""
    steps = ["score", "scaled", "masked", "exponential", "weight"]
    columns = np.stack([want[name] for name in steps], axis=1)
    np.testing.assert_allclose(table(page), columns if keys is None else columns[keys], **WITHIN)
    np.testing.assert_allclose(
        values(page, ".of-softmax tfoot"), [want["exponential"].sum(), want["weight"].sum()], **WITHIN
    )
    names, rows = numbers(page)
    for name in ("score", "scaled", "exponential", "weight"):
        np.testing.assert_allclose([row[names.index(name)] for row in rows["key"]], want[name], **WITHIN)
    masked = [row[names.index("masked")] for row in rows["key"]]
    np.testing.assert_allclose([-np.inf if one is None else one for one in masked], want["masked"], **WITHIN)
    if "output" in rows:
        first = names.index("0")
        np.testing.assert_allclose(rows["output"][0][first : first + len(want["output"])], want["output"], **WITHIN)
        np.testing.assert_allclose(opened(page, "output")[:, 0], want["output"], **WITHIN)


def random_mask(count, seed=3):
    """Some keys hidden from each query, all from the fourth."""
    allowed = np.random.default_rng(seed).random((count, count)) < 0.6
    np.fill_diagonal(allowed, True)
    allowed[3] = False
    return allowed


# The numbers


def test_every_number_is_the_references(walk):
    trace = pages.trace(TEXT, layers=2, heads=3)
    page = walk(trace, words="layer=1 head=2 token=3")
    agree(page, expected(trace, 3, layer=1, head=2))


@pytest.mark.parametrize("kind", ["causal", "window", "dense"])
def test_masks_are_the_references(walk, kind):
    N = 7
    far = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    allowed = {"causal": np.tri(N, dtype=bool), "window": far <= 1, "dense": random_mask(N)}[kind]
    mask = {"causal": Causal(), "window": Window(1, 1), "dense": Dense(allowed)}[kind]
    trace = pages.trace(TEXT, mask=mask)
    page = walk(trace, words="token=2")
    agree(page, expected(trace, 2, allowed=allowed))
    hidden = page.locator(".scores .hindered").all_inner_texts()
    assert len(hidden) == (~allowed[2]).sum()
    assert all("not allowed" in text and "−∞" in text for text in hidden)


def test_vectors_products_and_running_sums_are_as_they_are(walk):
    trace = pages.trace(TEXT)
    part = trace.layer(0)
    page = walk(trace, words="head=1 token=2 key=4")
    q, k, v = part.q[1, 2], part.k[1, 4], part.v[1]
    shown = opened(page, "products")
    products = q.astype(float) * k
    np.testing.assert_allclose(shown, np.stack([q, k, products, np.cumsum(products)], axis=1), **WITHIN)
    names, rows = numbers(page)
    first = names.index("0")
    np.testing.assert_allclose(rows["query"][0][first:], q, **WITHIN)
    np.testing.assert_allclose([row[first:] for row in rows["key"]], part.k[1], **WITHIN)
    np.testing.assert_allclose([row[first:] for row in rows["value"]], v, **WITHIN)
    np.testing.assert_allclose(rows["products"][0][first:], products, **WITHIN)
    assert rows["products"][0][0] == 4


def test_shapes_are_said(walk):
    page = walk(pages.trace(TEXT, head_dim=8, value_dim=6), words="token=2")
    assert page.locator(".shape").all_inner_texts() == [
        "",  # without the model's matrices
        "1 × 8 · 8 × 7 → 1 × 7",
        "q: 1 × 8",
        "K: 7 × 8",
        "1 × 8 → 1",
        "1 × 7",
        "1 × 7",
        "V: 7 × 6 → 1 × 6",
        "",
    ]
    assert "÷ √8" in page.locator(".formula").inner_text()
    assert "√8 = 2.828" in page.locator(".of-scaled thead").inner_text()


def test_a_scale_of_ones_own_is_said(walk):
    trace = pages.trace(TEXT, scale=0.5)
    page = walk(trace, words="token=2")
    agree(page, expected(trace, 2))
    assert "× 0.5000" in page.locator(".formula").inner_text()


# What if


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("ahead=no", {"ahead": False}),
        ("scaled=no", {"scaled": False}),
        ("removed=1", {"removed": [1]}),
        ("padded=3", {"padded": 3}),
        ("ahead=no scaled=no removed=0,2", {"ahead": False, "scaled": False, "removed": [0, 2]}),
        ("padded=2 scaled=no", {"padded": 2, "scaled": False}),
    ],
)
def test_each_change_is_the_references(walk, words, changes):
    trace = pages.trace(TEXT)
    page = walk(trace, words=f"head=1 token=3 {words}")
    agree(page, expected(trace, 3, head=1, **changes))


def test_toggles_recompute_at_once_and_there_is_a_way_back(walk):
    trace = pages.trace(TEXT)
    page = walk(trace, words="token=3")
    before = table(page)
    page.locator(".what-if summary").click()
    page.get_by_label("the future were hidden").check()
    np.testing.assert_allclose(table(page)[:, 4], expected(trace, 3, ahead=False)["weight"], **WITHIN)
    page.get_by_label("scores not divided by √8").check()
    np.testing.assert_allclose(table(page)[:, 4], expected(trace, 3, ahead=False, scaled=False)["weight"], **WITHIN)
    page.get_by_label("flies takes part").uncheck()
    changed = expected(trace, 3, ahead=False, scaled=False, removed=[2])["weight"]
    np.testing.assert_allclose(table(page)[:, 4], changed, **WITHIN)
    assert page.locator(".scores .ghost").count() == 7
    was = page.locator(".of-softmax tr[data-key='2'] .weights small").inner_text()
    assert was == f"{100 * before[2, 4]:.0f}% → 0%"
    assert "taken out" in page.locator(".of-scaled tr[data-key='2']").inner_text()
    assert "it is ahead" in page.locator(".of-scaled tr[data-key='5']").inner_text()
    assert "ahead=no" in page.url
    assert "removed=2" in page.url
    page.locator("[data-focus=back]").click()
    np.testing.assert_array_equal(table(page), before)
    assert page.locator(".scores .ghost").count() == 0


def test_the_new_vector_says_how_far_it_moved(walk):
    trace = pages.trace(TEXT)
    page = walk(trace, words="token=3 removed=2")
    now, before = expected(trace, 3, removed=[2])["output"], expected(trace, 3)["output"]
    lengths = [np.linalg.norm(now), np.linalg.norm(now - before), np.linalg.norm(before)]
    np.testing.assert_allclose(values(page, "[data-step='5'] .sum"), lengths, **WITHIN)
    np.testing.assert_allclose(opened(page, "output"), np.stack([now, before], axis=1), **WITHIN)


@pytest.mark.parametrize("words", ["token=3 removed=0,1,2,3,4,5,6", "token=3"])
def test_a_query_with_nothing_to_look_at_gives_zeros_and_says_so(walk, words):
    mask = Dense(random_mask(7)) if words == "token=3" else None
    trace = pages.trace(TEXT, mask=mask)
    page = walk(trace, words=words)
    np.testing.assert_array_equal(table(page)[:, 3:], np.zeros((7, 2)))
    np.testing.assert_array_equal(table(page)[:, 2], np.full(7, -np.inf))
    assert not opened(page, "output")[:, 0].any()
    assert "Nothing is left for like to look at" in page.locator("[data-step='4'] .missing").inner_text()
    assert "8 zeros" in page.locator("[data-step='5'] .sum").inner_text()
    assert "NaN" not in page.locator(".steps").inner_text()
    names, rows = numbers(page)
    assert not any(row[names.index("weight")] for row in rows["key"])


# What there is to choose


def test_the_first_word_is_walked_through_unless_another_is_chosen(walk):
    trace = pages.trace(TEXT)
    page = walk(trace)
    assert page.locator(".steps h2 .word").inner_text() == "time"
    page.get_by_role("radio", name="arrow").first.click()
    assert page.locator(".steps h2 .word").inner_text() == "arrow"
    np.testing.assert_allclose(table(page)[:, 4], expected(trace, 5, layer=0)["weight"], **WITHIN)


def test_of_several_heads_the_one_that_looks_hardest_at_a_word_is_taken_and_said(walk):
    trace = pages.trace(TEXT, heads=4, seed=5)
    page = walk(trace, words="head=mean token=2")
    rows = np.stack([trace.weights(0, head, 2)[0] for head in range(4)])
    hardest = int(rows[:, 1:6].max(axis=1).argmax())
    remark = page.locator(".remark").inner_text()
    assert f"This is L0H{hardest}, which of its layer looks hardest at one word" in remark
    assert "mean of H0 to H3" in remark
    assert "head=" not in page.url
    np.testing.assert_allclose(table(page)[:, 4], rows[hardest], **WITHIN)
    page.get_by_role("button", name=f"Stay with H{hardest}").click()
    assert f"head={hardest}" in page.url
    assert page.locator(".remark").count() == 0


def test_a_word_of_several_pieces_offers_them(walk):
    trace = pages.trace("time unbelievable arrow", pieces=3)
    page = walk(trace)
    page.get_by_role("radio", name="unbelievable").click()
    pieces = page.get_by_role("radiogroup", name="Piece of the word").get_by_role("radio")
    assert pieces.all_inner_texts() == ["unbe-", "-liev-", "-able"]
    pieces.nth(1).click()
    token = trace.queries.pieces.index("liev")
    assert page.locator(".steps h2 .word").inner_text() == "-liev-"
    np.testing.assert_allclose(table(page)[:, 4], expected(trace, token)["weight"], **WITHIN)


def test_shared_keys_are_said(walk):
    trace = pages.trace(TEXT, heads=6, key_heads=2, mask=Causal())
    trace = replace(trace, placing=ModelPositions("rotary", np.ones(4, np.float32)))
    page = walk(trace, words="head=4 layer=1 token=3")
    remarks = page.locator(".remark").all_inner_texts()
    assert remarks[0] == "H3 to H5 share their keys and values: key head 1 of 0 to 1."
    assert "rotary" in remarks[1]
    agree(page, expected(trace, 3, layer=1, head=4, allowed=np.tri(7, dtype=bool)))
    assert page.get_by_label("the future were hidden").count() == 0


def test_cross_attention_has_a_line_of_queries_and_one_of_keys(walk):
    trace = pages.trace("le temps passe", "time flies like an arrow", special=False)
    page = walk(trace, words="head=1 token=1 removed=4")
    agree(page, expected(trace, 1, head=1, removed=[4]))
    assert page.locator("[data-block=keys] [role=radio]").all_inner_texts() == [
        f"{at}\n{word}" for at, word in enumerate(TEXT.split())
    ]
    assert "3 queries of one line look at 5 keys of the other" in page.locator(".remark").inner_text()
    assert page.get_by_label("the future were hidden").count() == 0
    assert "K: 5 × 8" in page.locator(".steps").inner_text()


def test_a_key_that_is_pinned_in_cross_attention_is_the_key_that_is_chosen(walk):
    trace = pages.trace("le temps passe", "time flies like an arrow", special=False)
    page = walk(trace, words="head=1 token=3 toward=to")
    assert page.locator(".steps h2 .word").inner_text() == "le"
    assert page.locator("[data-block=keys] [aria-checked=true]").inner_text() == "3\nan"


def test_a_text_of_one_token(walk):
    trace = pages.trace("hi", special=False)
    page = walk(trace)
    agree(page, expected(trace, 0))
    np.testing.assert_array_equal(table(page)[:, 4], [1.0])


def test_values_that_do_not_travel_are_missed_in_words(walk):
    trace = pages.trace(TEXT, value_dim=None)
    page = walk(trace, words="token=2")
    agree(page, expected(trace, 2))
    said = page.locator("[data-step='5'] .missing").inner_text()
    assert "eyeline view has them" in said
    assert "page.save(…, values=True)" in said
    assert page.locator("[data-step='5'] .strip").count() == 0


def test_of_many_keys_those_with_most_weight_are_shown_and_all_are_given_away(walk):
    trace = pages.trace(pages.words(300), head_dim=16, spread=3.0)
    page = walk(trace, words="token=149 key=19")
    want = expected(trace, 149)
    keys = sorted({*np.argsort(-want["weight"], kind="stable")[:24].tolist(), 149, 19})
    agree(page, want, keys)
    rest = 1 - want["weight"][keys].sum()
    np.testing.assert_allclose(values(page, ".of-softmax .rest"), [rest], **WITHIN)
    assert f"and {302 - len(keys)} more keys" in page.locator("[data-block=keys] .more").inner_text()
    assert page.evaluate("document.querySelectorAll('*').length") < 2500


# Coordinates and keys: pointing and the keyboard


def test_a_coordinate_that_is_pointed_at_is_read_in_all_strips(walk):
    trace = pages.trace(TEXT)
    part = trace.layer(0)
    page = walk(trace, words="token=2 coordinate=0")
    strip = page.locator("[data-block=keys] .strip").nth(4)
    box = strip.bounding_box()
    strip.hover(position={"x": box["width"] * 5.5 / D, "y": box["height"] / 2})
    np.testing.assert_allclose(values(page, "[data-block=query] .at"), [part.q[0, 2, 5]], **WITHIN)
    np.testing.assert_allclose(values(page, "[data-block=keys] .at"), part.k[0, :, 5], **WITHIN)
    product = float(part.q[0, 2, 5]) * part.k[0, 4, 5]
    sums = np.cumsum(part.q[0, 2].astype(float) * part.k[0, 4])
    want = [part.q[0, 2, 5], part.k[0, 4, 5], product, sums[5]]  # of the key that is pointed at
    np.testing.assert_allclose(values(page, "[data-block=products] .at"), want, **WITHIN)
    assert page.locator("[data-block=products] .which").inner_text() == "at 5"
    marks = page.eval_on_selector_all(
        "[data-space=match] .mark", "all => all.map((one) => one.getBoundingClientRect().left)"
    )
    assert max(marks) - min(marks) < 1
    page.mouse.move(0, 0)
    np.testing.assert_allclose(values(page, "[data-block=query] .at"), [part.q[0, 2, 0]], **WITHIN)


def test_arrow_keys_read_coordinates_and_say_them(walk):
    trace = pages.trace(TEXT)
    part = trace.layer(0)
    page = walk(trace, words="token=2 coordinate=0 key=1")
    slider = page.get_by_role("slider", name="query of flies")
    slider.focus()
    for key, at in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", D - 1),
        ("ArrowRight", D - 1),
        ("Home", 0),
    ]:
        page.keyboard.press(key)
        np.testing.assert_allclose(values(page, "[data-block=query] .at"), [part.q[0, 2, at]], **WITHIN)
        assert slider.get_attribute("aria-valuenow") == str(at)
        assert slider.get_attribute("aria-valuetext").startswith(f"coordinate {at}: ")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "query of flies"
    page.get_by_role("slider", name="new vector of flies").focus()
    page.keyboard.press("End")
    want = expected(trace, 2)["output"]
    np.testing.assert_allclose(values(page, ".total .at"), want[-1:], **WITHIN)
    assert "passed=7" in page.url


def test_keys_are_chosen_and_taken_out_with_the_keyboard(walk):
    trace = pages.trace(TEXT)
    page = walk(trace, words="token=2 key=1")
    page.get_by_role("radiogroup", name="The keys").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "key=3" in page.url
    np.testing.assert_allclose(values(page, "[data-block=products] .sum"), expected(trace, 2)["score"][3:4], **WITHIN)
    page.keyboard.press("Delete")
    np.testing.assert_allclose(table(page)[:, 4], expected(trace, 2, removed=[3])["weight"], **WITHIN)
    assert page.evaluate("document.activeElement.innerText") == "3\nlike"
    page.keyboard.press("Delete")
    np.testing.assert_allclose(table(page)[:, 4], expected(trace, 2)["weight"], **WITHIN)


def test_words_are_gone_along_with_arrow_keys(walk):
    trace = pages.trace(TEXT)
    page = walk(trace, words="token=2")
    page.get_by_role("radio", name="flies").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".steps h2 .word").inner_text() == "like"
    assert page.evaluate("document.activeElement.innerText") == "like"
    page.keyboard.press("Home")
    assert page.locator(".steps h2 .word").inner_text() == "[CLS]"


def test_a_key_that_is_pointed_at_shows_its_products(walk):
    trace = pages.trace(TEXT)
    page = walk(trace, words="token=2 key=1")
    scores = expected(trace, 2)["score"]
    page.locator(".of-scaled tr[data-key='5'] th").hover()
    np.testing.assert_allclose(values(page, "[data-block=products] .sum"), scores[5:6], **WITHIN)
    page.mouse.move(0, 0)
    np.testing.assert_allclose(values(page, "[data-block=products] .sum"), scores[1:2], **WITHIN)
    page.locator(".of-softmax tr[data-key='6'] th").click()
    assert "key=6" in page.url


def test_the_state_comes_back_from_its_words(walk):
    trace = pages.trace(TEXT)
    page = walk(trace, words="token=2 key=4 coordinate=2 passed=1 removed=1 ahead=no")
    agree(page, expected(trace, 2, ahead=False, removed=[1]))
    assert page.locator("[data-block=keys] [aria-checked=true]").inner_text() == "4\nan"
    assert page.locator("[data-block=keys] .which").inner_text() == "at 2"
    assert page.locator("[data-step='5'] .which").inner_text() == "at 1"


def test_another_text_begins_anew(walk):
    page = walk(Page([pages.trace(TEXT), pages.trace("fruit flies")]), words="token=2 key=4 removed=4")
    page.locator(".controls").get_by_label("Text").select_option(index=1)
    expect(page.locator(".steps h2 .word")).to_have_text("fruit")
    assert page.locator("[data-block=keys] input:not(:checked)").count() == 0


# How it is drawn


def test_a_picture_of_it_is_svg_with_its_words_and_numbers(walk):
    trace = pages.trace("time <b>flies</b> & arrow")
    page = walk(trace, words="token=2")
    text = taken(page, "svg")
    words = [one.text for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert "<b>flies</b>" in words
    weight = expected(trace, 2)["weight"][0]
    assert f"{weight:.4f}" in words
    assert re.findall(r'href="(?!data:)', text) == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(walk, width, dark):
    trace = pages.trace(pages.words(40) + " " + "w" * 200, head_dim=64, value_dim=64)
    page = walk(trace, words="removed=1,2", width=width, dark=dark)
    page.locator(".scores").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
