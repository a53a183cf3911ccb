"""The page's matrix: what it says of cells, what may not be looked at, scales, clipped columns, zooming and moving."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pages
import pytest
from taken import numbers

from eyeline.masks import Causal, Window
from eyeline.traces import Trace
from eyeline.views.labels import percent

TEXT = "time flies like an arrow"


def given(trace, head="mean", unit="words", layer=None):
    """What each query unit gives to each key unit: over keys pieces add up, over queries the mean is taken."""
    layer = trace.model.layers - 1 if layer is None else layer
    heads = range(trace.model.heads) if isinstance(head, str) else [head]
    result = []
    for number in heads:
        weights = trace.weights(layer, number).astype(np.float64)
        if unit == "words":
            rows, columns = ([word.tokens for word in line.words] for line in (trace.queries, trace.across))
            weights = np.array([weights[first:last].mean(0) for first, last in rows])
            weights = np.array([weights[:, first:last].sum(1) for first, last in columns]).T
        result.append(weights)
    return np.max(result, 0) if head == "max" else np.mean(result, 0)


def part(text):
    """The number of a text in percent."""
    return float(text.strip("≥≤ %").replace("−", "-")) / 100


def total(row):
    """The sum of a row of the exported numbers."""
    return sum(float(value) for name, value in row.items() if name[0].isdigit() or name == "special tokens")


def rounded(number):
    """The end of a scale: 1, 2 or 5 times a power of ten."""
    power = 10 ** np.floor(np.log10(number))
    return next(times * power for times in (1, 2, 5, 10) if number <= times * power * 1.0001)


class Matrix:
    """The matrix of an open page."""

    def __init__(self, page):
        self.page = page
        self.canvas = page.get_by_role("application")
        self.wait()

    def wait(self):
        self.page.locator("canvas[data-state=done]").wait_for()

    @property
    def said(self):
        """What the readout says, by its names; nothing while it is hidden."""
        texts = self.page.locator(".readout:not([hidden]) dl div").evaluate_all(
            "(all) => all.map((one) => [one.children[0].textContent, one.children[1].innerText])"
        )
        return dict(texts)

    @property
    def sentence(self):
        """The readout's sentence."""
        return self.page.locator(".readout .said").inner_text()

    @property
    def marks(self):
        """The numbers of the legend, as texts."""
        return self.page.locator(".marks span").all_inner_texts()

    @property
    def end(self):
        """The number at which the legend ends."""
        return part(self.marks[-1])

    @property
    def scale(self):
        """What the legend says of its scale."""
        return self.page.locator(".matrix-legend .scale").inner_text()

    @property
    def place(self):
        return self.page.locator(".matrix-place").inner_text()

    @property
    def words(self):
        return self.page.evaluate("location.hash.slice(1)").split("&")

    def press(self, *keys):
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def at(self, row, column):
        """Point at a cell by keyboard; gives what is said of it."""
        self.press("Escape", "ArrowDown", "Control+Home", *["ArrowDown"] * row, *["ArrowRight"] * column)
        return self.said

    def weight(self, row, column):
        return float(self.at(row, column)["weight"])

    def spot(self):
        """Where cells are, by what the readout says under the mouse: the first one's corner, and a side; in pixels."""
        box = self.canvas.bounding_box()
        left, top, bottom = box["x"], box["y"], box["y"] + box["height"] - 6
        right = box["x"] + box["width"] - 90  # left of the grey column

        def edge(name, low, high, point):
            """The first place at which the readout no longer says what it says at the lower end."""
            self.page.mouse.move(*point(low))
            before = self.said.get(name)
            while high - low > 0.5:
                middle = (low + high) / 2
                self.page.mouse.move(*point(middle))
                low, high = (middle, high) if self.said.get(name) == before else (low, middle)
            return high

        x = edge("key", left + 1, right, lambda x: (x, bottom))
        y = edge("query", top + 1, bottom, lambda y: (right, y))
        return x, y, edge("query", y + 1, bottom, lambda y: (right, y)) - y

    def colours(self, x, y, side):
        """The colours of a square of the window, as the canvas has them."""
        box = self.canvas.bounding_box()
        pixels = self.page.evaluate(
            """([x, y, side]) => {
              const canvas = document.querySelector("canvas.matrix-canvas");
              const copy = document.createElement("canvas");
              copy.width = copy.height = side;
              const context = copy.getContext("2d", { willReadFrequently: true });
              context.drawImage(canvas, -x, -y);
              return [...context.getImageData(0, 0, side, side).data];
            }""",
            [round(x - box["x"]), round(y - box["y"]), side],
        )
        return {tuple(pixels[at : at + 3]) for at in range(0, len(pixels), 4)}


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


def sinking(n=12):
    """A trace whose first key takes most of what each query gives; the others' weights differ by little."""
    random = np.random.default_rng(1)
    q = np.ones((1, 1, n, 4), np.float32)
    k = random.normal(0, 0.3, (1, 1, n, 4)).astype(np.float32)
    k[..., 0, :] = 2.5
    return Trace.of(q, k, queries=[f"w{number}" for number in range(n)])


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
