"""`eyeline why`: why a head looked from one token at another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.edits import Over, edits_of
from eyeline.cli.options import AsJson, Layer, ModelName, Nth, Text
from eyeline.cli.progress import layers_shown, progress
from eyeline.cli.results import check_results, draw, print_csv, print_json, save_png
from eyeline.cli.texts import text_or_stdin


def why(
    text: Text,
    token: Annotated[str, typer.Option(help="The word that looks, a piece of one, or #3.", show_default=False)],
    key: Annotated[
        str | None,
        typer.Option(help="What it looks at, likewise. Default: what gets most weight.", show_default=False),
    ] = None,
    layer: Layer = None,
    head: Annotated[
        int | None, typer.Option(help="Head, from 0. Default: the hardest looking.", show_default=False)
    ] = None,
    nth: Nth = None,
    key_nth: Annotated[
        int | None, typer.Option(help="Which one, where the key is there twice.", show_default=False)
    ] = None,
    by_layer: Annotated[
        bool, typer.Option("--by-layer", help="Take each layer's heads together, and its biases.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw N bars in each list, the largest. Default: 8.", show_default=False),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS", help="Split the run with this edit, such as 'gate L2H3'. Repeatable.", show_default=False
        ),
    ] = None,
    over: Over = None,
    model: ModelName = "minilm",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a line for each term as CSV, in UTF-8.")] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw the table to a PNG file.", show_default=False)
    ] = None,
) -> None:
    """Show why a head looks from one token at another: what its score is made of."""
    from eyeline.answers.question import asked_model, positive, read_text, where
    from eyeline.traces import Keep, record_text
    from eyeline.views import attach
    from eyeline.views.drawing import Drawing
    from eyeline.views.why_terminal import why as lines

    check_results(as_json, as_csv, png)
    positive("top", top)
    asked = text_or_stdin(text)
    runs_on = asked_model(model, progress=progress)
    where(runs_on, layer, head)
    read, edits = read_text(runs_on, asked), edits_of(edit, over, runs_on)
    with layers_shown() as layer_done:
        trace = record_text(runs_on, read, keep=Keep(), edits=edits, layer_done=layer_done)
    answer = attach.why(trace, layer, head, token, key, nth=nth, key_nth=key_nth)
    if by_layer:
        answer = answer.grouped()
    if png is not None:
        save_png(answer, png)
    if as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    else:
        draw(Drawing(lambda ink: lines(answer, ink, top=top)))
