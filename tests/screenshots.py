"""Pictures of every view for people to look at: `python -m tests.screenshots FOLDER [WORD …]`; words narrow them down.

Each text in each view, light and dark, 1280 and 390 pixels wide, in English and Vietnamese: see FOLDER/index.html.
"""

from __future__ import annotations

import html
import itertools
import sys
import tempfile
from pathlib import Path

import eyeline
from eyeline.masks import Causal
from eyeline.views.page import Page
from eyeline.views.viewing import view
from tests import browser, pages

SCRIPTS = "الكلب يطارد القطة السوداء 👩‍🚀 in the garden of Zoë, ở nhà"
# What is shown: how it is made, and the words of what it opens with.
TEXTS = {
    "sentence": (lambda: view("time flies like an arrow"), "token=2"),
    "compare": (lambda: view(["time flies like an arrow", "fruit flies like a banana"]), "token=2"),
    "decoder": (
        lambda: view("The capital of France is Paris, and that of", model="smollm2"),
        "token=5 layer=19 head=2",
    ),
    "cross": (
        lambda: Page([pages.trace("ein Pfeil fliegt schnell", "an arrow flies very fast", name="cross")]),
        "token=2",
    ),
    "scripts": (lambda: view(SCRIPTS), "token=2 unit=pieces"),
    "tokens-512": (lambda: Page([pages.trace(pages.words(340), pieces=2, layers=12, heads=12)]), "token=199 head=2"),
    "tokens-2048": (
        lambda: Page([pages.trace(pages.words(2046), mask=Causal(), layers=6, heads=12, value_dim=None)]),
        "token=1499 head=2",
    ),
}
WIDTHS = (1280, 390)
LANGUAGES = ("en", "vi")


def main(folder: Path, words: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    with browser.launched() as running, tempfile.TemporaryDirectory() as scratch:
        for text, (make, state) in TEXTS.items():
            opener, page = None, None
            for dark, width, language in itertools.product((False, True), WIDTHS, LANGUAGES):
                label = f"{text}-{{}}-{'dark' if dark else 'light'}-{width}-{language}"
                wanted = [one for one in browser.VIEWS if all(word in label.format(one) for word in words)]
                if not wanted:
                    continue
                page = page or make()
                opener = opener or browser.Opener(running, Path(scratch))
                shown = opener.page_of(page, words=state, dark=dark, width=width, language=language)
                for one in browser.each_view(shown):
                    if one in wanted:
                        name = f"{label.format(one)}.png"
                        shown.screenshot(path=folder / name, full_page=True)
                        names.append(name)
                        print(name, file=sys.stderr)
            if opener is not None:
                opener.close()
    figures = [
        f'<figure><img src="{name}" loading="lazy"><figcaption>{html.escape(name)}</figcaption></figure>'
        for name in names
    ]
    title = f"Eyeline {eyeline.__version__}: every view"
    style = "<style>body { font: 14px sans-serif } figure { display: inline-block } img { max-width: 600px }</style>"
    page_ = f"<!doctype html><meta charset=utf-8><title>{title}</title>{style}\n" + "\n".join(figures)
    (folder / "index.html").write_text(page_, "utf-8")
    print(folder / "index.html")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"FOLDER must be given: {__doc__.splitlines()[0]}")
    main(Path(sys.argv[1]), sys.argv[2:])
