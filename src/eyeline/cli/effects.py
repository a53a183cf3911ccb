"""`eyeline effects`: what changes when each head is cut, and does it agree with where heads look?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.edits import Over, mean_over
from eyeline.cli.options import AsJson, ModelName, Nth, Text
from eyeline.cli.progress import heads_shown, progress
from eyeline.cli.results import check_results, draw, print_csv, print_json, save_document, save_png
from eyeline.cli.texts import text_or_stdin


class ByName(StrEnum):
    """What a head's output is replaced by."""

    zero = "zero"
    mean = "mean"
    uniform = "uniform"


def effects(
    text: Text,
    token: Annotated[
        str | None, typer.Option(help="Measure this word's last vector (an encoder).", show_default=False)
    ] = None,
    nth: Nth = None,
    next: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            help='Measure this next token, with its space: " Paris" (a decoder). Default: the likeliest.',
            show_default=False,
        ),
    ] = None,
    rather: Annotated[
        str | None, typer.Option(metavar="WORD", help="A rival: measure how far above it.", show_default=False)
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Measure the text's vector (an encoder); so without --token too.")
    ] = False,
    by: Annotated[ByName, typer.Option(help="What replaces a head's output.")] = ByName.zero,
    over: Over = None,
    edges: Annotated[int, typer.Option(metavar="N", help="Cut N looks of the heads that matter most.")] = 64,
    first_order: Annotated[
        bool, typer.Option("--first-order", help="Also each gate's slope (a decoder; needs torch and transformers).")
    ] = False,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORDS",
            help="Edit the run itself, to which each cut is added: 'gate L5H3'. Can be repeated; see docs/edits.md.",
            show_default=False,
        ),
    ] = None,
    special: Annotated[bool, typer.Option("--special", help="--token may be [CLS] or [SEP].")] = False,
    top: Annotated[
        int | None, typer.Option(metavar="N", help="List N heads and N looks. Default: 12.", show_default=False)
    ] = None,
    model: ModelName = "minilm",
    as_json: AsJson = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a line for each head and look as CSV, in UTF-8.")
    ] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw it to a PNG file.", show_default=False)
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write it as a page, without scripts.", show_default=False),
    ] = None,
) -> None:
    """Cut each head, and see what changes: what mattered, beside where it looked."""
    from eyeline.answers.question import positive
    from eyeline.edits import MeanOutput, parse
    from eyeline.views import attach
    from eyeline.views.drawing import Drawing
    from eyeline.views.effects_html import effects_page
    from eyeline.views.effects_terminal import effects as lines

    check_results(as_json, as_csv, png, html)
    top = positive("top", top)
    asked, means = text_or_stdin(text), None if over is None else mean_over(over, model)
    changes = [parse(words, means) for words in edit or ()]
    if by is not ByName.mean and any(isinstance(one, MeanOutput) for one in changes):
        means = None  # it is the edits'
    with heads_shown() as heads_done:
        answer = attach.effects(
            asked,
            model=model,
            token=token,
            nth=nth,
            next=next,
            rather=rather,
            embed=embed,
            by=by.value,
            over=means,
            edges=edges,
            first_order=first_order,
            edits=changes,
            special=special,
            progress=progress,
            heads_done=heads_done,
        )
    if png is not None:
        save_png(answer, png)
    if html is not None:
        save_document(effects_page(answer), html)
    if as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    else:
        draw(Drawing(lambda ink: lines(answer, ink, top=top)))
    if not answer.complete:
        raise typer.Exit(130)
