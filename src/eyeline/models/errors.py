"""The error class of this room."""

from __future__ import annotations


class ModelError(ValueError):
    """A problem with a model, in one line: the argument or file, the problem, and what to do."""
