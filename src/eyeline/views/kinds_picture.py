"""The kinds of all heads in a terminal: a picture of layers × heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.ink import Ink
from eyeline.views.labels import layer_name
from eyeline.views.signs import SIGNS
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.text import Text


def sign_of(kind: str, ink: Ink) -> tuple[str, str]:
    """The sign of a kind of head, and its style."""
    sign = SIGNS[kind]
    return (sign.sign if ink.unicode else sign.plain), (sign.colour or "dim")


def kinds_picture(kinds: Sequence[Sequence[str]], ink: Ink) -> tuple[list[Text], int]:
    """A line for each layer, with the sign of each head's kind; and how many heads of a layer fit.

    Args:
        kinds: the kind of each head of each layer.
        ink: how to draw.
    """
    from rich.text import Text

    count = max(map(len, kinds), default=0)
    corner = worded("head")
    left = max(len(layer_name(len(kinds) - 1)), len(corner)) + 1
    room = ink.width - left - 2
    cell = 3 if 3 * count <= room else 2 if 2 * count <= room else 1
    fits = min(count, room // cell)
    step = 1 if cell == 3 else 5
    ticks = "".join(str(head).rjust(cell * (step if head else 1)) for head in range(0, fits, step))
    lines = [Text("  " + corner.ljust(left) + ticks, style="dim", no_wrap=True)]
    lines += list(_rows(kinds, left, cell, fits, ink))
    return lines, fits


def _rows(kinds: Sequence[Sequence[str]], left: int, cell: int, fits: int, ink: Ink) -> Iterator[Text]:
    from rich.text import Text

    for layer, row in enumerate(kinds):
        line = Text("  " + layer_name(layer).rjust(left - 1) + " ", no_wrap=True)
        for kind in row[:fits]:
            sign, style = sign_of(kind, ink)
            tile = sign * 2 if SIGNS[kind].fills else f"{sign} "
            line.append(" " * (cell == 3)).append(tile[:cell], style)
        yield line
