"""`eyeline doctor`: the versions, kernels, caches, extras and models of this machine."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer

from eyeline.words import worded

_PACKAGES = (
    *("eyeline", "numpy", "numba", "llvmlite", "tokenizers", "safetensors", "gguf", "typer", "rich", "platformdirs"),
)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Say what this machine has and what would be used: versions, kernels, caches, extras, models."""
    found = report()
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    labels = _labels()
    width = max(len(labels.get(name, name)) for rows in found.values() for name in rows)
    for title, rows in found.items():
        typer.echo(labels[title])
        for name, value in rows.items():
            typer.echo(f"  {labels.get(name, name):{width}}  {value}")


def _labels() -> dict[str, str]:
    """The titles and names of the report in the current language; those of packages and models are names."""
    return {
        "versions": worded("versions"),
        "kernels": worded("kernels"),
        "caches": worded("caches"),
        "extras": worded("extras"),
        "models": worded("models"),
        "vector width": worded("vector width"),
        "threads": worded("threads"),
        "team of threads": worded("team of threads"),
        "kernel cache": worded("kernel cache"),
        "kernels compiled": worded("kernels compiled"),
    }


def report() -> dict[str, dict[str, str]]:
    """The report that `doctor` prints, by section and name, which are English here. Packages are looked up, not
    loaded."""
    from eyeline import kernels
    from eyeline.models.catalogue import CATALOGUE, models_folder
    from eyeline.models.copies import describe

    python = worded(
        "{version} ({implementation} on {platform})",
        version=platform.python_version(),
        implementation=platform.python_implementation(),
        platform=platform.platform(),
    )
    extras = {
        "matplotlib": worded("not installed; --png needs it: pip install 'eyeline[figures]'"),
        "torch": worded("not installed; nothing needs it"),
        "transformers": worded("not installed; nothing needs it"),
    }
    return {
        "versions": {"python": python} | {name: _version(name) or worded("missing") for name in _PACKAGES},
        "kernels": kernels.report(),
        "caches": {"models": str(models_folder())},
        "extras": {name: _version(name) or without for name, without in extras.items()},
        "models": {entry.name: describe(entry) for entry in CATALOGUE.values()},
    }


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
