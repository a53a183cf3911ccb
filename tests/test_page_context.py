"""A word in two contexts, on the page: cosines and angles by layer, the nearest words, and where neither is known."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pages
import pytest
import tokenizers
from playwright.sync_api import expect
from served import Served, session_of, unframed
from tokenizers import models

import eyeline as el
from eyeline.models.vocabulary import Vocabulary
from eyeline.traces import load_trace
from eyeline.traces.keep import SHORT
from eyeline.views.page import Page
from eyeline.views.page.requests.request import RequestError
from tests.answers import Blocks
from tests.taken import numbers
from tests.test_page_rules import FAINT, OUT_OF_REACH, nameless

TIME, FRUIT, BANK = "time flies like an arrow", "fruit flies like a banana", "a bank by the bank"
WORDS = ("fly", "flew", "insect", "fruit", "wing", "arrow", "swarm")
WIDTH = 12


class Rows:
    def __init__(self, matrix):
        self.matrix = matrix

    def __getitem__(self, rows):
        return self.matrix[rows]


def vocabulary():
    tokenizer = tokenizers.Tokenizer(models.WordPiece({word: at for at, word in enumerate(WORDS)}, unk_token="fly"))
    matrix = np.random.default_rng(5).standard_normal((len(WORDS), WIDTH)).astype(np.float32)
    return Vocabulary(tokenizer, Rows(matrix), WIDTH), matrix


def with_vectors(trace, seed=0, words=True):
    """A trace with random vectors, which turn from one direction to others from layer to layer."""
    random = np.random.default_rng(seed)
    layers, N = trace.model.layers + 1, len(trace.queries)
    turned = np.linspace(0, 1, layers)[:, None, None] * random.standard_normal((layers, N, WIDTH))
    vectors = np.asarray(np.random.default_rng(99).standard_normal(WIDTH) + turned, np.float32)
    return replace(trace, vectors=vectors, vector_tokens=tuple(range(N)), vocabulary=vocabulary()[0] if words else None)


def two(words=True, **options):
    return [
        with_vectors(pages.trace(TIME, **options), 1, words),
        with_vectors(pages.trace(FRUIT, seed=1, **options), 2, words),
    ]


def mean(trace, first, last):
    return trace.vectors[:, first:last].mean(axis=1, dtype=np.float64)


def cosine(a, b):
    return (a * b).sum(axis=-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


@pytest.fixture
def opened(page_of):
    def open_page(traces, words="token=2", **options):
        page = page_of(Page(traces), words=f"view=compare layer=0 head=mean {words}", **options)
        page.locator(".butterfly").wait_for()
        return page

    return open_page


def drawn(page):
    """The cosines and angles of the rows, and the dots' places."""
    page.locator(".near-words > *").last.wait_for()  # the river is built anew with the nearest words
    page.locator(".river circle").first.wait_for()
    values = page.eval_on_selector_all(
        ".river-row:not(.river-head)",
        "all => all.map((row) => [...row.querySelectorAll('data')].map((one) => Number(one.value)))",
    )
    dots = page.eval_on_selector_all(
        ".river .curves:first-of-type circle", "all => all.map((dot) => [dot.cx.baseVal.value, dot.cy.baseVal.value])"
    )
    return np.array(values), np.array(dots)


# Numbers


def test_cosines_by_layer_are_those_of_the_vectors(opened):
    traces = two(layers=4)
    page = opened(traces)
    want = cosine(mean(traces[0], 2, 3), mean(traces[1], 2, 3))
    found, _ = drawn(page)
    np.testing.assert_allclose(found[:, 0], want, atol=1e-6)
    np.testing.assert_allclose(found[:, 1], np.degrees(np.arccos(want)), atol=1e-3)
    taken = [row for row in numbers(page) if row["what"] == "cosine"]
    assert [row["after_layer"] for row in taken] == ["embedding", "0", "1", "2", "3"]
    np.testing.assert_allclose([float(row["cosine"]) for row in taken], want, atol=1e-6)


def test_a_word_of_several_pieces_has_the_mean_of_their_vectors(opened):
    traces = two(pieces=2, layers=2)
    page = opened(traces, "token=3")
    want = cosine(mean(traces[0], 3, 5), mean(traces[1], 3, 5))
    np.testing.assert_allclose(drawn(page)[0][:, 0], want, atol=1e-6)


def test_curves_are_as_far_apart_as_their_angle_is_wide_on_the_scale_that_is_stated(opened):
    page = opened(two(layers=4))
    values, dots = drawn(page)
    second, first = dots[:5], dots[5:]
    widest = 90 if (values[:, 0] >= 0).all() else 180
    expect(page.locator(".river-head .gap")).to_have_text(f"0 to {widest}°")
    room = page.locator(".river-row .gap").nth(1).bounding_box()["width"]
    np.testing.assert_allclose((second - first)[:, 0], room * values[:, 1] / widest, atol=0.5)
    np.testing.assert_allclose(second[:, 1], first[:, 1])


def test_two_words_of_one_text(opened):
    trace = with_vectors(pages.trace(BANK, layers=3), 3)
    page = opened([trace], "token=2 other=0,0,mean partner=5")
    want = cosine(mean(trace, 2, 3), mean(trace, 5, 6))
    np.testing.assert_allclose(drawn(page)[0][:, 0], want, atol=1e-6)
    assert page.locator(".river-head bdi").all_inner_texts() == ["bank (word 3)", "bank (word 6)"]
    expect(page.locator("canvas.grid")).to_have_count(1)


def test_the_title_says_where_they_part_most(opened):
    traces = two(layers=4)
    page = opened(traces)
    want = cosine(mean(traces[0], 2, 3), mean(traces[1], 2, 3))
    layer = int(np.argmax(want[:-1] - want[1:]))
    said = f"flies: its two vectors part most in L{layer}, from cosine {want[layer]:.2f} to {want[layer + 1]:.2f}"
    expect(page.locator(".eyeline header")).to_contain_text(said)


def test_nearest_words_are_those_of_the_vocabulary(opened):
    traces = two(layers=2)
    page = opened(traces)
    page.locator(".nearest table").wait_for()
    matrix = vocabulary()[1]
    rows = page.eval_on_selector_all(
        ".nearest tbody tr", "all => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText))"
    )
    for nth, trace in enumerate(traces):
        for layer, vector in enumerate(mean(trace, 2, 3)):
            cosines = cosine(vector, matrix)
            best = [at for at in np.argsort(-cosines)[:5] if cosines[at] >= 0.25]
            want = " ".join(f"{WORDS[at]} {cosines[at]:.2f}" for at in best)
            assert re.sub(r"\s+", " ", rows[layer][nth]) == (
                want or f"none; at most {cosines.max():.2f}".replace("-", "−")
            )
    named = page.locator(".river-row .near.alone").all_inner_texts()
    assert set(named) <= set(WORDS)


# Choosing a layer


def test_a_row_chooses_the_layer_of_both_sides(opened):
    page = opened(two(layers=4))
    page.get_by_role("radio", name=re.compile("^L2: cosine")).click()
    for side in page.locator(".side").all():
        expect(side.get_by_label("Layer", exact=True)).to_have_value("2")
    expect(page.get_by_role("radio", name=re.compile("^L2: cosine"))).to_have_attribute("aria-checked", "true")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".side").nth(1).get_by_label("Layer", exact=True)).to_have_value("3")
    focused = "document.activeElement.getAttribute('aria-label')"
    expect(page.get_by_role("radio", name=re.compile("^L3: cosine"))).to_be_focused()
    assert page.evaluate(focused).startswith("L3: cosine")
    page.keyboard.press("Home")
    expect(page.locator(".side").first.get_by_label("Layer", exact=True)).to_have_value("0")


# Where it isn't known


def test_one_text_says_how_to_get_another(opened):
    page = opened([with_vectors(pages.trace(TIME))])
    note = page.locator(".context-note")
    expect(note).to_contain_text('eyeline compare "time flies like an arrow" "…" --token flies')
    expect(page.locator(".river")).to_have_count(0)


def test_traces_without_vectors_say_why_nothing_is_drawn(opened):
    page = opened([pages.trace(TIME), pages.trace(FRUIT, seed=1)])
    expect(page.locator(".context-note")).to_contain_text(f"at most {SHORT} tokens")


def test_models_are_not_mixed(opened):
    first, second = two()
    page = opened([first, replace(second, model=replace(second.model, name="another"))])
    expect(page.locator(".context-note")).to_contain_text("different models")


def test_without_a_vocabulary_the_curves_are_drawn_and_words_are_said_to_lack(opened):
    page = opened(two(words=False))
    expect(page.locator(".near-words")).to_contain_text("need the model")
    assert drawn(page)[0].shape == (3, 2)


# Requests


def test_replies_are_refused_with_the_reason():
    page = Page(
        [*two(), pages.trace("no vectors"), with_vectors(pages.trace(pages.words(SHORT), layers=1), words=False)]
    )
    for request, argument, message in [
        ({"kind": "products", "trace": 0, "other": 2}, "other", "must have all tokens' vectors"),
        ({"kind": "products", "trace": 3, "other": 0}, "trace", f"at most {SHORT}, got {SHORT + 2}"),
        ({"kind": "products", "trace": 0, "other": 4}, "other", "other must be a whole number from 0 to 3, got 4"),
        (
            {"kind": "nearest", "trace": 0, "token": 3, "last": 3},
            "last",
            "last must be a whole number from 4 to 7, got 3",
        ),
        ({"kind": "nearest", "trace": 2, "token": 1, "last": 2}, "trace", "vectors"),
        ({"kind": "nearest", "trace": 3, "token": 1, "last": 2}, "trace", "vocabulary"),
    ]:
        with pytest.raises(RequestError, match=re.escape(message)) as refused:
            page.answer({"id": 1, **request})
        assert refused.value.argument == argument


def test_a_file_holds_products_and_the_nearest_words_of_each_word(tmp_path):
    page = Page(two(layers=2))
    page.save(tmp_path / "page.html")
    blocks = Blocks((tmp_path / "page.html").read_bytes())
    held = set(blocks.found)
    assert {f"products-{pair}" for pair in ("0-0", "0-1", "1-1")} <= held
    assert {name for name in held if name.startswith("nearest")} == {
        f"nearest-{trace}-{token}-{token + 1}" for trace in (0, 1) for token in range(1, 6)
    }
    for trace, token in ((0, 1), (1, 5)):  # found all at once, they are those of each word
        reply, arrays = unframed(blocks.bytes(f"nearest-{trace}-{token}-{token + 1}"))
        asked, _ = page.answer({"id": 0, "kind": "nearest", "trace": trace, "token": token, "last": token + 1})
        words, expected = reply.pop("words"), asked.pop("words")
        assert (reply, arrays) == (asked, [])
        texts, cosines = ([[near[place] for near in layer] for layer in words] for place in (0, 1))
        assert texts == [[text for text, _ in layer] for layer in expected]
        np.testing.assert_allclose(cosines, [[number for _, number in layer] for layer in expected], atol=2e-6)


def test_the_server_answers_and_runs_texts_with_vectors(tiny_model):
    session = session_of(pages.trace("no vectors", model="tiny"), tiny_model)
    with Served(session) as served:
        report = served.run({"text": "the cat ran"})
        assert report["state"] == "done"
        assert report["entry"]["vectors"] is True
        at = report["trace"]
        _, _, data = served.ask("POST", "/api/answer", {"id": 1, "kind": "products", "trace": at, "other": at})
        reply, (buffer,) = unframed(data)
        trace = session.page.traces[at]
        found = np.frombuffer(buffer, np.float32).reshape(reply["shape"])
        np.testing.assert_allclose(found, trace.vectors @ trace.vectors.swapaxes(1, 2), rtol=1e-5)
        _, _, data = served.ask("POST", "/api/answer", {"id": 2, "kind": "nearest", "trace": at, "token": 0, "last": 1})
        assert len(unframed(data)[0]["words"]) == len(trace.vectors)


def test_trace_files_keep_vectors_that_were_asked_for(tmp_path):
    trace = el.record(TIME, keep=["vectors"])
    trace.save(tmp_path / "time.safetensors")
    again = load_trace(tmp_path / "time.safetensors")
    np.testing.assert_array_equal(again.vectors, trace.vectors)
    assert again.has_vectors
    assert again.vocabulary is None
    assert el.record(TIME).vectors is None


def test_compare_opens_there_with_the_numbers_of_its_answer(page_of, tmp_path):
    from eyeline.views.answer_pages import comparison_page

    found = el.compare(TIME, FRUIT, "flies")
    page = page_of(comparison_page(found))
    page.locator(".nearest").wait_for()
    np.testing.assert_allclose(drawn(page)[0][:, 0], [one.cosine for one in found.cosines], atol=1e-4)
    assert "insects" in page.get_by_role("radio", name=re.compile("^L5")).inner_text()
    expect(page.get_by_role("radio", name=re.compile("^L5"))).to_have_attribute("aria-checked", "true")


# For everyone


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_contrast_enough_and_everything_a_name(opened, dark):
    page = opened(two(), dark=dark)
    page.locator(".nearest").wait_for()
    assert page.evaluate(FAINT) == []
    assert page.evaluate(OUT_OF_REACH) == []
    assert nameless(page) == []


def test_nothing_is_wider_than_a_phone(opened):
    page = opened(two(layers=20), width=390, language="vi-VN")
    page.locator(".near-words > *").last.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".compare h3").first).to_have_text("Hai vectơ của flies tách xa nhau qua từng tầng ra sao")
    expect(page.locator(".nearest")).not_to_have_attribute("open", "")


@pytest.mark.parametrize("width", [1280, 390])
def test_another_text_is_run_from_the_view(tiny_model, open_page, width):
    trace = el.record("the cat ran", model=tiny_model, keep=["vectors"])
    with Served(session_of(trace, tiny_model)) as served:
        address = f"http://{served.host}/"
        page = open_page(address, within=(address,), words="view=compare token=0", width=width)
        page.get_by_role("button", name="Write another text").click()
        field = page.locator(".prompt textarea")
        expect(field).to_be_focused()
        field.fill("a cat flies")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".river-row[role=radio]")).to_have_count(3)
        expect(page.locator(".river-head bdi")).to_have_text(["“a cat flies”", "“the cat ran”"])
