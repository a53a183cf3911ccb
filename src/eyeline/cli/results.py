"""How commands give their results: drawn, or as JSON, CSV or a PNG file; and how they say what goes on meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from eyeline.answers import Answer
    from eyeline.views.page import Page


def progress(line: str) -> None:
    """Say what is going on, where it can't mix with results."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def layers_shown(count: int) -> Iterator[Callable[[int, int], None]]:
    """Says which layer is running, on a terminal, for as long as it takes."""
    shown = sys.stderr.isatty()

    def say(done: int, layers: int) -> None:
        if shown:
            print(f"\rlayer {min(done + 1, layers)} of {layers} ", end="", file=sys.stderr, flush=True)

    say(0, count)
    try:
        yield say
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def check_results(as_json: bool, as_csv: bool, png: Path | None, html: Path | None = None, half: bool = False) -> None:
    """Refuse, before anything is run, what can't be given.

    Raises:
        QuestionError: if both JSON and CSV are asked for, or a picture or a page under a name that isn't one's, or half
            a page of none.
        ExtraError: if a picture is asked for and matplotlib isn't installed.
    """
    import eyeline.views.attach  # noqa: F401  (answers then print themselves)
    from eyeline.answers import QuestionError

    if as_json and as_csv:
        raise QuestionError("--json and --csv can't go together; choose one")
    if png is not None:
        if png.suffix.lower() != ".png":
            raise QuestionError(f"--png must be a file name that ends in .png, got {str(png)!r}")
        from eyeline.views.figure import figures

        figures("png")
    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise QuestionError(f"--html must be a file name that ends in .html, got {str(html)!r}")
    if half and html is None:
        raise QuestionError("--half must come with --html, whose numbers it keeps in float16")


def save_png(found: Answer, png: Path) -> None:
    """Draw to a PNG file, and say so."""
    missing = found.save_png(png)
    if missing:
        progress(f"no font here has a picture of {' '.join(missing)}; install one, such as Noto Sans CJK")
    progress(f"wrote {png}")


def save_html(page: Page, html: Path, half: bool) -> None:
    """Write a page to one file, and say so."""
    page.save(html, half=half)
    progress(f"wrote {html}")


def say_csv(found: Answer) -> None:
    """Print the numbers as CSV, in UTF-8 whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(found.to_csv().encode())


def say_json(found: Answer) -> None:
    """Print all the numbers as JSON, in ASCII where stdout has nothing more."""
    print(found.json(ascii_only=not (sys.stdout.encoding or "").lower().startswith("utf")))


def draw(found: RenderableType) -> None:
    """Print what was found as the terminal can show it."""
    from rich.console import Console

    Console(highlight=False).print(found)
