"""A survey in this process: one model, whose kernels use as many threads as usual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eyeline.surveys.blocks import Block
from eyeline.surveys.engines.block_work import Measured, Work, measure_block
from eyeline.surveys.readers import SurveyModel


def run(blocks: Iterable[Block], work: Work, model: SurveyModel) -> Iterator[Measured]:
    """Measure blocks one after another, as they are asked for.

    Raises:
        SurveyError: if a document can't be measured, where `work.strict` asks for that.
    """
    for block in blocks:
        yield measure_block(model, block, work)
