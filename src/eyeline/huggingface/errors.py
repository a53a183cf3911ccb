"""What can be wrong with the user's installation or model, in one line that says what to do."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

_MAJOR = "5"


class HuggingFaceError(ValueError):
    """A model that can't be attached or watched: one line that says what was wrong, with what, and what to do."""


def check_installed() -> None:
    """
    Raises:
        ImportError: unless torch and transformers 5 are here.
    """
    for package in ("torch", "transformers"):
        try:
            found = version(package)
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
