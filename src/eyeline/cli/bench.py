"""`eyeline bench`: how fast attention is on this machine; `eyeline bench growth`: how its cost grows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.help import Command, Group
from eyeline.cli.progress import busy, progress
from eyeline.words import translation, worded

app = typer.Typer(
    cls=Group,
    help="Measure attention on this machine, in a model and alone, beside torch if it is installed. Ctrl-C stops.",
    invoke_without_command=True,
)

Longest = Annotated[int, typer.Option(help="The most tokens. The fewest are 256; then twice as many, and so on.")]


@app.callback()
def bench(context: typer.Context) -> None:
    """Measure attention on this machine, beside torch if it is installed. Ctrl-C stops.

    In a model: at once after the matrix product that precedes attention in a model, in the same library's threads.
    Alone: while the threads of other libraries sleep.
    """
    if context.invoked_subcommand is not None:
        return
    from eyeline.bench.short import TASKS, measured, surroundings
    from eyeline.views.ink import Ink
    from eyeline.views.speed import heading, row

    ink = Ink(sys.stdout.encoding or "ascii", 100)
    here = surroundings()
    print(*heading(here, ink), sep="\n", flush=True)
    for number, task in enumerate(TASKS, 1):
        with busy(
            worded(
                "measuring {name}, {number} of {count}", name=translation(task.name), number=number, count=len(TASKS)
            )
        ):
            found = measured(task, here)
        print(row(found, ink), flush=True)


@app.command(cls=Command)
def growth(
    longest: Longest = 8192,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw it to a PNG file.", show_default=False)
    ] = None,
) -> None:
    """Draw how the cost of attention grows with the number of tokens, and that of an RNN of the same width.

    The times are kept, and shown by pages that are made from then on (the tab Cost).
    """
    from rich.console import Console

    from eyeline.answers import QuestionError
    from eyeline.bench.growth import HEAD_DIM, HEADS, LONGEST, SHORTEST, grow, lengths
    from eyeline.bench.growth import growth as measured
    from eyeline.kernels.threads import get_threads
    from eyeline.views.drawing import Drawing
    from eyeline.views.figure import figures
    from eyeline.views.growth_curves import growth as drawn
    from eyeline.views.growth_curves import save_growth
    from eyeline.views.kept_growth import keep

    if not 2 * SHORTEST <= longest <= LONGEST:
        raise QuestionError(
            worded(
                "--longest must be from {shortest} to {LONGEST} tokens, got {longest}",
                shortest=2 * SHORTEST,
                LONGEST=LONGEST,
                longest=longest,
            )
        )
    if figure is not None:
        if figure.suffix.lower() != ".png":
            raise QuestionError(
                worded("--figure must be a file name that ends in .png, got {figure!r}", figure=str(figure))
            )
        if not figure.absolute().parent.is_dir():
            raise QuestionError(worded("--figure must be in a folder that exists, got {figure!r}", figure=str(figure)))
        figures("--figure")  # report a missing package before measuring, not after
    counts = lengths(longest)
    pairs = []
    costs = grow(counts)
    for tokens in counts:
        with busy(worded("measuring {count} tokens", count=tokens)):
            pairs.append(next(costs))
    found = measured(pairs)
    keep(found, threads=get_threads(), heads=HEADS, head_dim=HEAD_DIM)
    progress(worded("kept: the tab Cost of pages made from now on shows these times"))
    if figure is not None:
        save_growth(found, figure)
        progress(worded("wrote {file}", file=figure))
    Console(highlight=False).print(Drawing(lambda ink: drawn(found, ink)))
