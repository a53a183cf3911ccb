"""Positions: what a model's host says of them; in the browser, the formulas' numbers, and what a shuffle changes."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pages
import pytest
from browser import settled
from playwright.sync_api import expect

import eyeline as el
from eyeline.models.model_positions import ModelPositions
from eyeline.serving import Session
from eyeline.traces import record
from eyeline.views.page import Page, file
from eyeline.views.page.file import page_file, stored_name
from eyeline.views.page.requests.positions import stored_positions
from tests.served import Served
from tests.taken import numbers, picture

REQUEST = {"id": 1, "kind": "positions", "trace": 0}


def arrays(page, **more):
    reply, buffers = page.answer(REQUEST | more)
    kinds = {"float16": "<f2", "float32": "<f4"}
    return reply, [np.frombuffer(buffer, kinds[reply["dtype"]]).astype(np.float64) for buffer in buffers]


@pytest.fixture
def learned():
    """A trace of a model with learned positions."""
    vectors = np.random.default_rng(3).standard_normal((40, 200)).astype(np.float32)
    return replace(pages.trace(), placing=ModelPositions("learned", vectors))


@pytest.fixture
def rotary():
    speeds = (10_000.0 ** (-np.arange(0, 16, 2) / 16)).astype(np.float32)
    return replace(pages.trace(), placing=ModelPositions("rotary", speeds))


# The request


def test_learned_vectors_and_their_cosines(learned):
    reply, (vectors, cosines) = arrays(Page([learned]))
    truth = learned.placing.numbers.astype(np.float64)
    assert (reply["positions"], reply["shape"], reply["width"]) == ("learned", [40, 200], 200)
    np.testing.assert_allclose(vectors.reshape(40, 200), truth, rtol=1e-3, atol=1e-4)
    centred = truth - truth.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1)
    np.testing.assert_allclose(cosines.reshape(40, 40), centred @ centred.T / np.outer(lengths, lengths), atol=1e-3)


def test_a_file_has_fewer_and_rounder_numbers_unless_they_alone_take_it_beyond_its_room(learned, monkeypatch):
    page = Page([learned, learned])
    (request,) = stored_positions(page.traces)
    reply, (vectors, cosines) = arrays(page, brief=1)
    assert reply["shape"] == [32, 128]
    np.testing.assert_allclose(vectors.reshape(32, 128), learned.placing.numbers[:32, :128], rtol=2**-5, atol=1e-6)
    assert len(np.unique(np.frexp(np.abs(vectors))[0])) <= 2**5
    assert cosines.size == 32 * 32
    block = f'id="eyeline-{stored_name(request)}"'.encode()
    whole = page_file(page)
    assert block in whole
    monkeypatch.setattr(file, "ROOM", len(whole) - 6_000)
    assert block not in page_file(page)
    monkeypatch.setattr(file, "ROOM", len(whole) // 2)  # it is larger anyway
    assert block in page_file(page)


def test_rotary_speeds_and_nothing(rotary):
    reply, (speeds,) = arrays(Page([rotary]))
    assert (reply["positions"], reply["shape"], reply["dtype"]) == ("rotary", [8], "float32")
    np.testing.assert_array_equal(speeds, rotary.placing.numbers)
    assert Page([pages.trace()]).answer(REQUEST) == ({"id": 1, "kind": "positions", "positions": None}, [])
    assert [one["positions"] for one in Page([rotary, pages.trace()]).header()["traces"]] == ["rotary", None]


def test_models_say_how_they_have_them(minilm, tiny_model):
    trace = record("time flies", model=minilm)
    assert trace.placing.kind == "learned"
    np.testing.assert_array_equal(trace.placing.numbers, minilm.network.embeddings.positions)
    assert trace.placing.numbers.shape == (512, 384)
    turned = record("the cat", model=tiny_model).placing
    assert (turned.kind, len(turned.numbers)) == ("rotary", tiny_model.config.head_dim // 2)


@pytest.fixture(scope="session")
def minilm():
    from eyeline.models import load

    return load("minilm")


# The view


@pytest.fixture
def opened(page_of):
    def call(trace=None, words="", **options):
        shown = page_of(trace or pages.trace(), words=f"view=positions {words}".strip(), **options)
        settled(shown)
        return shown

    return call


def sinusoid(position, width):
    pairs = np.arange(width) // 2
    angles = position * 10_000.0 ** (-2 * pairs / width)
    return np.where(np.arange(width) % 2, np.cos(angles), np.sin(angles))


def turned(vector, position):
    x, y = vector
    return [x * np.cos(position) - y * np.sin(position), x * np.sin(position) + y * np.cos(position)]


def outputs(placed, order):
    """The toy's outputs with its words in an order, put back into the first one."""
    toy = el.toy()
    q, k, v = (np.array(array)[order] for array in (toy.q, toy.k, toy.v))
    if placed == "sinusoidal":
        q, k = (array + [sinusoid(at, 2) for at in range(3)] for array in (q, k))
    if placed == "rotary":
        q, k = (np.array([turned(row, at) for at, row in enumerate(array)]) for array in (q, k))
    return el.toy(q=q, k=k, v=v).output[np.argsort(order)]


@pytest.mark.parametrize("placed", ["none", "sinusoidal", "rotary"])
def test_what_a_shuffle_changes_is_the_formulas(opened, placed):
    rows = numbers(opened(words=f"placed={placed}"))
    for name, order in (("output", [0, 1, 2]), ("other_output", [2, 0, 1])):
        found = [[float(row[f"{name}{at}"]) for at in range(2)] for row in rows]
        np.testing.assert_allclose(found, outputs(placed, order), rtol=1e-6, atol=1e-9)
    assert [row["same"] for row in rows] == ["1" if placed == "none" else "0"] * 3


def test_words_are_shuffled_by_a_switch(opened):
    shown = opened()
    heads = shown.locator(".order-weights tbody th")
    assert heads.all_inner_texts() == ["time", "flies", "arrow"]
    shown.get_by_role("checkbox", name="words shuffled").check()
    assert heads.all_inner_texts() == ["arrow", "time", "flies"]
    weights = [
        float(one)
        for one in shown.eval_on_selector_all(
            ".order-weights .bar", "all => all.map((one) => parseFloat(one.style.width))"
        )
    ]
    order = [2, 0, 1]
    np.testing.assert_allclose(weights, 100 * el.toy().weights[np.ix_(order, order)].ravel(), rtol=1e-3)
    expect(shown.locator(".says")).to_have_text(
        "Without positions, shuffled words keep their outputs: attention doesn't know the order."
    )
    shown.get_by_role("combobox", name="Positions").select_option("q and k turned (rotary)")
    expect(shown.locator(".says")).to_have_text(
        "With positions, shuffled words get other outputs: now attention knows the order."
    )
    assert "placed=rotary" in shown.url
    assert "shuffled=yes" in shown.url


def test_it_opens_on_the_models_own_kind(opened, learned, rotary):
    for trace, own in ((learned, "Learned"), (rotary, "Rotary"), (None, "Sinusoidal")):
        shown = opened(trace)
        pressed = shown.locator(".schemes [aria-pressed=true]")
        assert pressed.inner_text().startswith(own)
        assert pressed.locator("small").count() == (trace is not None)


def test_learned_positions_are_the_models(opened, learned):
    shown = opened(learned)
    expect(shown.locator(".scheme")).to_contain_text("the first 32 positions, 128 of 200 numbers each")
    shown.get_by_role("slider", name="position").fill("5")
    truth = learned.placing.numbers[:32].astype(np.float64)
    centred = truth - truth.mean(axis=0)
    cosines = centred @ centred[5] / np.linalg.norm(centred, axis=1) / np.linalg.norm(centred[5])
    bars = shown.eval_on_selector_all(
        ".position-bars rect",
        "all => all.map((one) => [Number(one.getAttribute('height')), one.getAttribute('class')])",
    )
    signs = np.array([-1 if kind == "negative" else 1 for _, kind in bars])
    heights = np.array([height for height, _ in bars])
    assert bars[5][1] == "here"
    np.testing.assert_allclose(signs * heights / heights[5], cosines, atol=0.04)
    assert "position=5" in shown.url


def test_sinusoids_are_the_formulas(opened):
    shown = opened(words="scheme=sinusoidal position=20")
    vectors = np.array([sinusoid(at, 64) for at in range(64)])
    cosines = vectors @ vectors[20] / 32
    heights = np.array(
        shown.eval_on_selector_all(".position-bars rect", "all => all.map((one) => Number(one.getAttribute('height')))")
    )
    np.testing.assert_allclose(heights / heights[20], np.abs(cosines), atol=1e-6)


def test_turned_scores_depend_on_the_distance_alone(opened, rotary):
    shown = opened(rotary, "position=9 against=2")
    score = np.cos(7 * rotary.placing.numbers.astype(np.float64)).mean()
    verdict = shown.locator(".scheme .verdict")
    expect(verdict).to_contain_text(
        f"m − n = 9 − 2 = 7: if q and k were equal before, their score is {score:.3f}".replace("-", "−")
    )
    hand = shown.locator(".clock .hand.query").first
    before = hand.get_attribute("x2")
    shown.get_by_role("button", name="Move both by one").click()
    expect(verdict).to_contain_text(
        f"m − n = 10 − 3 = 7: if q and k were equal before, their score is {score:.3f}".replace("-", "−")
    )
    assert hand.get_attribute("x2") != before
    box = shown.get_by_role("slider", name="query at position m")
    box.focus()
    shown.keyboard.press("ArrowRight")
    expect(verdict).to_contain_text("m − n = 11 − 3 = 8")
    assert shown.evaluate("document.activeElement.getAttribute('aria-label')") == "query at position m"


def test_a_slider_is_dragged_without_losing_it(opened, learned):
    shown = opened(learned)
    box = shown.get_by_role("slider", name="position").bounding_box()
    middle = box["y"] + box["height"] / 2
    shown.mouse.move(box["x"] + 0.3 * box["width"], middle)
    shown.mouse.down()
    shown.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=5)
    shown.mouse.move(box["x"] + 0.98 * box["width"], middle, steps=5)
    shown.mouse.up()
    assert int(re.search(r"position=(\d+)", shown.url)[1]) >= 30


def test_in_vietnamese_on_a_phone_and_as_a_picture(opened, learned):
    shown = opened(learned, width=390, height=844, language="vi-VN")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    expect(shown.locator(".says")).to_have_text(
        "Không có vị trí, đảo từ vẫn giữ nguyên đầu ra: cơ chế chú ý không biết thứ tự."
    )
    expect(shown.locator(".order .verdict")).to_contain_text("Chỉ riêng cơ chế chú ý thì không biết từ đứng ở đâu.")
    drawn = picture(opened(learned))
    texts = ["".join(one.itertext()) for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"45%", "10%", "time"} <= set(texts)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}image"))) >= 1


@pytest.mark.parametrize("wrong", ["position=64", "position=x", "scheme=x placed=y shuffled=z"])
def test_wrong_words_in_the_address_are_the_defaults(opened, wrong):
    shown = opened(words=wrong)
    assert shown.get_by_role("slider", name="position").input_value() == "8"
    assert shown.locator(".order-weights tbody th").first.inner_text() == "time"


# A real model


def test_a_host_that_runs_texts_runs_the_shuffled_words(open_page, tiny_trace, tiny_model):
    name = tiny_model.name
    with Served(Session(Page([tiny_trace]), [name], ready={name: tiny_model})) as served:
        address = f"http://{served.host}/"
        shown = open_page(address, words="view=positions layer=0 head=1", within=(address,))
        settled(shown)
        expect(shown.locator(".rerun")).to_contain_text(f"And in {name}?")
        shown.get_by_role("button", name="Shuffle the text's words and run it again").click()
        expect(shown.locator(".rerun")).to_contain_text("The same words, another order")
        first, second = served.session.page.traces
        assert (first.queries.text, second.queries.text) == ("the cat ran", "ran the cat")
        check_rerun(shown, first, second, "L0H1")


def check_rerun(shown, first, second, head):
    """The words that words look most at, in the order of the first text, and how much weights changed."""
    layer, number = map(int, re.fullmatch(r"L(\d+)H(\d+)", head).groups())
    before, after = (words_weights(trace, layer, number) for trace in (first, second))
    order = [after[0].index(word) for word in before[0]]
    moved = after[1][np.ix_(order, order)]
    rows = shown.locator(".rerun tbody tr").all_inner_texts()
    for row, word, one, other in zip(rows, before[0], before[1], moved, strict=True):
        said = [f"{before[0][weights.argmax()]} {weights.max():.0%}" for weights in (one, other)]
        assert row.split("\t") == [word, *said]
    points = round(100 * np.abs(before[1] - moved).max())
    expect(shown.locator(".rerun .verdict")).to_contain_text(f"weights changed by up to {points} percentage points")


def words_weights(trace, layer, head):
    """A trace's words, but special tokens, and the weights from word to word."""
    weights = trace.weights(layer, head).astype(np.float64)
    text = trace.queries.text
    words = [word for word in trace.queries.words if word.span is not None and text[slice(*word.span)].strip()]
    rows = np.array([weights[slice(*word.tokens)].mean(axis=0) for word in words])
    found = np.array([rows[:, slice(*word.tokens)].sum(axis=1) for word in words]).T
    return [text[slice(*word.span)].strip() for word in words], found


def test_two_orders_on_one_page_are_compared(opened):
    first = pages.trace("time flies like an arrow", pieces=2)
    second = pages.trace("arrow time flies like an", pieces=2, seed=1)
    shown = opened([first, second], words="layer=1 head=2")
    check_rerun(shown, first, second, "L1H2")
    shown.get_by_role("combobox", name="Head", exact=True).select_option("0")
    check_rerun(shown, first, second, "L1H0")
    assert opened(first).locator(".rerun").count() == 0


def test_toy_positions_and_cost_open_without_a_text(open_page, tiny_model):
    with Served(Session(Page([]), ["tiny"], ready={"tiny": tiny_model})) as served:
        address = f"http://{served.host}/"
        shown = open_page(address, within=(address,))
        for name, part in (("Toy", ".toy-step"), ("Positions", ".order-weights"), ("Cost", ".squares")):
            shown.get_by_role("tab", name=name).click()
            expect(shown.locator(part).first).to_be_visible()
            assert not any(one.is_visible() for one in shown.locator(".trouble").all())
        assert shown.get_by_role("tab").all_inner_texts() == ["Toy", "Positions", "Cost"]
