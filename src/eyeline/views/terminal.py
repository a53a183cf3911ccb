"""Explanations and comparisons in a terminal."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from eyeline.views.bars import MOST, Chart, bars, cosines
from eyeline.views.document import Comparison, Explanation, Run, Side
from eyeline.views.findings import (
    basis,
    changes,
    compared,
    found,
    hardest_title,
    heading,
    moved_means,
    set_aside_names,
    unchanged,
)
from eyeline.views.generated import explained, labelled, new_span, new_tokens
from eyeline.views.ink import Ink
from eyeline.views.labels import excerpt, head_name, percent, seen
from eyeline.views.matrix import matrix
from eyeline.views.scale import shade_ceiling
from eyeline.views.steps import steps
from eyeline.words import worded

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

_PLUS = " + is new."


class Drawing:
    """Something that rich can print in any terminal: `console.print(drawing)`.

    Args:
        lines: the lines of the drawing, given the terminal's ink.
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


def explanation(document: Explanation, ink: Ink, most: int = MOST) -> Iterator[Text]:
    """The lines of an explanation: the question, the picture, and what it says in one sentence.

    Args:
        document: the explanation.
        ink: how to draw.
        most: how many words a list of bars or steps holds at most.
    """
    question, units, runs = document["question"], document["units"], document["runs"]
    spans = [(units[index]["start"] or 0, units[index]["end"] or 0) for index in question["units"]]
    yield _title(document["text"], (spans[0][0], spans[-1][1]) if spans else new_span(document), "", ink)
    yield note(heading(document), ink, indent=0)
    if same := unchanged(document):
        yield note(same, ink, indent=0)
    yield say("", ink)
    if document["generated"] is not None:
        yield from new_tokens(document, document["generated"], ink)
        yield note(explained(document, document["generated"], ink.words), ink)
        yield say("", ink)
    if runs[0]["steps"] is not None:
        yield from steps(document, ink, most)
    elif question["token"] is None:
        yield from _pictures(document, ink)
    else:
        yield from _looked(document, question["token"], ink, most)


def _title(text: str, span: tuple[int, int] | None, name: str, ink: Ink) -> Text:
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


def _looked(document: Explanation, token: str, ink: Ink, most: int) -> Iterator[Text]:
    question, units, runs = document["question"], labelled(document), document["runs"]
    own, name = question["units"], ink.words(token)
    charts = [Chart(run["name"] if len(runs) > 1 else "", run["looks_at"] or []) for run in runs]
    yield say(f"{name} looks at", ink)
    lines, cut = bars(charts, units, own, ink, most)
    yield from lines
    signs = _PLUS if document["generated"] is not None else ""
    signs += " A bar that ends in » is longer than it is drawn." if cut else ""
    yield note(basis(document, name, ink.words) + signs, ink)
    yield say("", ink)
    yield say(found(document, ink.words), ink)
    if len(runs) > 1:
        yield say(changes(document, ink.words), ink)
    yield say("", ink)
    yield from _heads(runs, own, question["layer"], ink)
    yield say("", ink)
    yield say(f"How far {name} has moved from its own embedding", ink)
    names = ["cosine"] if len(runs) == 1 else [run["name"] for run in runs]
    yield from cosines([run["moved"] or [] for run in runs], names, ink)
    yield note(moved_means(), ink)


def _heads(runs: Sequence[Run], own: Sequence[int], layer: int, ink: Ink) -> Iterator[Text]:
    from rich.text import Text

    yield say(hardest_title(layer), ink)
    columns = [[(head, seen(head, own, ink.words)) for head in run["hardest_heads"] or []] for run in runs]
    cells = ink.widest([word for column in columns for _, word in column])
    blocks: list[list[Text]] = []
    for number, (run, column) in enumerate(zip(runs, columns, strict=True)):
        name = ink.fit(ink.own(run["name"]), cells + 16)
        block = [Text(f"  {name}", style="dim", no_wrap=True)] if len(runs) > 1 else []
        for head, word in column:
            line = Text(f"  {head_name(head['layer'], head['head']):<6} ", no_wrap=True).append(ink.own("→ "), "dim")
            line.append(ink.fit(word, cells), "cyan" if not number else "yellow")
            block.append(line.append(f"{percent(head['weight']):>5} "))
        blocks.append(block)
    yield from _beside(blocks, cells + 21, ink)
    yield note("of everything that the head gives, the tokens set aside included", ink)


def _beside(blocks: Sequence[Sequence[Text]], cells: int, ink: Ink) -> Iterator[Text]:
    """Blocks of lines side by side, `cells` cells each, or below each other where there is no room."""
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


def _pictures(document: Explanation, ink: Ink) -> Iterator[Text]:
    units, runs = labelled(document), document["runs"]
    shown = [units[index] for index in document["shown"]]
    heavy = [place for place, unit in enumerate(shown) if unit["set_aside"] or unit["start"] is None]
    ceiling, _ = shade_ceiling([run["matrix"]["shares"] for run in runs], heavy)
    fits = len(shown)
    for run in runs:
        yield say("Who looks at whom" + (f": {run['name']}" if len(runs) > 1 else ""), ink)
        lines, fits = matrix(run["matrix"]["shares"], shown, run["matrix"]["hidden"], ceiling, ink)
        yield from lines
        yield say("", ink)
    signs = _PLUS if document["generated"] is not None else ""
    yield note(f"{basis(document, '', ink.words)}{signs} {ink.shade_legend(ceiling)}", ink)
    if fits < len(shown):
        yield note(f"{fits} of {len(shown)} words fit here: a wider terminal, --png or --json shows all.", ink)
    yield say("", ink)
    yield say(found(document, ink.words), ink)
    if len(runs) > 1:
        yield say(changes(document, ink.words), ink)


def comparison(document: Comparison, ink: Ink, most: int = MOST) -> Iterator[Text]:
    """The lines of a comparison: the two texts, their cosines, and the words that are looked at in each."""
    question, sides = document["question"], document["sides"]
    for side in sides:
        spans = [
            (side["units"][index]["start"] or 0, side["units"][index]["end"] or 0) for index in side["token_units"]
        ]
        yield _title(side["text"], (spans[0][0], spans[-1][1]), f"{side['name']}  ", ink)
    yield note(heading(document), ink, indent=0)
    yield say("", ink)
    name = ink.words(question["token"])
    yield say(f"How alike {name} is in A and in B", ink)
    yield from cosines([document["cosines"]], ["cosine"], ink)
    yield note(worded("cosine of its two vectors, as embedding and after each layer: 1 is the same direction"), ink)
    yield say("", ink)
    yield say(f"{name} looks at", ink)
    yield from _sides(sides, ink, most)
    parts = [
        f"In {side['name']}, {set_aside_names(side['units'], ink.words)} took {percent(side['set_aside'])}."
        for side in sides
        if side["set_aside"]
    ]
    yield note(
        " ".join(
            ["Bars are shares of what it gives to the words.", *parts]
            if parts
            else ["Bars are shares of all that it gives."]
        ),
        ink,
    )
    yield say("", ink)
    for line in compared(document, ink.words):
        yield say(line, ink)


def _sides(sides: Sequence[Side], ink: Ink, most: int) -> Iterator[Text]:
    together = ink.width >= 70
    cells = (ink.width - 2) // 2
    blocks = []
    for side in sides:
        half = Ink(ink.encoding, cells) if together else ink
        charts = [Chart(f"in {side['name']}", side["looks_at"])]
        lines, _ = bars(charts, side["units"], side["token_units"], half, most)
        blocks.append(lines)
    yield from _beside(blocks, cells + 2 if together else ink.width, ink)
