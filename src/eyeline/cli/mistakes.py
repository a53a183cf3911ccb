"""Errors that are the user's mistakes, as one line."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

from eyeline.cli.parsing import parsing_mistake
from eyeline.words import system_message, worded

#: The commands that take one text, and those that take two.
_TEXTS = {"explain": 1, "heads": 1, "effects": 1, "why": 1, "view": 1, "compare": 2}
#: An argument of `eyeline.survey` in an advice, such as again=True.
_ARGUMENT = re.compile(
    r"\b(address|again|block|classes|column|examples|on|out|overlap|strict|window|workers)=('[^']*'|\w+)"
)
_TWICE = re.compile(r"(--\w+(?: \S+)?) \(\1\)")
_NOT_IN_DOUBLE_QUOTES = re.compile(r'[$`"\\!]')


def mistake(error: Exception, given: Sequence[str] = ()) -> str | None:
    """The one-line message for a user's mistake; None if the error is a bug of ours.

    Args:
        error: the error.
        given: the arguments of the command line.
    """
    from eyeline.answers import QuestionError
    from eyeline.edits import EditError
    from eyeline.kernels.machine import SettingError
    from eyeline.models import ModelError
    from eyeline.surveys import SurveyError
    from eyeline.traces import TraceError
    from eyeline.views.figure import ExtraError
    from eyeline.views.labels import printable

    if isinstance(error, QuestionError):
        line = error.command_line
    elif isinstance(error, SurveyError):
        line = _with_options(str(error))
    elif isinstance(error, (EditError, ModelError, TraceError, ExtraError, SettingError)):
        line = str(error)
    elif isinstance(error, OSError):
        line = f"{error.filename}: {system_message(error)}" if error.filename and error.strerror else str(error)
    elif callable(getattr(error, "format_message", None)):  # the option parser's, whichever click typer uses
        line = _unquoted(error, given) or parsing_mistake(error, given)
    else:
        return None
    return printable(line)


def _with_options(message: str) -> str:
    """A survey's message, with options in place of Python's arguments.

    >>> _with_options("give again=True (--again) to start over, or column='review'")
    'give --again to start over, or --column review'
    """
    line = _ARGUMENT.sub(lambda found: f"--{found[1]}" + _value(found[2]), message)
    return _TWICE.sub(r"\1", line)


def _value(argument: str) -> str:
    return "" if argument == "True" else " " + quoted(argument.strip("'"))


def _unquoted(error: Any, given: Sequence[str]) -> str:
    """The message for a text that wasn't put in quotes, with the command as it was meant; empty for another mistake."""
    context: Any = getattr(error, "ctx", None)
    name = getattr(context, "info_name", None)
    if "unexpected extra argument" not in error.format_message() or name not in _TEXTS or name not in given:
        return ""
    words, options = _parted(given[given.index(name) + 1 :], context.command.params)
    if any(map(os.path.exists, words)):  # several files
        return ""
    kept = "".join(f" {option if option.startswith('-') else quoted(option)}" for option in options)
    if _TEXTS[name] > 1:
        return worded(
            "both texts must be in quotes, got {count} words without; put them in: {command}",
            count=len(words),
            command=f'eyeline {name} "{words[0]} ..." "... {words[-1]}"{kept}',
        )
    return worded(
        "text must be in quotes, got {count} words without; put it in: {command}",
        count=len(words),
        command=f"eyeline {name} {quoted(' '.join(words))}{kept}",
    )


def _parted(arguments: Sequence[str], parameters: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The words among a command's arguments, and its options with their values."""
    flags = {option for parameter in parameters if getattr(parameter, "is_flag", False) for option in parameter.opts}
    words: list[str] = []
    options: list[str] = []
    value_follows = False
    for argument in arguments:
        is_option = argument.startswith("-") and argument != "-"
        (options if is_option or value_follows else words).append(argument)
        value_follows = is_option and not value_follows and argument not in flags and "=" not in argument
    return words, options


def quoted(text: str) -> str:
    """A text in quotes for a shell, double ones if they are enough; a single word as it is.

    >>> quoted("time flies"), quoted("flies"), quoted('say "no"')
    ('"time flies"', 'flies', '\\'say "no"\\'')
    """
    plain = shlex.quote(text)
    return plain if plain == text or _NOT_IN_DOUBLE_QUOTES.search(text) else f'"{text}"'
