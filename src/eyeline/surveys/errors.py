"""The error of a survey."""

from __future__ import annotations


class SurveyError(ValueError):
    """Raised for an invalid argument of a survey, or a folder that isn't one: one line with the mistake and the way
    out."""
