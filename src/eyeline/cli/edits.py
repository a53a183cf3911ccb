"""The options of edits: `--edit`, and `--over` for the means of other texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eyeline.cli.progress import progress, texts_shown
from eyeline.cli.texts import lines_of
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.edits import Edit, MeanOutputs

EditWords = Annotated[
    list[str] | None,
    typer.Option(
        "--edit",
        metavar="WORDS",
        help="Also run with heads changed: 'cut L5H3 flies>time', 'gate L5H3', 'uniform L5H3', 'mean L5H3', "
        "'reweight L5H3 flies>time 0.5'. Can be repeated.",
        show_default=False,
    ),
]
Over = Annotated[
    str | None,
    typer.Option(
        "--over", metavar="FILE", help="The texts over which means are taken, one on each line.", show_default=False
    ),
]


def edits_of(words: Sequence[str] | None, over: str | None, model: Any) -> list[Edit]:
    """The edits that the options say.

    Args:
        words: of each `--edit`.
        over: the file of `--over`.
        model: the model whose means are taken.

    Raises:
        EditError: if they aren't edits in words, or a mean is asked for without `--over`.
        QuestionError: if `--over` is given and no mean is asked for, or its file isn't text.
        OSError: if the file can't be read.
    """
    from eyeline.answers import QuestionError
    from eyeline.edits import parse

    given = words or ()
    asked = any(one.split()[:1] == ["mean"] for one in (text.lower() for text in given))
    if over is not None and not asked:
        raise QuestionError(worded("--over must come with --edit 'mean L5H3', whose texts it names; leave it out"))
    means = mean_over(over, model) if over is not None else None
    return [parse(text, means) for text in given]


def mean_over(file: str, model: Any) -> MeanOutputs:
    """The mean outputs of a model over the lines of a file, with progress on stderr."""
    from eyeline.traces import mean_outputs

    texts = lines_of(file)
    with texts_shown(len(texts)) as texts_done:
        return mean_outputs(texts, model=model, progress=progress, texts_done=texts_done)
