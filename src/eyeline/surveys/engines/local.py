"""A survey in this process: one model, whose kernels use as many threads as usual."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from eyeline.surveys.blocks import CorpusBlock
from eyeline.surveys.engines.block_work import MeasuredBlock, Work, measure_block
from eyeline.surveys.readers import SurveyModel


def run(blocks: Iterable[CorpusBlock], work: Work, model: SurveyModel) -> Generator[MeasuredBlock, None, None]:
    """Measure blocks one after another, as they are asked for.

    Raises:
        SurveyError: if a document can't be measured, where `work.strict` asks for that.
    """
    for block in blocks:
        yield measure_block(model, block, work)
