"""The error of edits."""

from __future__ import annotations


class EditError(ValueError):
    """Raised for an edit that doesn't fit its call or its model; the message says what to do."""
