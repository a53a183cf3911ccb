"""Errors that are the user's mistakes, as one line."""

from __future__ import annotations


def mistake(error: Exception) -> str | None:
    """The one-line message for a user's mistake; None if the error is a bug of ours."""
    from eyeline.answers import QuestionError
    from eyeline.kernels.machine import SettingError
    from eyeline.models import ModelError
    from eyeline.traces import TraceError
    from eyeline.views.figure import ExtraError
    from eyeline.views.labels import printable

    if isinstance(error, QuestionError):
        line = error.command_line
    elif isinstance(error, (ModelError, TraceError, ExtraError, SettingError)):
        line = str(error)
    elif isinstance(error, OSError):
        line = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
    elif callable(describe := getattr(error, "format_message", None)):
        line = str(describe())  # the option parser's message, whichever click typer uses
    else:
        return None
    return printable(line)
