"""`eyeline doctor`: the versions, kernels, caches, extras and models of this machine."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer

_PACKAGES = (
    *("eyeline", "numpy", "numba", "llvmlite", "tokenizers", "safetensors", "gguf", "typer", "rich", "platformdirs"),
)
_EXTRAS = {
    "matplotlib": "not installed; --png needs it: pip install 'eyeline[figures]'",
    "torch": "not installed; nothing needs it",
    "transformers": "not installed; nothing needs it",
}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Say what this machine has and what would be used: versions, kernels, caches, extras, models."""
    found = report()
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    width = max(len(name) for rows in found.values() for name in rows)
    for title, rows in found.items():
        typer.echo(title)
        for name, value in rows.items():
            typer.echo(f"  {name:{width}}  {value}")


def report() -> dict[str, dict[str, str]]:
    """The report that `doctor` prints, by section and name. Packages are looked up, not loaded."""
    from eyeline import kernels
    from eyeline.models.catalogue import CATALOGUE, models_folder
    from eyeline.models.copies import describe

    python = f"{platform.python_version()} ({platform.python_implementation()} on {platform.platform()})"
    return {
        "versions": {"python": python} | {name: _version(name) or "missing" for name in _PACKAGES},
        "kernels": kernels.report(),
        "caches": {"models": str(models_folder())},
        "extras": {name: _version(name) or without for name, without in _EXTRAS.items()},
        "models": {entry.name: describe(entry) for entry in CATALOGUE.values()},
    }


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
