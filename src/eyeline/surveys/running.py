"""Running a survey: what is left to measure of a corpus, who measures it, and what comes of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from eyeline.surveys.about import with_merged
from eyeline.surveys.arguments import check_engine, chosen_settings, labelling
from eyeline.surveys.begun import begin, differing
from eyeline.surveys.blocks import Block, blocks
from eyeline.surveys.claiming import check_folder, claimed, clear
from eyeline.surveys.corpus.corpus import Corpus, Given, corpus
from eyeline.surveys.engines import local
from eyeline.surveys.engines.block_work import Measured, Work
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.folder import HEADS, SurveyFolder
from eyeline.surveys.merging import merge
from eyeline.surveys.one_line import one_line
from eyeline.surveys.parts import Part, read_part
from eyeline.surveys.progress import Progress
from eyeline.surveys.survey import Survey, load_survey
from eyeline.surveys.table_files import write_tables
from eyeline.surveys.totals import SkippedCount
from eyeline.words import worded

#: Seconds between two writings of survey.json while blocks are measured.
_WRITTEN = 10.0
Telling = Callable[[Progress], None]


def survey(
    texts_or_paths: Given,
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
            given.
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
    label = labelling(classes)
    tell = progress or (lambda record: None)
    folder = SurveyFolder(out)
    with _writing(folder):
        check_folder(folder)
    given = corpus(texts_or_paths, column=column)
    given.scan(strict=strict, progress=progress)
    tell(Progress(note=worded("loading the model")))
    with _writing(folder), claimed(folder):
        check_folder(folder)
        return _Survey(folder, given, model, tokenizer, label, strict, tell).run(...)
