"""What is left of a survey: the blocks whose parts aren't there yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eyeline.surveys.begun import other_survey
from eyeline.surveys.blocks import CorpusBlock
from eyeline.surveys.claiming import written
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.parts import read_part
from eyeline.words import worded


class Remaining:
    """The blocks of a corpus that are still to be measured. Iterate over it once.

    Args:
        blocks: all blocks, in order.
        folder: the survey's folder.
        strict: measure again what has documents that failed.

    Attributes:
        blocks: how many blocks there were so far; `ended` says whether these are all.
        kept: how many of them are measured already.
        documents, characters: how many documents were in those, and how many characters.
        skipped: how many of these documents could not be measured.
    """

    def __init__(self, blocks: Iterable[CorpusBlock], folder: SurveyFolder, strict: bool) -> None:
        self._blocks, self._folder, self._strict = blocks, folder, strict
        self.ended = False
        self.blocks = self.kept = self.documents = self.characters = self.skipped = 0

    def __iter__(self) -> Iterator[CorpusBlock]:
        with written(self._folder):
            there = set(self._folder.parts())
        for block in self._blocks:
            self.blocks += 1
            if not (block.number in there and self._fits(block)):
                yield block
        self.ended = True
        if beyond := [number for number in there if number >= self.blocks]:
            raise SurveyError(
                other_survey(
                    self._folder, worded("it has {count} blocks, not {now}", count=max(beyond) + 1, now=self.blocks)
                )
            )

    def _fits(self, block: CorpusBlock) -> bool:
        """Whether the block's part is there and whole.

        Raises:
            SurveyError: if it is of another survey.
        """
        name = self._folder.part(block.number)
        with written(self._folder):
            data = self._folder.read(name)
        try:
            part = read_part(data, self._folder.path(name))
        except SurveyError:  # damaged: measured anew
            return False
        if part.fingerprint != block.fingerprint:
            raise SurveyError(
                other_survey(
                    self._folder,
                    worded(
                        "documents {first} to {last} had other texts",
                        first=block.documents[0].number,
                        last=block.documents[-1].number,
                    ),
                )
            )
        failed = sum(skipped.reason == "failed" for skipped in part.skipped)
        if failed and self._strict:
            return False
        self.kept += 1
        self.documents += len(block.documents)
        self.characters += sum(len(document.text) for document in block.documents)
        self.skipped += len(part.skipped)
        return True
