"""Help in the language of texts. Commands have their help in English where they are written; it is translated here, as
it is shown, and ends with examples.
"""

from __future__ import annotations

import inspect
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from eyeline.cli.examples import EXAMPLES
from eyeline.words import translation, worded


def _titles() -> dict[str, str]:
    """The words that the option parser adds, by the names of rich_utils, of typer 0.16 and later."""
    return {
        "OPTIONS_PANEL_TITLE": worded("Options"),
        "ARGUMENTS_PANEL_TITLE": worded("Arguments"),
        "COMMANDS_PANEL_TITLE": worded("Commands"),
        "DEFAULT_STRING": "[" + worded("default: {value}", value="{}") + "]",
        "REQUIRED_LONG_STRING": "[" + worded("required") + "]",
    }


def _added() -> dict[str, str]:
    """The help of options that the option parser adds."""
    return {
        "Show this message and exit.": worded("Show this message and exit."),
        "Install completion for the current shell.": worded("Install completion for the current shell."),
        "Show completion for the current shell, to copy it or customize the installation.": worded(
            "Show completion for the current shell, to copy it or customize the installation."
        ),
    }


def translated(text: str | None) -> str | None:
    """A command's or an option's help in the current language; its English text is the catalogue's key."""
    if not text:
        return text
    plain = inspect.cleandoc(text)
    return _added().get(plain) or translation(plain)


def _show(command: Any, ctx: Any, formatter: Any, parent: Any) -> None:
    from typer import rich_utils

    for name, title in _titles().items():
        setattr(rich_utils, name, title)
    command.help = translated(command.help)
    for parameter in command.get_params(ctx):
        parameter.help = translated(getattr(parameter, "help", None))
    for sub in getattr(command, "commands", {}).values():
        sub.help, sub.short_help = translated(sub.help), translated(sub.short_help)
    parent.format_help(ctx, formatter)
    words = ctx.command_path.split()[1:]
    if there := EXAMPLES.get(" ".join(words)):
        # Plain lines, that can be copied: nothing breaks or colours them.
        typer.echo("\n".join([f" {worded('Examples')}", *(f"   {one}" for one in there), ""]))


class Command(TyperCommand):
    """A command, whose help is in the language of texts."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _show(self, ctx, formatter, super())

    def get_usage(self, ctx: Any) -> str:
        return usage(super().get_usage(ctx))


class Group(TyperGroup):
    """A command with commands of its own, whose help is in the language of texts."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _show(self, ctx, formatter, super())

    def get_usage(self, ctx: Any) -> str:
        return usage(super().get_usage(ctx))


def usage(line: str) -> str:
    """The line of usage, its first word translated."""
    return line.replace("Usage:", worded("Usage:"), 1)
