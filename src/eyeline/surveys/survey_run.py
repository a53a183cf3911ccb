"""A survey while it runs: what is measured and written, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

from eyeline.surveys.about import read_about, with_merged
from eyeline.surveys.begun import begun, refuse_other
from eyeline.surveys.blocks import CorpusBlock, blocks
from eyeline.surveys.claiming import clear, written
from eyeline.surveys.corpus import Corpus, detail_in_words, reason_in_words
from eyeline.surveys.engines.block_work import MeasuredBlock, Work
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.folder import ABOUT, SurveyFolder
from eyeline.surveys.merging import merge
from eyeline.surveys.parts import Part, read_part
from eyeline.surveys.progress import Progress
from eyeline.surveys.readers import SurveyModel
from eyeline.surveys.remaining import Remaining
from eyeline.surveys.table_files import tables_intact, write_tables
from eyeline.surveys.totals import SkippedCount
from eyeline.words import worded

#: Seconds between two writings of survey.json while blocks are measured.
_OFTEN = 10.0
Telling = Callable[[Progress], None]
Engine = Callable[[Iterable[CorpusBlock], Work, SurveyModel], Generator[MeasuredBlock, None, None]]


class SurveyRun:
    """A survey while it runs: `begin`, then `measure`, then `finish`.

    Args:
        folder: the survey's folder, claimed.
        corpus: the corpus, scanned.
        model, work: what to measure with.
        tell: is told how far it is.
    """

    def __init__(self, folder: SurveyFolder, corpus: Corpus, model: SurveyModel, work: Work, tell: Telling) -> None:
        self._folder, self._corpus, self._model, self._work, self._tell = folder, corpus, model, work, tell
        self._record: dict[str, Any] = {}
        self._unread = SkippedCount()
        documents = corpus.documents(strict=work.strict, skipped=self._unread.add)
        self._left = Remaining(blocks(documents, work.settings, model.info), folder, work.strict)
        self._measured = self._documents = self._characters = self._tokens = self._failed = self._lost = 0
        self._started = self._written = time.monotonic()

    def begin(self, again: bool) -> None:
        """Write survey.json, or check that the one that is there is of the same survey.

        Args:
            again: delete the survey that is there.

        Raises:
            SurveyError: if it is of another survey and stays, can't be gone on with, or the folder can't be written.
        """
        now = {
            "model": self._model.info,
            "corpus": self._corpus.as_json(),
            "settings": self._work.settings.as_json(),
        }
        with written(self._folder):
            if again:
                clear(self._folder)
            known = read_about(self._folder) if self._folder.has(ABOUT) else None
            # One of which nothing was measured yet is no survey to go on with.
            if known is not None and (known["state"] == "complete" or self._folder.parts()):
                self._record = known
                if self._corpus.once:
                    raise SurveyError(
                        worded(
                            "texts must be a list to go on with the survey in {place!r}, got an iterator, which can't "
                            "be read again; give again=True to start over",
                            place=self._folder.name,
                        )
                    )
                refuse_other(self._folder, self._record, now)
                return
            induction = self._model.induction()
            self._record = begun(self._model, now["corpus"], self._work.settings, induction)
            self._folder.write_about(self._record)

    def measure(self, engine: Engine) -> None:
        """Measure the blocks that are left, and write each part.

        Raises:
            SurveyError: if the folder is of another corpus or can't be written, or as `engine`.
        """
        with closing(engine(self._left, self._work, self._model)) as results:  # ends what it started, at Ctrl-C too
            for result in results:
                self._check(result)
                with written(self._folder):
                    self._folder.write(self._folder.part(result.block), result.part)
                self._count(result)
        self.say("")

    def say(self, note: str) -> None:
        """Tell how far it is, and what is waited for; an empty note while measuring."""
        left, of = self._left, self._corpus.characters
        self._tell(
            Progress(
                documents=left.documents + self._documents,
                documents_in_all=self._corpus.document_count,
                kept=left.documents,
                tokens=self._tokens,
                characters=self._characters,
                characters_left=None if of is None else max(of - left.characters - self._characters, 0),
                skipped=sum(self._unread.counts.values()) + left.skipped + self._failed,
                note=note,
            )
        )

    def lose(self) -> None:
        """Count a worker that died."""
        self._lost += 1

    def finish(self) -> None:
        """Merge the parts and write the tables, unless they are there and nothing was measured.

        Raises:
            SurveyError: if nothing could be measured, or the folder can't be written.
        """
        with written(self._folder):
            complete = self._record["state"] == "complete" and not self._measured
            if complete and tables_intact(self._folder, self._record.get("tables")):
                return
            self.say(worded("merging {count} blocks", count=self._left.blocks))
            record = self._so_far()
            merged = merge(self._parts(), record)
            if not merged.counts["tokens"]:
                raise SurveyError(_nothing(merged.skipped))
            hashes = write_tables(self._folder, merged)
            self._folder.write_about({**with_merged(record, merged), "tables": hashes})

    def _parts(self) -> Iterator[Part]:
        for number in range(self._left.blocks):
            name = self._folder.part(number)
            yield read_part(self._folder.read(name), self._folder.path(name))

    def _so_far(self) -> dict[str, Any]:
        """survey.json as it is now."""
        done = self._left.kept + self._measured
        documents = self._left.documents + self._documents
        lost = self._record["counts"]["workers_lost"] + self._lost
        counts = {"blocks": self._left.blocks if self._left.ended else None, "blocks_done": done, "workers_lost": lost}
        return {
            **self._record,
            "corpus": self._corpus.as_json(),
            "counts": {**self._record["counts"], **counts, "documents": documents},
            "skipped": self._unread.as_json(),
            "state": "running",
            "seconds": round(self._record["seconds"] + time.monotonic() - self._started, 1),
        }

    def _count(self, result: MeasuredBlock) -> None:
        self._measured += 1
        self._documents += result.documents
        self._characters += result.characters
        self._tokens += result.tokens
        self._failed += len(result.skipped)
        self.say("")
        if time.monotonic() - self._written > _OFTEN:
            self._written = time.monotonic()
            with written(self._folder):
                self._folder.write_about(self._so_far())

    def _check(self, result: MeasuredBlock) -> None:
        """Check that not all documents fail from the beginning: the fault isn't theirs then.

        Raises:
            SurveyError: if they do.
        """
        failures = [skipped for skipped in result.skipped if skipped.reason == "failed"]
        if not self._tokens and not self._left.kept and len(failures) == result.documents > 1:
            raise SurveyError(
                worded(
                    "model must be able to read the corpus, got {count} documents that it can't, and none that it can; "
                    "the first: {reason}",
                    count=result.documents,
                    reason=detail_in_words(failures[0].detail),
                )
            )


def _nothing(skipped: SkippedCount) -> str:
    first = skipped.first[0] if skipped.first else None
    reason = "?" if first is None else f"{reason_in_words(first.reason)}, {detail_in_words(first.detail)}"
    return worded(
        "corpus must have a document that can be measured, got {count} that can't; the first: {reason}",
        count=sum(skipped.counts.values()),
        reason=reason,
    )
