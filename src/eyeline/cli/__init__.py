"""The command line: one file per command, each a thin wrapper of the library. This room may import every other.

Results go to stdout, everything else to stderr. A user's mistake gives one line on stderr and exit code 2.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from eyeline import words
from eyeline.cli import (
    bench,
    compare,
    doctor,
    effects,
    embed,
    explain,
    heads,
    lesson,
    live,
    models,
    survey,
    toy,
    view,
    why,
)
from eyeline.cli.examples import first_look
from eyeline.cli.help import Command, Group
from eyeline.cli.mistakes import mistake

app = typer.Typer(
    cls=Group,
    help="Which tokens does a word look at, and why? Self-attention, explained for your own sentence.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("explain", cls=Command)(explain.explain)
app.command("compare", cls=Command)(compare.compare)
app.command("heads", cls=Command)(heads.heads)
app.command("effects", cls=Command)(effects.effects)
app.command("why", cls=Command)(why.why)
app.command("view", cls=Command)(view.view)
app.command("lesson", cls=Command)(lesson.lesson)
app.command("live", cls=Command)(live.live)
app.command("toy", cls=Command)(toy.toy)
app.command("survey", cls=Command)(survey.survey)
app.command("embed", cls=Command)(embed.embed)
app.add_typer(models.app, name="models")
app.add_typer(bench.app, name="bench")
app.command("doctor", cls=Command)(doctor.doctor)


def _version(asked: bool) -> None:
    if asked:
        from eyeline import __version__

        typer.echo(f"eyeline {__version__}")
        raise typer.Exit


def _lang(code: str | None) -> str | None:
    """Choose the language of all later output."""
    from eyeline.answers import QuestionError

    for name, value in (("--lang", code), (words.VARIABLE, os.environ.get(words.VARIABLE) or None)):
        if value is None:
            continue
        found = words.known(value)
        if found is None:
            there = ", ".join(f"{code} ({own})" for code, own in words.own_names().items())
            raise QuestionError(
                words.worded("{name} must be one of {there}, got {value!r}", name=name, there=there, value=value)
            )
        words.choose(found)
        break
    return code


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", callback=_lang, is_eager=True, help="The language of texts, such as vi.", show_default=False
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(first_look())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: the arguments after `eyeline`; by default those of this process.

    Returns:
        The exit code: 0; 1 if a pipe's reader closed it; 2 for a user's mistake; 130 if interrupted.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    warnings.showwarning = _warn
    _open_what_is_closed()
    try:
        code = app(given, prog_name="eyeline", standalone_mode=False) or 0
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        return _pipe_closed()
    except SystemExit as leaving:  # raised by rich and the option parser when a pipe is closed
        return leaving.code if isinstance(leaving.code, int) else 1
    except Exception as error:
        line = mistake(error, given)
        if line is None:
            raise
        print(f"eyeline: {line}", file=sys.stderr)
        return 2
    finally:
        words.choose(None)
    return int(code)


def _open_what_is_closed() -> None:
    """Python has None in place of a stream that was closed before the start (`eyeline … >&-`): write to nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning's message, without the line of code that raised it."""
    print(f"eyeline: {message}", file=sys.stderr)


def _pipe_closed() -> int:
    """Handle a pipe closed by its reader, as by `| head`: print nothing, and write nothing more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
