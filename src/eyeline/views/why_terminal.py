"""A split score in a terminal: signed bars from 0 in the middle, all on one scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eyeline.views import why_findings as findings
from eyeline.views.drawing import note, say
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt
from eyeline.views.provenance import provenance
from eyeline.views.why_findings import MOST, Bars, others_name, scale_end, signed

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.answers import Why

_NUMBER = 8  # cells of " -0.0123"
_LONGEST = 24  # the largest number of cells on one side of 0


def why(answer: Why, ink: Ink, *, top: int | None = None) -> Iterator[Text]:
    """Draw a split score as lines: what each source adds, at the query's token, at the key's, and pair by pair.

    Args:
        answer: the answer.
        ink: how to draw.
        top: the number of bars in a list.
    """
    from rich.text import Text

    before, inside, after = excerpt(answer.text, None, max(ink.width * 2 - 20, 40))
    yield say(ink.sentence(before + inside + after), ink)
    yield note(provenance(answer), ink, indent=0)
    yield Text()
    yield say(findings.title(answer, ink.words), ink)
    yield Text("\n".join(ink.wrapped(findings.score_line(answer), 0)))
    lists = findings.bars(answer, top or MOST, ink.words)
    end = scale_end(lists)
    for one in lists:
        yield Text()
        yield say(one.title, ink)
        yield from _list(one, end, lists, ink)
    yield Text()
    yield note(findings.basis(answer, end), ink, indent=0)
    yield Text()
    yield say(findings.found(answer, ink.words), ink)


def _list(one: Bars, end: float, lists: list[Bars], ink: Ink) -> Iterator[Text]:
    """A line for each bar, one for all others, and the axis; lists that are drawn together are aligned."""
    from rich.cells import cell_len
    from rich.text import Text

    names = [ink.own(name) for drawn in lists for name in drawn.names]
    left = min(max(map(cell_len, names), default=0), max(ink.width - _NUMBER - 14, 8))
    side = max(min((ink.width - left - _NUMBER - 6) // 2, _LONGEST), 3)
    rows = [(ink.own(name), value, "") for name, value in zip(one.names, one.values, strict=True)]
    if one.others is not None:
        rows.append((ink.own(others_name(one.others[0])), one.others[1], "dim"))
    for name, value, style in rows:
        line = Text("  ", no_wrap=True, overflow="crop").append(ink.fit(name, left), style)
        line.append(f"{ink.own(signed(value)):>{_NUMBER}}  ", style)
        drawn = _bar(abs(value) / end, side, value < 0, ink)
        line.append(drawn if value < 0 else " " * side, style or "yellow").append("│" if ink.unicode else "|", "dim")
        yield line.append("" if value < 0 else drawn, style or "cyan")
    stroke = "─" if ink.unicode else "-"
    low, high = f"-{end:g}", f"{end:g}"
    axis = low + " " + stroke * max(side - len(low) - 2, 0) + " "
    axis = axis[:side].ljust(side) + "0 " + stroke * max(side - len(high) - 2, 0) + " " + high
    yield Text(" " * (2 + left + _NUMBER + 2) + axis, style="dim", no_wrap=True, overflow="crop")


def _bar(share: float, cells: int, to_left: bool, ink: Ink) -> str:
    """A bar of `share` of the cells, to the nearest half of one; one to the left ends at the right."""
    halves = round(min(share, 1.0) * cells * 2)
    if not ink.unicode:
        drawn = "#" * ((halves + 1) // 2)
        return drawn.rjust(cells) if to_left else drawn
    if to_left:
        return ("▐" * (halves % 2) + "█" * (halves // 2)).rjust(cells)
    return "█" * (halves // 2) + "▌" * (halves % 2)
