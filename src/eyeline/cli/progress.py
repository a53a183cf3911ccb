"""Progress on stderr: lines, and on a terminal bars that are erased at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

from eyeline.words import worded


def progress(line: str) -> None:
    """Print a line of progress on stderr."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def layers_shown(shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar of layers, if `shown` and stderr is a terminal.

    Yields a function to call after each layer, with the number of finished layers and of all layers.
    """
    with _bar(worded("layers"), shown) as move:
        yield lambda done, count: move(done, count, worded("{done} of {count} layers", done=done, count=count))


@contextmanager
def heads_shown() -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar of heads, if stderr is a terminal; yields a function as `layers_shown` does."""
    with _bar(worded("heads")) as move:
        yield lambda done, count: move(done, count, worded("{done} of {count} heads", done=done, count=count))


@contextmanager
def texts_shown(count: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of `count` texts, if stderr is a terminal.

    Yields a function to call with the number of finished texts.
    """
    with _bar(worded("texts")) as move:
        yield lambda done: move(done, count, worded("{done} of {count} texts", done=done, count=count))


@contextmanager
def _bar(begins: str, shown: bool = True) -> Iterator[Callable[[int, int, str], None]]:
    """Show a progress bar, if `shown` and stderr is a terminal; yields a function of (done, count, description)."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done, count, line: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(begins, total=None)

        def move(done: int, count: int, line: str) -> None:
            bar.update(task, completed=done, total=count, description=line, refresh=True)

        yield move


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show the current work: on a terminal until it is done, elsewhere as a line."""
    passing = sys.stderr.isatty()
    print(f"{what} ...", end="" if passing else "\n", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if passing:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class TextShown:
    """Shows a growing text on a line of the terminal, erased at the end; elsewhere shows nothing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._shown = False

    def __call__(self, more: str) -> None:
        self._text += more
        if sys.stderr.isatty():
            from eyeline.views.labels import tail

            self._shown = True
            line = tail(self._text, get_terminal_size().columns - 1)
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> TextShown:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
