"""What measures a block, the same in this process and in a worker: documents in, a part's bytes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyeline.surveys.blocks import CorpusBlock
from eyeline.surveys.document import Document, Skipped
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.measuring import measure
from eyeline.surveys.one_line import one_line
from eyeline.surveys.parts import write_part
from eyeline.surveys.readers import SurveyModel, survey_model
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES
from eyeline.surveys.settings import Settings
from eyeline.surveys.tally import BlockTally
from eyeline.words import worded


@dataclass(frozen=True)
class Work:
    """What a survey's workers must know to measure any block of it.

    Attributes:
        model, tokenizer: as `survey` takes them.
        settings: the settings.
        classes: the user's labelling function, or None.
        strict: whether a document that can't be measured ends the survey.
    """

    model: Any
    tokenizer: Any
    settings: Settings
    classes: Callable[..., Any] | None
    strict: bool

    def load(self, progress: Callable[[str], None] | None = None) -> SurveyModel:
        """The model, ready to measure."""
        return survey_model(self.model, self.tokenizer, progress=progress)


@dataclass(frozen=True)
class MeasuredBlock:
    """A block that was measured.

    Attributes:
        block: its number.
        part: the bytes of its part's file.
        documents, characters: how many documents the block had, and the characters in them.
        tokens: how many tokens were counted.
        skipped: the documents that could not be measured.
    """

    block: int
    part: bytes
    documents: int
    characters: int
    tokens: int
    skipped: tuple[Skipped, ...]


def measure_block(model: SurveyModel, block: CorpusBlock, work: Work) -> MeasuredBlock:
    """Measure a block. A document that makes the model fail is left out, and told as skipped.

    Raises:
        SurveyError: if a document can't be measured, where `work.strict` asks for that.
    """
    try:
        tally = measure(model, block.documents, work.settings, work.classes)
    except SurveyError:  # the settings', or the labelling function's
        raise
    except Exception as error:
        tally = _without_failing(model, block.documents, work, error)
    return as_measured(block, tally)


def as_measured(block: CorpusBlock, tally: BlockTally) -> MeasuredBlock:
    """A block's tally with its part's file."""
    characters = sum(len(document.text) for document in block.documents)
    part = write_part(tally, block.fingerprint, block.number)
    return MeasuredBlock(block.number, part, len(block.documents), characters, tally.tokens, tuple(tally.skipped))


def nothing(layers: int, heads: int, skipped: Sequence[Skipped]) -> BlockTally:
    """The tally of a block of which nothing could be measured."""
    shape = (layers, heads)
    entropy, distance, squares, special = (np.zeros(shape) for _ in range(4))
    offsets = np.zeros((*shape, len(OFFSET_EDGES) - 1))
    entropies = np.zeros((*shape, len(ENTROPY_EDGES) - 1), np.int64)
    largest = np.zeros((*shape, len(LARGEST_EDGES) - 1), np.int64)
    return BlockTally(
        0, 0, [], entropy, distance, squares, offsets, entropies, largest, special, {}, [], list(skipped)
    )  # fmt: skip


def failed(document: Document, detail: str) -> Skipped:
    """That a document made the model fail."""
    return Skipped(document.file, document.place, "failed", detail)


def _without_failing(model: SurveyModel, documents: Sequence[Document], work: Work, error: Exception) -> BlockTally:
    """The tally of the documents that can be measured alone; the others are skipped."""
    kept, skipped = list[Document](), list[Skipped]()
    for document in documents:
        try:
            if len(documents) > 1:  # else it is the one that failed
                measure(model, [document], work.settings, work.classes)
                kept.append(document)
                continue
        except SurveyError:
            raise
        except Exception as own:
            error = own
        if work.strict:
            _stop(document, error)
        skipped.append(failed(document, _reason(error)))
    if kept:
        try:
            tally = measure(model, kept, work.settings, work.classes)
            return replace(tally, skipped=[*skipped, *tally.skipped])
        except Exception as together:  # each goes alone, but not all at once: not for the sake of one of them
            if work.strict:
                _stop(kept[0], together)
            skipped += [failed(document, _reason(together)) for document in kept]
    return nothing(model.layers, model.heads, skipped)


def _stop(document: Document, error: Exception) -> None:
    raise SurveyError(
        worded(
            "document {place} of {file} can't be measured: {reason}; without strict it is skipped",
            place=document.place,
            file=repr(document.file) if document.file else worded("the texts"),
            reason=_reason(error),
        )
    ) from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(error)}"
