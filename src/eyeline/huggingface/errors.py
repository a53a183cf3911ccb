"""The error that this room raises, and the check that torch and transformers are installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version

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
                f"eyeline needs {package} to look into Hugging Face models, and it isn't installed; "
                f"pip install 'eyeline[hf]'"
            ) from None
        if package == "transformers" and found.split(".")[0] != _MAJOR:
            raise ImportError(
                f"transformers must be version {_MAJOR}, got {found}; pip install 'transformers>={_MAJOR},"
                f"<{int(_MAJOR) + 1}'"
            )


@cache
def _found(version: Callable[[str], str], package: str) -> str:
    """A package's version, read from its files once: that takes a millisecond."""
    return version(package)
