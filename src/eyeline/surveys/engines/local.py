"""A survey in this process: one model, and a block in each of its threads."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.kernels.threads import get_threads, limited
from eyeline.surveys.blocks import CorpusBlock
from eyeline.surveys.engines.block_work import MeasuredBlock, Work, measure_block
from eyeline.surveys.looks import Looks
from eyeline.surveys.own_model import OwnSurveyModel
from eyeline.surveys.readers import SurveyModel


def run(blocks: Iterable[CorpusBlock], work: Work, model: SurveyModel) -> Generator[MeasuredBlock, None, None]:
    """Measure blocks, as they are asked for, in any order.

    Of our own models, as many blocks are measured at once as kernels may use threads, each on one thread: what Python
    does for one block and what kernels do for another then overlap. Torch models have one block at a time.

    Raises:
        SurveyError: if a document can't be measured, where `work.strict` asks for that.
    """
    threads = get_threads() if isinstance(model, OwnSurveyModel) else 1
    if threads == 1:
        for block in blocks:
            yield measure_block(model, block, work)
        return
    shared: Any = _Shared(model, threads)
    if work.classes is not None:
        work = replace(work, classes=_one_at_a_time(work.classes))

    def measured(block: CorpusBlock) -> MeasuredBlock:
        with shared.block():
            return measure_block(shared, block, work)

    with ThreadPoolExecutor(threads, "eyeline-survey") as pool:
        try:
            yield from _in_turn(iter(blocks), lambda block: pool.submit(measured, block), threads)
        finally:  # Ctrl-C too: the pool waits for its threads, which end at the next layer
            shared.stopped = True
            pool.shutdown(wait=False, cancel_futures=True)


def _in_turn(
    blocks: Iterator[CorpusBlock], begin: Callable[[CorpusBlock], Future[MeasuredBlock]], most: int
) -> Iterator[MeasuredBlock]:
    """Keep `most` blocks in work, and one more read, so that no thread waits for a file."""
    running: set[Future[MeasuredBlock]] = set()
    for block in blocks:
        running.add(begin(block))
        if len(running) > most:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (one.result() for one in done)


def _one_at_a_time(classes: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function, which need not bear two threads."""
    lock = Lock()

    def called(tokens: Any) -> Any:
        with lock:
            return classes(tokens)

    return called


class _Shared:
    """A model that several threads use at once, and that raises at the next layer once the survey has stopped."""

    def __init__(self, model: SurveyModel, threads: int) -> None:
        self._model, self._threads, self._blocks, self._lock = model, threads, 0, Lock()
        self.stopped = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @contextmanager
    def block(self) -> Iterator[None]:
        """While a thread measures a block."""
        with self._lock:
            self._blocks += 1
        try:
            with limited(1):
                yield
        finally:
            with self._lock:
                self._blocks -= 1

    def looks(self, windows: Sequence[Any], types: NDArray[np.int64], count: int) -> Iterator[Looks]:
        """As the model's own, on this block's share of the threads: all of them for the only one that is left."""
        layers = iter(self._model.looks(windows, types, count))
        while not self.stopped:
            with limited(max(1, self._threads // self._blocks)):
                layer = next(layers, None)
            if layer is None:
                return
            yield layer
        raise _StoppedError


class _StoppedError(BaseException):
    """Raised in a thread whose survey has stopped: no document's failure."""
