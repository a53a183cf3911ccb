"""A survey in a terminal: its size, the kinds of its heads as a picture and as bars, and its most extreme heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.advice import ask, asks_for_options
from eyeline.views.drawing import note, say
from eyeline.views.ink import Ink
from eyeline.views.kinds_picture import kinds_picture, sign_of
from eyeline.views.survey_findings import (
    Row,
    counted_kinds,
    extremes,
    lost,
    names,
    provenance,
    rule,
    size,
    skipped,
    unfinished,
)
from eyeline.words import local_number, worded

if TYPE_CHECKING:
    from rich.text import Text

    from eyeline.surveys.loading import Survey

_BAR = 16  # cells of the longest bar
_GAP = 2


def survey(answer: Survey, ink: Ink) -> Iterator[Text]:
    """Draw a survey as lines."""
    yield say(size(answer), ink)
    yield note(provenance(answer), ink, indent=0)
    if not answer.tabled:
        yield say(unfinished(answer), ink)
        yield note(
            worded("The same survey goes on where it was; .so_far() has what there is.")
            if not asks_for_options()
            else worded("The same command goes on where it was."),
            ink,
            indent=0,
        )
        return
    if not answer.complete:
        yield say(unfinished(answer), ink)
    rows = answer.rows()
    H = answer.model.heads
    kinds = [[row["kind"] for row in rows[first : first + H]] for first in range(0, len(rows), H)]
    lines, fits = kinds_picture(kinds, ink)
    yield say("", ink)
    yield from lines
    if fits < H:
        yield note(
            worded("{fits} of {count} heads fit here: a wider terminal or the page shows all.", fits=fits, count=H), ink
        )
    yield say("", ink)
    yield from _kinds(answer, rows, ink)
    yield say("", ink)
    yield from _extremes(rows, ink)
    for line in (skipped(answer), lost(answer)):
        if line:
            yield note(line, ink, indent=0)
    if answer.info["counts"]["tokens"]:
        yield note(_means(answer), ink, indent=0)
    yield note(
        worded("eyeline view {folder} shows it; {csv} and {json} give every number.", **_asked(answer))
        if asks_for_options()
        else worded(".heads(), .tokens(), .examples() and .documents() are tables; eyeline view {folder} shows it.",
                    folder=answer.folder),
        ink,
        indent=0,
    )  # fmt: skip


def _means(answer: Survey) -> str:
    return worded(
        "Means over all {count} counted tokens, special ones included; ± the standard deviation over documents. "
        "Clearest first; a kind is the first whose rule a head meets.",
        count=local_number(answer.info["counts"]["tokens"]),
    )


def _asked(answer: Survey) -> dict[str, str]:
    return {"folder": answer.folder, "csv": ask("csv"), "json": ask("json")}


def _kinds(answer: Survey, rows: Sequence[Row], ink: Ink) -> Iterator[Text]:
    """A bar for each kind, on a scale from 0 to all heads; the clearest heads of it, as many as fit."""
    from rich.cells import cell_len
    from rich.text import Text

    kinds = counted_kinds(answer, rows)
    wide = max(cell_len(ink.own(name)) for _, name, *_ in kinds)
    digits = len(str(len(rows)))
    for label, name, count, clearest, kind in kinds:
        sign, style = sign_of(label, ink)
        line = Text("  ", no_wrap=True, overflow="crop").append(sign, style)
        line.append(" " + ink.fit(ink.own(name), wide) + " ", "" if count else "dim")
        line.append(ink.fit(ink.bar(count, max(len(rows), 1), _BAR), _BAR), style).append(f" {count:>{digits}}")
        room = ink.width - line.cell_len - _GAP
        line.append(" " * _GAP).append(ink.own(_fitting(names(clearest, kind["measure"]), room)) if kind else "")
        if kind and not clearest:
            line.append(ink.own(rule(kind)), "dim")
        line.rstrip()
        yield line
    axis = f"{ink.axis(str(len(rows)), _BAR)} {ink.own(worded('heads'))}"
    yield Text(" " * (5 + wide) + axis, style="dim", no_wrap=True, overflow="crop")


def _fitting(heads: Sequence[str], room: int) -> str:
    """As many heads as fit in a number of cells."""
    while heads and len(", ".join(heads)) > room:
        heads = heads[:-1]
    return ", ".join(heads)


def _extremes(rows: Sequence[Row], ink: Ink) -> Iterator[Text]:
    from rich.cells import cell_len
    from rich.text import Text

    ends = extremes(rows)
    wide = max((cell_len(ink.own(title)) for title, _ in ends), default=0)
    for title, heads in ends:
        yield Text("  " + ink.fit(ink.own(title), wide), no_wrap=True).append(" " * _GAP + ink.own(heads))
    if not ends:
        yield note(worded("Nothing was measured: there was no document with text."), ink)
