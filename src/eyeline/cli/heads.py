"""`eyeline heads`: what every head of a model does with a text."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.options import AsJson, ModelName
from eyeline.cli.progress import layers_shown, progress
from eyeline.cli.results import check_results, draw, save_png, say_csv, say_json
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
    from eyeline.answers import heads as ask
    from eyeline.answers.question import loaded, where
    from eyeline.views.heads import heads as drawn
    from eyeline.views.terminal import Drawing

    check_results(as_json, as_csv, png)
    whole = text_or_file(text)
    ready = loaded(model, progress)
    where(ready, layer, None)
    with layers_shown() as layer_done:
        found = ask(whole, first=first, model=ready, layer_done=layer_done)
    if png is not None:
        save_png(found, png)
    if as_json:
        say_json(found)
    elif as_csv:
        say_csv(found)
    else:
        draw(Drawing(lambda ink: drawn(found.document, ink, sort=sort, layer=layer, label=label)))
