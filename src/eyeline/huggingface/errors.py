"""The error that this room raises, and the check that torch and transformers are installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from eyeline.words import worded

_MAJOR = "5"


class HuggingFaceError(ValueError):
    """Raised if a model can't be attached, watched or recorded: one line that says why, and what to do."""


def check_installed() -> None:
    """Check that torch and transformers 5 are installed.

    Raises:
        ImportError: if they aren't.
    """
    for package in ("torch", "transformers"):
        try:
            found = _found(version, package)
        except PackageNotFoundError:
            raise ImportError(
                worded(
                    "eyeline needs {package} to look into Hugging Face models, and it isn't installed; pip "
                    "install 'eyeline[hf]'",
                    package=package,
                )
            ) from None
        if package == "transformers" and found.split(".")[0] != _MAJOR:
            raise ImportError(
                worded(
                    "transformers must be version {oldest}, got {found}; pip install 'transformers>={oldest},<{next}'",
                    oldest=_MAJOR,
                    found=found,
                    next=int(_MAJOR) + 1,
                )
            )


@cache
def _found(version: Callable[[str], str], package: str) -> str:
    """A package's version, read from its files once: that takes a millisecond."""
    return version(package)
