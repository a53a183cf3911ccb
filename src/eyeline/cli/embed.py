"""`eyeline embed`: a vector for each line of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.options import ModelName
from eyeline.cli.progress import progress, texts_shown
from eyeline.cli.texts import lines_of
from eyeline.words import worded

File = Annotated[str, typer.Argument(metavar="FILE", help="A text on each line; - reads stdin.", show_default=False)]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE.npy", help="Where the vectors go.", show_default=False)
]
Prefix = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        help='Put in front of each line, as a model\'s card asks: "query: " or "passage: " with e5.',
        show_default=False,
    ),
]


def embed(file: File, output: Output, model: ModelName = "minilm", prefix: Prefix = "") -> None:
    """Embed texts: a vector for each line of a file, as rows of a NumPy array, float32."""
    import numpy as np

    from eyeline.answers import QuestionError
    from eyeline.caches import whole
    from eyeline.models import embed as embedded

    if output.suffix != ".npy":
        raise QuestionError(
            worded("--output must be a file name that ends in .npy, got {output!r}", output=str(output))
        )
    if not os.path.isdir(output.parent):
        raise QuestionError(
            worded(
                "--output must be in a folder that exists, got {output!r}; make {parent} first",
                output=str(output),
                parent=output.parent,
            )
        )
    texts = lines_of(file)
    with texts_shown(len(texts)) as texts_done:
        vectors = embedded(texts, model, prefix=prefix, progress=progress, texts_done=texts_done)
    with whole(output) as beside, open(beside, "wb") as opened:
        np.save(opened, vectors)
    progress(
        worded(
            "wrote {file}: {count} vectors of {width} numbers", file=output, count=len(vectors), width=vectors.shape[1]
        )
    )
