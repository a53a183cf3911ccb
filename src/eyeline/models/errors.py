"""The one error of this room."""

from __future__ import annotations


class ModelError(ValueError):
    """A mistake with a model, in one line: the argument or file, the fault, and the way out."""
