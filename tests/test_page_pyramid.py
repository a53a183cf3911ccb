"""The means that a file holds of a long text: those of `Pooled` within their error, and shown until weights are."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pages
import pytest
from answers import Blocks
from browser import Opener
from hypothesis import given
from hypothesis import strategies as st
from matrix_view import Matrix
from taken import taken

from eyeline.masks import Causal, Mask, Window
from eyeline.readouts import Entropy, TopK
from eyeline.traces import Trace
from eyeline.views.page import Page
from eyeline.views.page.file import page_file
from eyeline.views.page.pyramid import ERROR, LARGEST, LONG, STEPS, coded, of_halves, pyramid, side_of

LENGTH = 8300  # of a text whose file holds means; no multiple of their squares
SIDE = 8


def long(mask: Mask | None = None, heads: int = 1) -> Trace:
    rng = np.random.default_rng(0)
    q, k = (1.5 * rng.standard_normal((1, heads, LENGTH, 8), np.float32) for _ in range(2))
    return Trace.of(q, k, mask=mask, queries=[f"w{place}" for place in range(LENGTH)])


@pytest.fixture(scope="module")
def causal():
    return long(Causal())


def means_of(weights: np.ndarray, side: int) -> np.ndarray:
    """The means of squares, smaller ones at the edges."""
    rows, columns = (np.arange(0, size, side) for size in weights.shape)
    sums = np.add.reduceat(np.add.reduceat(weights.astype(np.float64), rows, 0), columns, 1)
    sizes = [np.diff([*starts, size]) for starts, size in zip((rows, columns), weights.shape, strict=True)]
    return sums / np.multiply.outer(*sizes)


@pytest.mark.parametrize("mask", [None, Causal(), Window(3, 9)], ids=str)
@pytest.mark.parametrize("tokens", [37, 64, 65])
def test_means_are_those_of_the_weights_within_the_stated_error(mask, tokens):
    trace = pages.trace(pages.words(tokens), special=False, layers=1, heads=2, mask=mask)
    (layer,) = trace.layers
    found = pyramid(layer, 8)
    for head in range(2):
        exact = means_of(layer.weights[head], 8)
        assert (np.abs(found.means[head] - exact) <= (ERROR + 1e-6) * exact).all()
        assert found.most[head] == pytest.approx(exact.max(), rel=1e-6)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=40), st.floats(2**-40, 1))
def test_a_coded_mean_is_within_its_error_or_next_to_nothing(numbers, factor):
    means = (factor * np.array(numbers)).astype(np.float32)[None, None]
    found = coded(means)
    small = means <= found.most * 2 ** (-(LARGEST - 0.5) / STEPS) * (1 + 1e-5)
    assert (np.abs(found.means - means)[~small] <= 1.01 * ERROR * means[~small]).all()
    assert (found.means[small] <= found.most * 2 ** (-(LARGEST - 1) / STEPS)).all()
    assert (found.codes[means == 0] == 0).all()
    assert found.means.max() == found.most.max()


def traced(tokens: int, layers: int = 1, heads: int = 1, edits: object = None) -> Trace:
    line = range(tokens)
    layer = SimpleNamespace(edits=edits)
    model = SimpleNamespace(layers=layers, heads=heads)
    return SimpleNamespace(queries=line, across=line, layers=[layer], model=model)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("trace", "side"),
    [
        (traced(LONG), None),
        (traced(LONG + 1), 8),
        (traced(24_000), 16),
        (traced(100_000), 64),
        (traced(1_000_000), 512),
        (traced(24_000, 12, 12), 256),
        (traced(24_000, edits="some"), None),
    ],
)
def test_squares_are_as_small_as_there_is_room_for(trace, side):
    assert side_of(trace) == side


def test_a_file_holds_them_of_its_own_numbers_and_opens_on_the_matrix(causal):
    data = page_file(Page([causal]), half=True)
    blocks = Blocks(data)
    (entry,) = blocks.header["traces"]
    assert entry["pyramid"] == SIDE
    assert (blocks.header["state"]["view"], blocks.header["state"]["head"]) == ("matrix", 0)
    found = pyramid(of_halves(causal.layers[0]), SIDE)
    stored = blocks.bytes("pyramid-0-0")
    assert np.frombuffer(stored[:4], "<f4") == found.most
    low, high = np.frombuffer(stored[4:], np.uint8).reshape(2, -1).astype(np.uint16)
    turned = low | high << 8
    assert ((turned >> 1) | (turned << 15)).tolist() == found.codes.ravel().tolist()
    order = re.findall(rb'id="eyeline-(pyramid|layer)-', data)
    assert order == [b"pyramid", b"layer"]  # means are there while the browser reads the rest
    short = Blocks(page_file(Page([pages.trace()])))
    assert "pyramid" not in short.header["traces"][0]
    assert not [name for name in short.found if name.startswith("pyramid")]


@pytest.fixture(scope="module")
def opener(chromium, tmp_path_factory):
    found = Opener(chromium, tmp_path_factory.mktemp("pyramid"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def shown(opener, causal):
    """The page of the causal text, as it opens."""
    return opener.page_of(Page([causal]))


def again(shown, box: str) -> Matrix:
    """The same page with another part in sight."""
    top = shown.locator(".matrix-place").inner_text()
    shown.evaluate("(words) => { location.hash = words; }", f"view=matrix&box={box}")
    shown.wait_for_function("(top) => document.querySelector('.matrix-place').textContent !== top", arg=top)
    return Matrix(shown)


def pointed(matrix: Matrix, across: float, down: float) -> tuple[dict[str, str], list[int]]:
    """What is said of a cell at parts of the canvas, once its row was read; and which it is."""
    box = matrix.canvas.bounding_box()
    matrix.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
    matrix.page.locator(".readout .largest").wait_for()
    said = matrix.said
    return said, [int(said[name].split("\n")[1]) - 1 for name in ("query", "key")]


def test_the_whole_is_made_of_stored_means_alone(shown, causal):
    matrix = Matrix(shown)
    assert matrix.place == f"{LENGTH} queries × {LENGTH} keys"
    assert matrix.canvas.get_attribute("data-tiles") == "0"  # nothing had to be computed
    side = int(re.search(r"mean of (\d+) ×", shown.locator(".matrix-legend").inner_text())[1])
    assert side >= SIDE
    exact = means_of(causal.layers[0].weights[0], side)
    for across, down in [(0.3, 0.9), (0.5, 0.7)]:
        said, (query, key) = pointed(matrix, across, down)
        assert key < query - side
        text = said[f"mean of {side} × {side} cells, as stored"]
        assert text.startswith("≈ ")
        assert float(text[2:-1]) / 100 == pytest.approx(exact[query // side, key // side], rel=0.06)  # in two digits
        weight = causal.weights(0, 0, query, key)[0, 0]
        assert float(said["weight"].replace("−", "-")) == pytest.approx(weight, abs=1e-6)


def test_a_row_says_its_largest_weights_and_its_entropy(shown, causal):
    matrix = again(shown, "3000,2000,4000,3000")
    said, (row, _) = pointed(matrix, 0.5, 0.5)
    seen = causal.layers[0].observe([TopK(5), Entropy()])
    entropy = float(said["entropy of the row"].removesuffix(" nats"))
    assert entropy == pytest.approx(seen.entropy[0, 0, row], abs=1e-4)
    keys = re.findall(r"w(\d+) ", said["this row looks most at"])
    assert [int(key) for key in keys] == seen.top_k.keys[0, 0, row].tolist()
    matrix.press("ArrowDown")  # screen readers are told at once
    live = shown.locator("[aria-live=polite]").inner_text()
    assert "entropy of the row" in live
    assert "mean of" in live


@pytest.mark.parametrize("box", [(4000, 3000, 4300, 3300), (8000, 8000, 8300, 8300)])
def test_every_weight_of_a_region_is_the_librarys(shown, causal, box):
    again(shown, ",".join(map(str, box)))
    table = json.loads(taken(shown, "json"))
    rows, columns = table["rows"], table["columns"][1:]
    top, left = int(rows[0][0].split()[0]), int(columns[0].split()[0])
    found = np.array([[np.nan if one is None else one for one in row[1:]] for row in rows], np.float64)
    bottom, right = top + len(rows), left + len(columns)
    expected = causal.weights(0, 0, slice(top, bottom), slice(left, right))
    hidden = np.arange(left, right) > np.arange(top, bottom)[:, None]
    assert (np.isnan(found) == hidden).all()
    assert np.nanmax(np.abs(found - expected)) <= 1e-6


def test_what_is_computed_are_the_tiles_in_sight(shown):
    matrix = again(shown, "5000,1000,5200,1200")
    before = int(matrix.canvas.get_attribute("data-tiles"))
    place = [int(number) for number in re.findall(r"\d+", matrix.place)][:4]
    matrix = again(shown, "5000,2000,5200,2200")
    top, bottom, left, right = [int(number) for number in re.findall(r"\d+", matrix.place)][:4]
    assert place[:2] == [top, bottom]
    tiles = ((bottom - 1) // 256 - (top - 1) // 256 + 1) * ((right - 1) // 256 - (left - 1) // 256 + 1)
    assert int(matrix.canvas.get_attribute("data-tiles")) - before == tiles


@pytest.mark.parametrize(("mask", "heads"), [(Window(400, 0), 1), (None, 2)], ids=["window", "mean of heads"])
def test_other_masks_and_heads_are_shown_too(opener, mask, heads):
    trace = long(mask, heads)
    words = "head=mean box=4000,3900,4100,4000" if heads > 1 else "box=4000,3900,4100,4000"
    matrix = Matrix(opener.page_of(Page([trace]), half=True, words=words))
    said, place = pointed(matrix, 0.7, 0.6)
    weight = np.mean([trace.weights(0, head, *place)[0, 0] for head in range(heads)])
    assert float(said["weight"].replace("−", "-")) == pytest.approx(weight, abs=2e-4)  # the file is in float16
