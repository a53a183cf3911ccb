"""How fast a page's matrix is in headless Chromium: opening, another head, panning, long texts. Prints JSON.

    python -m bench.page            # layers × heads × tokens × width: 12 × 12 × 512 × 64, and 6 × 12 × 2,048 × 32
    python -m bench.page --head mean
    python -m bench.page --long     # one causal head of width 64 in float16, of 24,000 and of 100,000 tokens
    PYTHONPATH=other/src python bench/page.py --long    # another tree's page, by the same measures

Pages are files made from random arrays, opened offline in a window of 1280 × 800. Opening lasts from navigation to the
whole matrix on screen; another head, from the key press to the first picture of that head, and to the last; frames are
the times between animation frames while the mouse drags a matrix that is zoomed in. Of a long text: until the first
picture, and until every number can be had; a region of 5,000 × 5,000 weights and one of 20,000 × 20,000, from the
change of the address to the last tile; frames while the mouse drags the wider one; a row's entropy, from the movement
of the mouse; the memory of the page's process, and its seconds of processor time, which say more on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

SIZES = [(12, 12, 512, 64), (6, 12, 2048, 32)]
LONG = [24_000, 100_000]
DONE = "canvas.matrix-canvas[data-state=done]"
WINDOW = {"width": 1280, "height": 800}
#: Presses a key, and returns the milliseconds to the first picture of the new head and to the whole one.
SWITCH = """(key) => new Promise((done) => {
  const canvas = document.querySelector("canvas.matrix-canvas");
  const start = performance.now();
  let first = null;
  canvas.dataset.state = "";
  canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const look = () => {
    const { state } = canvas.dataset;
    if (state && first === null) first = performance.now() - start;
    if (state === "done") done([first, performance.now() - start]);
    else if (performance.now() - start < 60e3) setTimeout(look, 0);
    else done([NaN, NaN]);
  };
  look();
})"""
FRAMES = """() => {
  const times = (window.frameTimes = []);
  const frame = (now) => {
    times.push(now);
    window.frameWatch = requestAnimationFrame(frame);
  };
  window.frameWatch = requestAnimationFrame(frame);
}"""
#: Notes when the matrix has each state first.
STATES = """window.states = {};
new MutationObserver(() => {
  const { state } = document.querySelector("canvas.matrix-canvas")?.dataset ?? {};
  if (state && !(state in states)) states[state] = performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"] });"""
#: Goes to other words, and returns the milliseconds to the first picture and to the whole one.
GO = """(words) => new Promise((done) => {
  const canvas = document.querySelector("canvas.matrix-canvas");
  const start = performance.now();
  let first = null;
  canvas.dataset.state = "";
  location.hash = words;
  const look = () => {
    const { state } = canvas.dataset;
    if (state && first === null) first = performance.now() - start;
    if (state === "done" || state === "far") done([first, state === "done" ? performance.now() - start : null]);
    else if (performance.now() - start < 120e3) setTimeout(look, 0);
    else done([first, null]);
  };
  setTimeout(look, 0);
})"""


def dragged(page: Any, steps: int = 150) -> list[float]:
    """The times between frames, sorted, while the mouse drags the matrix."""
    box = page.get_by_role("application").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    for step in range(steps):
        page.mouse.move(x - 2 * step, y - 1.5 * step)
    page.mouse.up()
    times = page.evaluate("cancelAnimationFrame(frameWatch), frameTimes")
    return sorted(after - before for before, after in pairwise(times))


def measured(browser: Any, path: Path, head: str) -> dict[str, Any]:
    """The figures of one page."""
    page = browser.new_context(viewport=WINDOW, offline=True).new_page()
    page.goto(f"{path.as_uri()}#view=matrix&head={head}")
    page.locator(DONE).wait_for(timeout=120_000)
    opened = page.evaluate("performance.now()")
    switches = [page.evaluate(SWITCH, key) for key in ("}", "{", "}", "{", "[", "]") * 2]
    heads, layers = switches[:4] + switches[6:10], switches[4:6] + switches[10:]
    page.get_by_role("application").focus()
    for _ in range(5):
        page.keyboard.press("+")
    page.locator(DONE).wait_for(timeout=60_000)
    gaps = dragged(page)
    return {
        "megabytes": round(path.stat().st_size / 1e6, 1),
        "opened": round(opened),
        "head, first picture": round(statistics.median(first for first, _ in heads)),
        "head, whole": round(statistics.median(last for _, last in heads)),
        "layer, first picture": round(statistics.median(first for first, _ in layers)),
        "layer, whole": round(statistics.median(last for _, last in layers)),
        "layer, whole, least": round(min(last for _, last in layers)),
        "frames": len(gaps),
        "frame, median": round(statistics.median(gaps), 1),
        "frame, 95 of 100": round(gaps[int(0.95 * len(gaps))], 1),
        "frame, longest": round(gaps[-1], 1),
        "place": page.locator(".matrix-place").inner_text(),
    }


class Process:
    """The process of a page: its processor time and its memory, as Linux counts them."""

    def __init__(self, browser: Any) -> None:
        found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        pages = [one["id"] for one in found if one["type"] == "renderer"]
        self.pid = max(pages, key=lambda pid: megabytes(pid, "VmRSS"))  # others are spare ones
        self.last = 0.0

    def _seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def spent(self) -> float:
        """The seconds of processor time since the last call."""
        before, self.last = self.last, self._seconds()
        return round(self.last - before, 2)


def megabytes(pid: int, which: str) -> int:
    """A process's memory: "VmRSS", or "VmHWM", the most it had."""
    status = Path(f"/proc/{pid}/status").read_text()
    (kilobytes,) = re.findall(rf"{which}:\s+(\d+)", status)
    return round(int(kilobytes) * 1024 / 1e6)


def measured_long(browser: Any, path: Path, tokens: int) -> dict[str, Any]:
    """The figures of a long text's page."""
    page = browser.new_context(viewport=WINDOW, offline=True).new_page()
    page.add_init_script(STATES)
    page.goto(f"{path.as_uri()}#view=matrix&head=0", wait_until="commit")
    page.locator("canvas.matrix-canvas[data-state]").wait_for(timeout=120_000)
    first = page.evaluate("Math.min(...Object.values(states))")
    try:
        page.locator(f"{DONE}, canvas.matrix-canvas[data-state=far]").wait_for(timeout=120_000)
        opened = page.evaluate("states.done ?? states.far")
    except Exception:  # it never shows the whole
        opened = None
    process = Process(browser)
    figures: dict[str, Any] = {
        "megabytes": round(path.stat().st_size / 1e6, 1),
        "opened, first picture": round(first),
        "opened, with numbers": None if opened is None else round(opened),
        "opened, processor": process.spent(),
    }
    middle = tokens // 2
    for side in (5_000, 20_000):
        regions = []
        for turn in range(3):
            left = max(min(middle - side - turn * 700, tokens - side), 0)
            top = max(min(middle - side // 2 + turn * 900, tokens - side), 0)
            words = f"view=matrix&head=0&box={top},{left},{top + side},{left + side}"
            process.spent()
            regions.append((*page.evaluate(GO, words), process.spent()))
        named = f"{side:,}²"
        figures[f"{named}, first picture"] = round(statistics.median(one[0] for one in regions))
        figures[f"{named}, whole"] = [None if one[1] is None else round(one[1]) for one in regions]
        figures[f"{named}, processor"] = [one[2] for one in regions]
    gaps = dragged(page)  # the wider region is sharpened meanwhile
    figures |= {
        "frames": len(gaps),
        "frame, median": round(statistics.median(gaps), 1),
        "frame, 95 of 100": round(gaps[int(0.95 * len(gaps))], 1),
        "frame, longest": round(gaps[-1], 1),
    }
    box = page.get_by_role("application").bounding_box()
    start = time.perf_counter()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"])
    try:
        page.locator(".readout .entropy").wait_for(timeout=10_000)
        figures["row's entropy"] = round(1e3 * (time.perf_counter() - start))
    except Exception:  # a page that doesn't say it
        figures["row's entropy"] = None
    figures |= {"memory": megabytes(process.pid, "VmRSS"), "memory, most": megabytes(process.pid, "VmHWM")}
    return figures


def long_file(path: Path, tokens: int) -> float:
    """Write the page of a long text; returns the seconds that saving took."""
    import eyeline as el
    from eyeline.views.page import Page

    rng = np.random.default_rng(0)
    q, k = (rng.standard_normal((1, 1, tokens, 64), np.float32) for _ in range(2))
    trace = el.Trace.of(1.5 * q, k, mask=el.Causal(), queries=[f"w{place}" for place in range(tokens)])
    start = time.perf_counter()
    Page([trace]).save(path, half=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print."""
    import browser
    import pages

    from eyeline.views.page import Page

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--head", default="0", help="a number, mean or max")
    parser.add_argument("--tokens", type=int, help="only the size of so many tokens")
    parser.add_argument("--long", action="store_true", help="long texts of one head")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, browser.launched() as chromium:
        path = Path(folder) / "page.html"
        for tokens in LONG if options.long else []:
            if options.tokens in (None, tokens):
                saved = long_file(path, tokens)
                results[f"1 × 1 × {tokens} × 64"] = {"saved": round(saved, 1)} | measured_long(chromium, path, tokens)
        for layers, heads, tokens, head_dim in [] if options.long else SIZES:
            if options.tokens not in (None, tokens):
                continue
            name = f"{layers} × {heads} × {tokens} × {head_dim}"
            text = pages.words(tokens - 2)
            trace = pages.trace(text, layers=layers, heads=heads, head_dim=head_dim, value_dim=None)
            Page([trace]).save(path)
            results[name] = measured(chromium, path, options.head)
    print(json.dumps(results, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
