"""The one error of this room."""

from __future__ import annotations


class ModelError(ValueError):
    """A mistake with a model: one line that says what was wrong, with what, and what to do."""
