"""`eyeline heads`: what every head of a model does with a text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.options import AsJson, ModelName
from eyeline.cli.progress import layers_shown, progress
from eyeline.cli.results import check_results, draw, print_csv, print_json, save_png
from eyeline.cli.texts import text_or_file

Text = Annotated[
    str,
    typer.Argument(metavar="TEXT|FILE", help="A text, in quotes, or a file of it; - reads stdin.", show_default=False),
]


class MeasureName(StrEnum):
    """The measures of a head."""

    entropy = "entropy"
    distance = "distance"
    previous = "previous"
    next = "next"
    same = "same"
    first = "first"
    special = "special"
    separator = "separator"
    punctuation = "punctuation"
    sink = "sink"
    induction = "induction"


class LabelName(StrEnum):
    """The kinds of heads, by short names."""

    induction = "induction"
    previous = "previous"
    next = "next"
    same = "same"
    punctuation = "punctuation"
    separator = "separator"
    sink = "sink"
    broad = "broad"
    mixed = "mixed"


def heads(
    text: Text,
    sort: Annotated[
        MeasureName | None, typer.Option(help="List all heads, those with most of this first.", show_default=False)
    ] = None,
    layer: Annotated[int | None, typer.Option(help="List the heads of this layer, from 0.", show_default=False)] = None,
    label: Annotated[LabelName | None, typer.Option(help="List the heads of this kind.", show_default=False)] = None,
    first: Annotated[
        int | None, typer.Option(metavar="N", help="Run only the first N tokens.", show_default=False)
    ] = None,
    model: ModelName = "minilm",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a line for each head as CSV, in UTF-8.")] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw every number to a PNG file.", show_default=False)
    ] = None,
) -> None:
    """Show what every head does: how broadly and how far it looks, at what, and a word for that."""
    from eyeline.answers.question import asked_model, where
    from eyeline.views import attach
    from eyeline.views.drawing import Drawing
    from eyeline.views.heads_terminal import heads as lines

    check_results(as_json, as_csv, png)
    whole = text_or_file(text)
    runs_on = asked_model(model, progress=progress)
    where(runs_on, layer, None)
    with layers_shown() as layer_done:
        answer = attach.heads(whole, first=first, model=runs_on, layer_done=layer_done)
    if png is not None:
        save_png(answer, png)
    if as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    else:
        draw(Drawing(lambda ink: lines(answer, ink, sort=sort, layer=layer, label=label)))
