"""The outputs of commands: a drawing, JSON, CSV, a PNG file, or the page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eyeline import words
from eyeline.cli.progress import progress
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.console import RenderableType

    from eyeline.answers.answer import Answer
    from eyeline.views.page import Page


def check_results(
    as_json: bool, as_csv: bool = False, png: Path | None = None, html: Path | None = None, half: bool = False
) -> None:
    """Check the requested outputs before the model runs.

    Raises:
        QuestionError: if both JSON and CSV are requested, a picture or page has a wrong file name ending, or `half` is
            set without a page.
        ExtraError: if a picture is requested and matplotlib isn't installed.
    """
    from eyeline.answers import QuestionError

    if as_json and as_csv:
        raise QuestionError(worded("--json and --csv can't go together; choose one"))
    if png is not None:
        if png.suffix.lower() != ".png":
            raise QuestionError(worded("--png must be a file name that ends in .png, got {png!r}", png=str(png)))
        from eyeline.views.figure import figures

        figures("png")
    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise QuestionError(worded("--html must be a file name that ends in .html, got {html!r}", html=str(html)))
    if half and html is None:
        raise QuestionError(worded("--half must come with --html, whose numbers it keeps in float16"))


def save_png(answer: Answer, png: Path) -> None:
    """Draw an answer to a PNG file, and report it."""
    missing = answer.save_png(png)
    if missing:
        progress(
            worded("no font here has a picture of {signs}; install one, such as Noto Sans CJK", signs=" ".join(missing))
        )
    progress(worded("wrote {file}", file=png))


def chosen_language() -> dict[str, str]:
    """The part of the page's state with the chosen language; empty if none was chosen, for the reader's own."""
    chosen = words.chosen()
    return {} if chosen is None else {"language": chosen}


def save_document(text: str, html: Path) -> None:
    """Write an HTML text to a file, completely or not at all, and report it."""
    from eyeline.caches import whole

    with whole(html) as beside:
        beside.write_text(text, "utf-8")
    progress(worded("wrote {file}", file=html))


def save_html(page: Page, html: Path, half: bool, keep: Sequence[str] = ()) -> None:
    """Write a page to one file, and report it."""
    page.state |= chosen_language()
    page.save(html, half=half, keep=keep)
    progress(worded("wrote {file}", file=html))


def print_csv(answer: Answer) -> None:
    """Print the numbers as CSV, in UTF-8 whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(answer.to_csv().encode())


def print_json(answer: Answer) -> None:
    """Print the whole answer as JSON, in ASCII if stdout isn't UTF."""
    print(answer.json(ascii_only=not (sys.stdout.encoding or "").lower().startswith("utf")))


def draw(answer: RenderableType) -> None:
    """Draw a result in the terminal; its advice names options of the command."""
    from rich.console import Console

    from eyeline.views.advice import on_command_line

    with on_command_line():
        Console(highlight=False).print(answer)
