"""The errors of traces."""

from __future__ import annotations


class TraceError(ValueError):
    """Raised if a trace can't be made, saved or loaded, or has no such part: one line that says what to do."""


class Cancelled(Exception):  # noqa: N818  (not an error: the caller requested it)
    """Raised when a recording stops because `cancelled` returned True."""
