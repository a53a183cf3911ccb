"""`eyeline live`: the page with a model in it, as one file that needs no network, or as a folder for a host."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.options import ModelName
from eyeline.cli.progress import progress
from eyeline.cli.results import chosen_language
from eyeline.words import worded


class WeightsName(StrEnum):
    """Kinds of rounded weights by name."""

    int8 = "int8"
    float16 = "float16"


Out = Annotated[Path | None, typer.Option(metavar="FILE", help="The file, such as lesson.html.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Instead of a file, a folder for any static host.", show_default=False),
]
Weights = Annotated[
    WeightsName | None,
    typer.Option(help="How weights are kept: int8, or float16 for a file twice as large.", show_default="int8"),
]


def live(out: Out = None, folder: Folder = None, model: ModelName = "minilm", weights: Weights = None) -> None:
    """Write the lesson with a model in it: one file, or a folder, that runs any sentence in the browser, offline."""
    from eyeline.views.live import save_live, save_live_folder

    _check(out, folder)
    kind, state = None if weights is None else weights.value, chosen_language()
    if out is not None:
        size = save_live(out, model, kind, state=state, progress=progress)
        progress(worded("wrote {path}: {size:.1f} MB", path=out, size=size / 1e6))
    elif folder is not None:
        for path in save_live_folder(folder, model, kind, state=state, progress=progress):
            progress(worded("wrote {path}: {size:.1f} MB", path=path, size=path.stat().st_size / 1e6))


def _check(out: Path | None, folder: Path | None) -> None:
    """Check where the result goes before the model runs.

    Raises:
        QuestionError: if it can't go there.
    """
    from eyeline.answers import QuestionError

    where = folder if out is None else out
    if where is None or (out is not None and folder is not None):
        count = 0 if where is None else 2
        raise QuestionError(
            worded("--out must name a file, or --folder a folder, got {count} of the two; give one", count=count)
        )
    name = "--folder" if out is None else "--out"
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise QuestionError(worded("--out must be a file name that ends in .html, got {path!r}", path=str(out)))
    if folder is not None and folder.exists() and not folder.is_dir():
        raise QuestionError(worded("--folder must be a folder, got {path!r}, a file; name another", path=str(folder)))
    if not os.path.isdir(where.parent):
        raise QuestionError(
            worded(
                "{name} must be in a folder that exists, got {path!r}; make {folder} first",
                name=name,
                path=str(where),
                folder=where.parent,
            )
        )
