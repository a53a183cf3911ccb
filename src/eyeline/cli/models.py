"""`eyeline models`: which models are known, which are here, and fetching one."""

from __future__ import annotations

from typing import Annotated

import typer

from eyeline.cli.help import Command, Group
from eyeline.words import translation, worded

app = typer.Typer(cls=Group, help="List the models that are known by name, or fetch one.", invoke_without_command=True)


@app.callback()
def models(context: typer.Context) -> None:
    """List the models that are known by name: what each is, whether it is here, and from where."""
    if context.invoked_subcommand is not None:
        return
    from eyeline.models.catalogue import CATALOGUE
    from eyeline.models.copies import describe

    for entry in CATALOGUE.values():
        typer.echo(f"{entry.name}: {translation(entry.summary)} ({translation(entry.license)})\n    {describe(entry)}")
    typer.echo(worded("The path of a folder with config.json, model.safetensors and tokenizer.json is a model too."))


@app.command(cls=Command)
def get(name: Annotated[str, typer.Argument(help="A name that `eyeline models` lists.", show_default=False)]) -> None:
    """Fetch a model into the cache, unless a whole copy of it is here."""
    from eyeline.models.fetching import get as fetch

    typer.echo(fetch(name, lambda line: typer.echo(line, err=True)))
