"""The error of a survey."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from eyeline.words import worded


class SurveyError(ValueError):
    """Raised for an invalid argument of a survey, or a folder that isn't one: one line with the mistake and the way
    out."""


def needed(package: str, what: str, extra: str = "survey") -> ModuleType:
    """Import a package that surveys need, which is an optional dependency.

    Args:
        package: the package's name, as it is imported.
        what: what needs it, as the sentence begins, in the current language: worded("a survey").
        extra: the extra of Eyeline that brings it.

    Raises:
        SurveyError: if it isn't installed.
    """
    try:
        return import_module(package)
    except ImportError:
        name = package.partition(".")[0]
        raise SurveyError(
            worded(
                "{what} needs {name}, which isn't installed; pip install 'eyeline[{extra}]'",
                what=what,
                name=name,
                extra=extra,
            )
        ) from None
