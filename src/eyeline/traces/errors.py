"""The errors of traces, and of questions about them."""

from __future__ import annotations


class TraceError(ValueError):
    """Raised if a trace can't be made, saved or loaded, or has no such part: one line that says what to do."""


class Cancelled(Exception):  # noqa: N818  (not an error: the caller requested it)
    """Raised when a recording stops because `cancelled` returned True."""


class QuestionError(ValueError):
    """Raised for a question that can't be answered: one line with the mistake, the valid values and the way out.

    Args:
        message: the mistake.
        advice: the way out, in Python.
        command: the way out on the command line, if it is written differently.
    """

    def __init__(self, message: str, advice: str = "", command: str = "") -> None:
        super().__init__("; ".join(filter(None, (message, advice))))
        self.command_line = "; ".join(filter(None, (message, command or advice)))

    def about(self, subject: str) -> QuestionError:
        """The same error, with its subject at the beginning."""
        error = QuestionError(f"{subject}: {self}")
        error.command_line = f"{subject}: {self.command_line}"
        return error
