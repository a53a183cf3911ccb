"""How fast a page's matrix is in headless Chromium: opening, another head, panning. Prints JSON.

    python -m bench.page            # layers × heads × tokens × width: 12 × 12 × 512 × 64, and 6 × 12 × 2,048 × 32
    python -m bench.page --head mean

Pages are files made from random arrays, opened offline in a window of 1280 × 800. Opening lasts from navigation to the
whole matrix on screen; another head, from the key press to the first picture of that head, and to the last; frames are
the times between animation frames while the mouse drags a matrix that is zoomed in.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

SIZES = [(12, 12, 512, 64), (6, 12, 2048, 32)]
DONE = "canvas.matrix-canvas[data-state=done]"
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


def measured(browser: Any, path: Path, head: str) -> dict[str, Any]:
    """The figures of one page."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True).new_page()
    page.goto(f"{path.as_uri()}#view=matrix&head={head}")
    page.locator(DONE).wait_for(timeout=120_000)
    opened = page.evaluate("performance.now()")
    switches = [page.evaluate(SWITCH, key) for key in ("}", "{", "}", "{", "[", "]") * 2]
    heads, layers = switches[:4] + switches[6:10], switches[4:6] + switches[10:]
    page.get_by_role("application").focus()
    for _ in range(5):
        page.keyboard.press("+")
    page.locator(DONE).wait_for(timeout=60_000)
    box = page.get_by_role("application").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    for step in range(150):
        page.mouse.move(x - 2 * step, y - 1.5 * step)
    page.mouse.up()
    times = page.evaluate("cancelAnimationFrame(frameWatch), frameTimes")
    gaps = sorted(after - before for before, after in pairwise(times))
    return {
        "megabytes": round(path.stat().st_size / 1e6, 1),
        "opened": round(opened),
        "head, first picture": round(statistics.median(first for first, _ in heads)),
        "head, whole": round(statistics.median(last for _, last in heads)),
        "layer, first picture": round(statistics.median(first for first, _ in layers)),
        "layer, whole": round(statistics.median(last for _, last in layers)),
        "frames": len(gaps),
        "frame, median": round(statistics.median(gaps), 1),
        "frame, 95 of 100": round(gaps[int(0.95 * len(gaps))], 1),
        "frame, longest": round(gaps[-1], 1),
        "place": page.locator(".matrix-place").inner_text(),
    }


def main() -> None:
    """Measure, and print."""
    import browser
    import pages

    from eyeline.views.page import Page

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--head", default="0", help="a number, mean or max")
    parser.add_argument("--tokens", type=int, help="only the size of so many tokens")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder, browser.launched() as chromium:
        for layers, heads, tokens, head_dim in SIZES:
            if options.tokens not in (None, tokens):
                continue
            name = f"{layers} × {heads} × {tokens} × {head_dim}"
            text = pages.words(tokens - 2)
            trace = pages.trace(text, layers=layers, heads=heads, head_dim=head_dim, value_dim=None)
            path = Path(folder) / "page.html"
            Page([trace]).save(path)
            results[name] = measured(chromium, path, options.head)
    print(json.dumps(results, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
