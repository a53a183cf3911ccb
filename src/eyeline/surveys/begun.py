"""survey.json of a survey that begins, and what tells two surveys apart."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from eyeline.answers.behaviour.induction import DRAWS
from eyeline.kernels.machine import target
from eyeline.kernels.threads import get_threads
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.readers import SurveyModel
from eyeline.surveys.scales import TYPES
from eyeline.surveys.settings import Settings
from eyeline.surveys.table_files import FORMAT, scales
from eyeline.version import VERSION
from eyeline.words import worded

#: Packages that decide figures, or the bytes of files; only those that are loaded are recorded.
_PACKAGES = ("numpy", "tokenizers", "pyarrow", "torch", "transformers", "ray")
_COUNTED = ("documents", "tokens", "text_tokens", "windows", "workers_lost")
#: Of survey.json's "model", where it came from: the sha256 of its weights says what it is.
_ORIGINS = ("source", "name")


def begun(model: SurveyModel, corpus: Mapping[str, Any], settings: Settings, induction: Any) -> dict[str, Any]:
    """survey.json of a survey that begins.

    Args:
        model: the model.
        corpus: what is said of the corpus.
        settings: the settings.
        induction: the model's own measure, as `SurveyModel.induction` gives it.
    """
    return {
        "format": FORMAT,
        "eyeline": VERSION,
        "model": model.info,
        "corpus": corpus,
        "settings": settings.as_json(),
        "scales": scales(TYPES),
        "machine": {"processor": _processor(), "vector_bits": target().bits, "threads": get_threads()},
        "versions": {"python": platform.python_version(), **_versions()},
        "counts": {"blocks": None, "blocks_done": 0, **dict.fromkeys(_COUNTED, 0)},
        "skipped": {"counts": {}, "first": []},
        "induction": induction
        and {"length": induction[0], "draws": DRAWS, "scores": [row.tolist() for row in induction[1]]},
        "state": "running",
        "seconds": 0.0,
    }


def refuse_other(folder: SurveyFolder, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Check that the survey in a folder is of the same model, corpus and settings.

    Raises:
        SurveyError: if not; it says what differs.
    """
    if differences := [*_of_model(before, now), *_of_settings(before, now), *_of_corpus(before, now)]:
        raise SurveyError(other_survey(folder, "; ".join(differences)))


def other_survey(folder: SurveyFolder, differences: str) -> str:
    """The message for a folder that holds another survey."""
    return worded(
        "out holds a survey that differs, {place!r} ({differences}); give another folder, or again=True to "
        "delete it and start over",
        place=folder.name,
        differences=differences,
    )


def _of_model(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    old, new = before["model"], now["model"]
    origins = _ORIGINS if old.get("sha256") and new.get("sha256") else ("source",)
    if all(old.get(key) == new.get(key) for key in {*old, *new} - {*origins}):
        return []
    if old.get("name") != new.get("name"):
        return [worded("model {old}, not {new}", old=old.get("name"), new=new.get("name"))]
    return [worded("another model named {name}", name=new.get("name"))]


def _of_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    old, new = before["settings"], now["settings"]
    return [
        worded("{setting} {old}, not {new}", setting=key, old=old.get(key), new=new.get(key))
        for key in {**old, **new}
        if old.get(key) != new.get(key)
    ]


def _of_corpus(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    old, new = before["corpus"], now["corpus"]
    if old.get("column") != new.get("column"):
        return [worded("column {old}, not {new}", old=old.get("column"), new=new.get("column"))]
    files, others = ({one["path"]: one for one in corpus["files"]} for corpus in (old, new))
    if missing := [path for path in files if path not in others]:
        return [worded("corpus: {count} gone, such as {path}",
                       count=len(missing), path=missing[0])]  # fmt: skip
    if more := [path for path in others if path not in files]:
        return [worded("corpus: {count} new, such as {path}", count=len(more), path=more[0])]
    changed = [path for path, one in files.items() if (one["size"], one["sha256"]) !=
               (others[path]["size"], others[path]["sha256"])]  # fmt: skip
    if changed:
        return [worded("corpus: {count} changed, such as {path}", count=len(changed),
                       path=changed[0] or worded("the texts"))]  # fmt: skip
    return []


def _processor() -> str:
    return f"{platform.machine()} {target().cpu}"


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        if name in sys.modules:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
    return found
