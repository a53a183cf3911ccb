"""Where a score comes from, on the page: the request, and the block of the steps view on the server; none in a file."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import eyeline as el
from eyeline.models import load
from eyeline.serving import Session
from eyeline.traces import load_trace
from eyeline.views.page import Page
from eyeline.views.page.file import _module
from eyeline.views.page.requests.request import RequestError
from tests.served import Served
from tests.steps_view import walked

FLIES = "time flies like an arrow"
ASKED = {"id": 1, "kind": "sources", "trace": 0, "layer": 5, "head": 2, "query": 2, "key": 1}


@pytest.fixture(scope="module")
def minilm():
    return load()


@pytest.fixture(scope="module")
def flies(minilm):
    return el.record(FLIES, model=minilm, keep=["input"])


def test_the_reply_is_the_librarys_split(flies):
    reply, buffers = Page([flies]).answer(ASKED)
    found = el.why(flies, 5, 2, 2, 1)
    assert buffers == []
    assert (reply["score"], reply["same_place"], reply["scheme"]) == (
        pytest.approx(found.score, rel=1e-5),
        pytest.approx(found.same_place, rel=1e-5),
        "added",
    )
    assert reply["pairs"]["largest"][0] == [["MLP", 4, None], ["MLP", 3, None], pytest.approx(-0.238984)]
    for side, values in (("query_sources", found.by_query_source), ("key_sources", found.by_key_source)):
        sums = reply[side]
        sizes = np.sort(np.abs(values))[::-1][:6]
        np.testing.assert_allclose([abs(value) for _, value in sums["largest"]], sizes, rtol=1e-5)
        assert sums["others"] == 89 - 6
        assert sum(value for _, value in sums["largest"]) + sums["sum"] == pytest.approx(found.score, abs=1e-4)
    pairs = reply["pairs"]
    assert sum(value for *_, value in pairs["largest"]) + pairs["sum"] == pytest.approx(found.score, abs=1e-4)
    first = Page([flies]).answer(ASKED | {"layer": 0})[0]
    names = [name for name, _ in first["query_sources"]["largest"]]
    assert sorted(names) == sorted(
        [[name, None, None] for name in ("embedding", "position", "embedding_norm_bias", "q_bias")]
    )
    assert (first["query_sources"]["others"], first["query_sources"]["sum"]) == (0, 0)


def test_a_trace_from_a_file_is_split_with_the_model_that_is_here(flies, tmp_path):
    flies.save(tmp_path / "a.safetensors")
    again = Page([load_trace(tmp_path / "a.safetensors")])
    assert again.answer(ASKED)[0] == Page([flies]).answer(ASKED)[0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"key": 7}, "key must be a whole number from 0 to 6, got 7"),
        ({"query": "x"}, "query must be a whole number from 0 to 6, got 'x'"),
        ({"layer": 6}, "layer must be a whole number from 0 to 5"),
    ],
)
def test_what_is_asked_wrongly_is_refused(flies, changed, message):
    with pytest.raises(RequestError, match=re.escape(message)):
        Page([flies]).answer(ASKED | changed)


def test_a_key_ahead_and_arrays_without_a_model_are_refused():
    page = Page([el.record("The cat sat", model="smollm2")])
    with pytest.raises(RequestError, match=r"key must be a token that The \(#0\) can look at, got sat \(#2\)"):
        page.answer(ASKED | {"query": 0, "key": 2})
    x = np.eye(3, dtype=np.float32)[None, None]
    with pytest.raises(RequestError, match="trace must be of a text run as trained, by a model that is here"):
        Page([el.Trace.of(x, x, x, queries=["a", "b", "c"])]).answer(ASKED | {"layer": 0, "head": 0})


# In the browser


@pytest.fixture
def served(flies, minilm):
    with Served(Session(Page([flies]), ["minilm"], ready={"minilm": minilm})) as running:
        yield running


def bars(page, at):
    """Each bar of a list: its name, its number, and which side of 0 it is drawn on, and how far."""
    return (
        page.locator(".source-bars")
        .nth(at)
        .evaluate(
            """table => [...table.tBodies[0].rows].map((row) => {
          const [room, fill] = [row.querySelector(".source-room"), row.querySelector(".source-fill")].map(
            (node) => node.getBoundingClientRect());
          const middle = room.left + room.width / 2;
          return [row.cells[0].textContent, row.cells[1].textContent,
            (fill.right > middle + 0.5 ? fill.right - middle : fill.left - middle) / (room.width / 2)];
        })"""
        )
    )


def test_steps_show_the_sources_of_the_chosen_keys_score(served, open_page, flies):
    address = f"http://{served.host}/"
    page = open_page(address + "#view=steps&layer=5&head=2&token=2&key=1", within=(address,))
    block = page.locator("[data-block='sources']")
    expect(block.locator(".source-bars")).to_have_count(3)
    found = el.why(flies, 5, 2, 2, 1)
    expect(block).to_contain_text(f"the score is +{found.score:.3f}.")
    expect(block).to_contain_text(f"in place of the key's it would be +{found.same_place:.3f}.")
    for at, values in enumerate((found.by_query_source, found.by_key_source, found.table.ravel())):
        drawn = bars(page, at)
        assert len(drawn) == 7
        largest = sorted(values.tolist(), key=lambda value: -abs(value))[:6]
        for (_, number, part), value in zip(drawn, largest, strict=False):
            assert float(number.replace("−", "-")) == pytest.approx(value, abs=0.0006)
            assert part == pytest.approx(value / 5, abs=0.02)  # on one scale to ±5, from 0 in the middle
        assert drawn[-1][0] == f"{values.size - 6} others"
    assert bars(page, 2)[0][0] == "L4 MLP × L3 MLP"
    expect(block).to_contain_text("one scale from −5 to 5")
    page.locator(".rows [role=radio]").nth(2).click()
    other = el.why(flies, 5, 2, 2, 2)
    expect(block).to_contain_text(f"the score is {'+' if other.score > 0 else '−'}{abs(other.score):.3f}")
    expect(block).not_to_contain_text("it would be")


def test_in_vietnamese_the_block_says_nothing_in_english(served, open_page):
    address = f"http://{served.host}/"
    page = open_page(address + "#view=steps&layer=5&head=2&token=2&key=1&language=vi", within=(address,))
    block = page.locator("[data-block='sources']")
    expect(block.locator(".source-bars")).to_have_count(3)
    expect(block).to_contain_text("MLP L4 × MLP L3")
    assert not re.search(r"\b(the|score|others|written|bias of|attention)\b", block.inner_text())


def test_a_file_has_no_such_block_and_none_of_its_texts(page_of, flies):
    page = walked(page_of, flies, "layer=5 head=2 token=2".replace(" ", "&"))
    expect(page.locator("[data-block='products']")).to_have_count(1)
    expect(page.locator("[data-block='sources']")).to_have_count(0)
    module = _module(False, False)
    assert "sources.title" not in module
    assert "source-fill" not in module
