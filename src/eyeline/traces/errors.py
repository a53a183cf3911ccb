"""What can go wrong with a trace."""

from __future__ import annotations


class TraceError(ValueError):
    """A trace that can't be made, kept or read, or a part of one that isn't there: one line that says what to do."""


class Cancelled(Exception):  # noqa: N818  (it is no error: somebody asked for it)
    """A recording was given up, because `cancelled` said so."""
