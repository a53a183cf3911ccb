"""`eyeline heads`: what every head of a model does with a text."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from eyeline.cli.explain import AsJson, ModelName, written
from eyeline.cli.results import check_results, draw, layers_shown, progress, save_png, say_csv, say_json

Text = Annotated[
    str,
    typer.Argument(metavar="TEXT|FILE", help="A text, in quotes, or a file of it; - reads stdin.", show_default=False),
]
_LOOKS_LIKE_A_FILE = re.compile(r"(?i).*\.(txt|text|md|rst|csv|log)|\S*[/\\]\S*")


class MeasureName(StrEnum):
    """Numbers of a head, by name."""

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
    """Kinds of heads, by their short names."""

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
    layer: Annotated[
        int | None, typer.Option(help="List the heads of this layer, counted from 1.", show_default=False)
    ] = None,
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
    from eyeline.answers.question import asked_model, where
    from eyeline.views.heads import heads as drawn
    from eyeline.views.terminal import Drawing

    check_results(as_json, as_csv, png)
    whole = text_or_file(text)
    ready = asked_model(model, progress=progress)
    where(ready, layer, None)
    with layers_shown(ready.layers) as layer_done:
        found = ask(whole, first=first, model=ready, layer_done=layer_done)
    document: Any = found.document()
    if png is not None:
        save_png(found, png)
    if as_json:
        say_json(found)
    elif as_csv:
        say_csv(found)
    else:
        draw(Drawing(lambda ink: drawn(document, ink, sort=sort, layer=layer, label=label)))


def text_or_file(given: str) -> str:
    """The text itself; that of the file, if it is the path of one; or what stdin holds, if it is -.

    Raises:
        QuestionError: if it looks like the path of a file that isn't there, or the file isn't UTF-8 text.
        OSError: if the file can't be read.
    """
    from eyeline.answers import QuestionError

    if os.path.isfile(given):
        try:
            return Path(given).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            byte = f"{error.object[error.start]:#04x} at {error.start}"
            raise QuestionError(f"{given} must be UTF-8 text, got byte {byte}") from None
    if os.path.isdir(given):
        raise QuestionError(f"text must be a sentence or a file, got the folder {given}")
    if _LOOKS_LIKE_A_FILE.fullmatch(given):
        raise QuestionError(
            f"text must be a sentence or a file that exists, got {given!r}, where there is no file; check the path, or "
            "give what is meant as a sentence through stdin: echo ... | eyeline heads -"
        )
    return written(given)
