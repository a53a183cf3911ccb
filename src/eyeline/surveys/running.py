"""Running a survey: the call."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from eyeline.surveys.arguments import check_choices, check_engine, check_sizes, chosen_settings, labelling
from eyeline.surveys.claiming import check_folder, claimed, written
from eyeline.surveys.corpus import corpus
from eyeline.surveys.engines import local
from eyeline.surveys.engines.block_work import Work
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.loading import Survey, load_survey
from eyeline.surveys.progress import Progress
from eyeline.surveys.readers import survey_model
from eyeline.surveys.survey_run import SurveyRun, Telling
from eyeline.words import worded


def survey(
    texts_or_paths: Any,
    *,
    out: str | os.PathLike[str],
    column: str | None = None,
    model: Any = "minilm",
    tokenizer: Any = None,
    window: int | None = None,
    overlap: int | None = None,
    block: int | None = None,
    examples: int | tuple[int, int] = 16,
    classes: Callable[..., Any] | str | None = None,
    on: str = "local",
    address: str | None = None,
    workers: int | None = None,
    again: bool = False,
    strict: bool = False,
    progress: Telling | None = None,
) -> Survey:
    """Measure what every head of a model does over a whole corpus.

    The same call goes on where an earlier one was cut off: after Ctrl-C, a full disk, or the process's end. The tables
    are the same bytes from any number of threads or workers, cut off or not, on one kind of processor.

    Args:
        texts_or_paths: a file or a folder (.txt, .jsonl, .csv, .parquet, compressed or not), a pattern as
            "corpus/*.parquet", a URI that pyarrow can open, several of these, or the texts themselves in a list.
        out: the folder of the survey: new, empty, or of the same survey; a path or a URI.
        column: of a table or of JSON objects, which column is the text; "text" or the only one of texts if not given.
        model: a name of the catalogue, a folder, or a model of transformers.
        tokenizer: the tokenizer of a model of transformers.
        window: the most tokens that the model reads at once, special ones included; as many as it has positions if not
            given, but at most 8,192, and 2,048 in a model of transformers.
        overlap: how many tokens two windows of a long document have in common; window // 8 if not given.
        block: the characters of text after which a block of documents ends, 131,072 if not given. Blocks are what is
            measured at once, kept in one file and shared out among workers.
        examples: how many examples to keep of each head, of largest weight and of a uniform sample each; or a pair.
        classes: a function that labels tokens further, or its name, "module:function".
        on: "local", in this process, or "ray", by the workers of Ray.
        address: of Ray's cluster; a Ray of this machine if not given.
        workers: the number of Ray's workers; as many as Ray has processors if not given.
        again: start over in a folder that holds another survey, which is deleted.
        strict: raise at the first document that can't be read or measured; it is skipped, and told, otherwise.
        progress: called with a `Progress` at each step.

    Returns:
        `Survey`, which prints itself.

    Raises:
        SurveyError: if an argument is invalid, the folder holds something else or can't be written, or nothing could be
            measured. It is a ValueError.
        ModelError: if the model can't be loaded.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = survey(["Time flies like an arrow.", "Fruit flies like a banana."], out=folder)
    ...     heads = found.heads()
    >>> found.info["counts"]["documents"], len(heads)
    (2, 72)
    """
    check_engine(on, address, workers)
    check_sizes(window, overlap, block, examples)
    check_choices(again=again, strict=strict)
    label, label_name = labelling(classes)
    tell: Telling = progress or (lambda record: None)
    folder, given = SurveyFolder(out), corpus(texts_or_paths, column)
    with ExitStack() as claim:
        with written(folder):
            check_folder(folder)
            claim.enter_context(claimed(folder))
        tell(Progress(note=worded("loading the model")))
        reader = survey_model(model, tokenizer, progress=lambda note: tell(Progress(note=note)))
        settings = chosen_settings(reader.positions, reader.longest, window, overlap, block, examples, label_name)
        given.scan(strict=strict, progress=progress)
        run = SurveyRun(folder, given, reader, Work(model, tokenizer, settings, label, strict), tell)
        run.begin(again)
        if on == "ray":
            from eyeline.surveys.engines import rays

            run.say(worded("starting Ray"))
            run.measure(partial(rays.run, address=address, workers=workers, say=run.say, lost=run.lose))
        else:
            run.say("")
            run.measure(local.run)
        run.finish()
    return load_survey(out)
