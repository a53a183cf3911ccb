"""Drawings in a terminal, made of lines."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text


class Drawing:
    """A drawing that rich prints in any terminal: `console.print(drawing)`.

    Args:
        lines: returns the lines of the drawing for a terminal's ink.
    """

    def __init__(self, lines: Callable[[Ink], Iterable[Text]]) -> None:
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        ink = Ink(options.encoding, options.max_width)
        for lines in self.lines(ink):
            for line in lines.wrap(console, options.max_width):
                line.rstrip()
                yield line

    def plain(self, width: int = 80) -> str:
        """The drawing as text without colours."""
        from rich.console import Console

        paper = io.StringIO()
        console = Console(file=paper, width=width, color_system=None, force_terminal=False, force_jupyter=False)
        console.print(self)
        return paper.getvalue().rstrip("\n")


def title(text: str, span: tuple[int, int] | None, name: str, ink: Ink) -> Text:
    from rich.text import Text

    before, inside, after = excerpt(text, span, max(ink.width * 2 - 20, 40))
    line = Text(name).append(ink.sentence(before))
    return line.append(ink.sentence(inside), "bold cyan" if span else "bold").append(ink.sentence(after))


def note(text: str, ink: Ink, indent: int = 2) -> Text:
    """A dim, indented note of ours."""
    from rich.text import Text

    return Text("\n".join(ink.wrapped(text, indent)), style="dim")


def say(text: str, ink: Ink) -> Text:
    """A bold line of ours."""
    from rich.text import Text

    return Text("\n".join(ink.wrapped(text, 0)), style="bold")


def beside(blocks: Sequence[Sequence[Text]], cells: int, ink: Ink) -> Iterator[Text]:
    """Place blocks of lines side by side, `cells` cells each, or below each other where there is no room."""
    from rich.text import Text

    if cells * len(blocks) > ink.width + 2:
        yield from itertools.chain(*blocks)
        return
    for parts in itertools.zip_longest(*blocks):
        line = Text(no_wrap=True)
        for place, part in enumerate(parts):
            line.pad_right(cells * place - line.cell_len)
            line.append_text(part or Text())
        yield line
