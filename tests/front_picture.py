"""The README's moving picture, from the page itself: `python -m tests.front_picture docs/page.webp`."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

import eyeline as el

sys.path.insert(0, str(Path(__file__).parent))
from browser import launched

#: What is shown, in the words of an address, and for how many milliseconds.
SHOWN = (
    ("view=sentence&layer=5&head=3&token=2", 2600),
    ("view=steps&layer=5&head=3&token=2&step=2", 2600),
    ("view=matrix&layer=5&head=3&token=2", 2200),
    ("view=overview", 2200),
    ("view=toy", 2200),
)
WIDTH, HEIGHT = 1000, 640


def frame(page: Page, file: Path, state: str) -> Image.Image:
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}#{state}&language=en&theme=light")
    page.wait_for_timeout(1200)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        file = Path(folder, "page.html")
        el.view("time flies like an arrow").save(file)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        frames = [frame(page, file, state) for state, _ in SHOWN]
    times = [time for _, time in SHOWN]
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=82, method=6)


if __name__ == "__main__":
    main(sys.argv[1])
