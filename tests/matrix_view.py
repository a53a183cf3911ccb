"""The page's matrix as tests read it: its words, its legend, the colours of its cells; and what it should show."""

from __future__ import annotations

import numpy as np

from eyeline.traces import Trace


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


def sinking(n=12):
    """A trace whose first key takes most of what each query gives; the others' weights differ by little."""
    random = np.random.default_rng(1)
    q = np.ones((1, 1, n, 4), np.float32)
    k = random.normal(0, 0.3, (1, 1, n, 4)).astype(np.float32)
    k[..., 0, :] = 2.5
    return Trace.of(q, k, queries=[f"w{number}" for number in range(n)])


def patterned(N=8):
    """One layer: a head that looks at the previous token, one that looks at the first, one that looks everywhere."""
    weights = np.full((3, N, N), 0.02 / N)
    for row in range(N):
        weights[0, row, max(row - 1, 0)] += 0.98
        weights[1, row, 0] += 0.98
    weights[2] = 1 / N
    scores = np.log(weights)[None].astype(np.float32)  # the keys are unit vectors: a query's scores are its coordinates
    keys = np.broadcast_to(np.eye(N, dtype=np.float32), (1, 3, N, N))
    return Trace.of(scores, keys, scale=1.0, queries=[f"w{number}" for number in range(N)])
