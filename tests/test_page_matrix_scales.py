"""The scale of the page's matrix: chosen from the weights or by hand, its legend, and the columns beyond it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pages
import pytest
from matrix_view import Matrix, given, part, rounded, sinking

from eyeline.traces import Trace
from eyeline.views.labels import percent

TEXT = "time flies like an arrow"


@pytest.fixture
def matrix_of(page_of):
    def opened(trace, words="", **options):
        return Matrix(page_of(trace, words=f"view=matrix {words}".strip(), **options))

    return opened


def test_heavy_columns_are_beyond_the_scale_and_this_is_said(matrix_of):
    trace = sinking()
    weights = trace.weights(0, 0)
    matrix = matrix_of(trace)
    assert matrix.marks[-1].startswith("≥ ")
    assert matrix.end == pytest.approx(rounded(weights[:, 1:].max()))
    assert "the largest of the other columns" in matrix.scale
    clips = matrix.page.locator(".matrix-clips")
    assert "take much of every row" in clips.inner_text()
    assert f"w0 {percent(weights[:, 0].mean())}" in clips.inner_text()
    assert "clipped" not in " ".join(matrix.words)
    assert "beyond the scale" in matrix.at(3, 0)[""]
    matrix.press("Escape")
    x, y, side = matrix.spot()
    matrix.page.mouse.move(5, 5)
    darkest = matrix.colours(x + 3, y + 3, 4)
    assert darkest == matrix.colours(x + 3, y + 5 * side + 3, 4)  # all are beyond the scale
    matrix.page.get_by_role("button", name="Count w0 again").click()
    matrix.wait()
    assert "clipped=" in matrix.words
    assert matrix.end == rounded(weights.max())
    matrix.page.get_by_role("button", name="As the page chose").click()
    matrix.wait()
    assert matrix.end == pytest.approx(rounded(weights[:, 1:].max()))


def test_no_column_is_set_aside_where_none_takes_most(matrix_of):
    assert matrix_of(pages.trace(TEXT)).page.locator(".matrix-clips").is_hidden()


def test_a_press_on_a_columns_label_clips_it_as_its_key_does(matrix_of):
    matrix = matrix_of(pages.trace(TEXT, pieces=1))
    x, y, side = matrix.spot()
    matrix.page.mouse.click(x + 1.5 * side, y - 12)
    assert "clipped=2" in matrix.words
    matrix.at(0, 2)
    matrix.press("c")
    assert "clipped=2,3" in matrix.words
    matrix.press("c")
    assert "clipped=2" in matrix.words


def test_scales_have_numbers_of_their_own(matrix_of):
    trace = pages.trace(TEXT)
    matrix = matrix_of(trace)
    shown = given(trace)[1:-1, 1:-1]
    assert matrix.marks[0] == "0%"
    assert matrix.end == rounded(shown.max())
    assert matrix.scale == f"Linear, 0 to {matrix.marks[-1]}: the largest is {percent(shown.max())}."
    scale = matrix.page.get_by_role("combobox", name="Scale")
    scale.select_option("log")
    assert "scale=log" in matrix.words
    assert matrix.marks[0].startswith("≤ ")
    assert matrix.scale.startswith("Logarithmic, ")
    scale.select_option("rank")
    assert part(matrix.marks[0]) == pytest.approx(shown.min(), rel=0.06)
    assert part(matrix.marks[len(matrix.marks) // 2]) == pytest.approx(np.median(shown), rel=0.3)
    assert matrix.end == pytest.approx(shown.max(), rel=0.06)


def test_a_long_text_opens_with_its_structure_visible(matrix_of):
    random = np.random.default_rng(3)
    n = 498
    q = random.standard_normal((1, 1, n, 8)).astype(np.float32)
    k = random.standard_normal((1, 1, n, 8)).astype(np.float32)
    k[0, 0, 40] = q[0, 0, 300] = 3  # one large weight, which a scale up to the largest would show alone
    trace = Trace.of(q, k, queries=[f"w{number}" for number in range(n)])
    weights = trace.weights(0, 0)
    matrix = matrix_of(trace)
    assert weights.max() > 0.9
    assert matrix.end < 0.05
    assert matrix.marks[-1].startswith("≥ ")
    assert "beyond it, up to" in matrix.scale
    seen = weights[weights >= matrix.end / 8].sum() / weights.sum()
    assert seen > 0.5
    assert (weights > matrix.end).mean() < 0.015


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scale", ["linear", "log", "rank"])
def test_the_legends_numbers_never_touch(matrix_of, width, scale):
    for trace in (pages.trace(TEXT), pages.trace(pages.words(200), spread=4), sinking()):
        matrix = matrix_of(trace, f"scale={scale}", width=width)
        boxes = matrix.page.locator(".marks span").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"
        )
        assert len(boxes) >= 2
        assert all(after[0] - before[1] >= 4 for before, after in pairwise(boxes))


def test_by_rank_colours_are_another_picture_of_the_same_weights(matrix_of):
    matrix = matrix_of(sinking())
    x, y, side = matrix.spot()
    cell = (x + 3.5 * side - side / 2 + 3, y + 3, 4)
    matrix.page.mouse.move(5, 5)
    linear = matrix.colours(*cell)
    matrix.page.get_by_role("combobox", name="Scale").select_option("rank")
    matrix.wait()
    assert matrix.colours(*cell) != linear


def test_many_cells_in_a_pixel_are_their_mean_and_this_is_said(matrix_of):
    trace = pages.trace(pages.words(1000), pieces=1, heads=1, layers=1, head_dim=4, value_dim=None)
    matrix = matrix_of(trace, "scale=rank")
    assert "mean of 2 × 2 cells" in matrix.page.locator(".matrix-legend").inner_text()
    weights = trace.weights(0, 0)[1:-1, 1:-1]
    means = weights.reshape(500, 2, 500, 2).mean((1, 3))
    assert matrix.end == pytest.approx(means.max(), rel=0.06)
    median = matrix.page.locator(".marks span[style*='50%']").inner_text()
    assert part(median) == pytest.approx(np.median(means), rel=0.1)
    assert matrix.page.evaluate("document.querySelectorAll('*').length") < 1500
    matrix.press(*["+"] * 5)
    matrix.wait()
    assert "mean" not in matrix.page.locator(".matrix-legend").inner_text()
