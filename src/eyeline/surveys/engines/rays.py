"""A survey on Ray: workers that each hold the model once, on this machine or on the nodes of a cluster.

This process reads the corpus and writes the folder; a worker gets the documents of a block and gives back its part. So
Ray distributes blocks and does nothing else: its data sets would cut and order blocks by their own lights, and read the
corpus in tasks that need processors beside the workers'.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from eyeline.surveys.blocks import CorpusBlock
from eyeline.surveys.corpus import detail_in_words
from eyeline.surveys.document import Skipped
from eyeline.surveys.engines.block_work import MeasuredBlock, Work, as_measured, failed, nothing
from eyeline.surveys.engines.ray_cluster import connected, free_processors
from eyeline.surveys.engines.ray_worker import Welcome, share, worker_class
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.fingerprints import fingerprint
from eyeline.surveys.one_line import one_line
from eyeline.surveys.readers import SurveyModel
from eyeline.version import VERSION
from eyeline.words import language, worded

#: The blocks that a worker has at once: the one at work, and the next, so that it never waits for this process.
AT_ONCE = 2
#: A block is given up when its worker has died this often over it; so is a survey whose workers die before their first.
DEATHS = 3
#: Seconds after which it is said again what is waited for.
TICK = 1.0


@dataclass(eq=False)
class _StartedWorker:
    """A worker. `state` is "placing" until Ray has found it a place, "loading" the model, then "ready"."""

    actor: Any
    state: str = "placing"
    blocks: deque[CorpusBlock] = field(default_factory=deque)


def run(
    blocks: Iterable[CorpusBlock],
    work: Work,
    model: SurveyModel,
    *,
    address: str | None = None,
    workers: int | None = None,
    say: Callable[[str], None] = lambda note: None,
    lost: Callable[[], None] = lambda: None,
) -> Generator[MeasuredBlock, None, None]:
    """Measure blocks on Ray's workers.

    Args:
        blocks: the blocks; of them, `AT_ONCE` for each worker are held at a time.
        work: what to measure.
        model: the model as this process has it: the workers' must be the same.
        address: of a cluster; None for `RAY_ADDRESS`, else this machine.
        workers: how many; None for one for each processor that Ray has.
        say: called about once a second with what is waited for, while nothing is measured; with "" when that is over.
        lost: called when a worker has died.

    Yields:
        Each block as soon as it is measured, in any order.

    Raises:
        SurveyError: if Ray can't be reached, a worker can't load the model, or a document can't be measured where
            `work.strict` asks for that.
    """
    left = iter(blocks)
    first = next(left, None)
    if first is None:
        return  # and Ray isn't started for nothing
    with connected(address, workers) as (ray, count):
        crew = _Crew(ray, work, model, say, lost)
        try:
            for _ in range(count):
                crew.start()
            yield from crew.run(chain([first], left))
        finally:
            crew.end()


class _Crew:
    """The workers of one survey, and what each is at."""

    def __init__(
        self,
        ray: Any,
        work: Work,
        model: SurveyModel,
        say: Callable[[str], None],
        tell_lost: Callable[[], None],
    ) -> None:
        self.ray, self.work, self.model, self.say, self.tell_lost = ray, work, model, say, tell_lost
        self.shared = share(ray, work)
        self.expected = Welcome(VERSION, fingerprint([], work.settings, model.info), "")
        # By the reference of what was asked for.
        self.waiting: dict[Any, tuple[_StartedWorker, CorpusBlock | None]] = {}
        self.workers: list[_StartedWorker] = []
        self.again: deque[CorpusBlock] = deque()
        self.deaths: Counter[int] = Counter()
        self.lost = 0  # workers that died before they were ready, since the last that was
        self.room = free_processors(ray)

    def start(self) -> None:
        """Start one more worker."""
        worker = _StartedWorker(worker_class(self.ray).remote())
        self.workers.append(worker)
        self.waiting[worker.actor.place.remote()] = worker, None

    def end(self) -> None:
        """End all workers, whatever they are at."""
        for worker in self.workers:
            self.ray.kill(worker.actor)

    def run(self, blocks: Iterator[CorpusBlock]) -> Iterator[MeasuredBlock]:
        """Measure all blocks."""
        more = True
        while True:
            more = self._give(blocks) if more or self.again else False
            if not more and not self.again and not any(worker.blocks for worker in self.workers):
                return
            done, _ = self.ray.wait(list(self.waiting), num_returns=1, timeout=TICK)
            for reference in done:
                # Others of a worker that died are gone already.
                if reference in self.waiting:
                    yield from self._take(reference, *self.waiting.pop(reference))
            self.say("" if any(worker.state == "ready" for worker in self.workers) else self._waited_for())

    def _give(self, blocks: Iterator[CorpusBlock]) -> bool:
        """Give each worker what it can hold, the idlest first; whether there may be more blocks."""
        for load in range(AT_ONCE):
            for worker in self.workers:
                if worker.state == "ready" and len(worker.blocks) <= load:
                    block = self.again.popleft() if self.again else next(blocks, None)
                    if block is None:
                        return False
                    worker.blocks.append(block)
                    self.waiting[worker.actor.measure.remote(block)] = worker, block
        return True

    def _take(self, reference: Any, worker: _StartedWorker, block: CorpusBlock | None) -> Iterator[MeasuredBlock]:
        """What a worker has answered."""
        ray = self.ray
        try:
            answer = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, SurveyError):
                raise SurveyError(str(cause)) from None
            if worker.state == "ready":
                raise cause from None
            raise SurveyError(_cannot_start(one_line(cause))) from None
        except ray.exceptions.RayError as error:
            yield from self._bury(worker, error)
            return
        if worker.state == "placing":
            worker.state = "loading"
            self.waiting[worker.actor.load.remote(self.shared, language())] = worker, None
        elif worker.state == "loading":
            self._check(answer)
            worker.state, self.lost = "ready", 0
        elif block is not None:
            worker.blocks.remove(block)
            self.deaths.pop(block.number, None)
            yield answer

    def _check(self, welcome: Welcome) -> None:
        """That a worker has our version and our model."""
        if welcome.version != self.expected.version:
            raise SurveyError(
                worded(
                    "every node must have the same Eyeline, got {theirs} on {node} and {ours} here; install the same",
                    theirs=welcome.version,
                    ours=VERSION,
                    node=welcome.node,
                )
            )
        if welcome.fingerprint != self.expected.fingerprint:
            raise SurveyError(
                worded(
                    "every node must have the same model, got another under that name on {node}; copy this machine's "
                    "files there",
                    node=welcome.node,
                )
            )

    def _bury(self, worker: _StartedWorker, error: Exception) -> Iterator[MeasuredBlock]:
        """Put another in the place of a worker that died; its blocks are done again, but for one that kills workers."""
        self.workers.remove(worker)
        self.waiting = {reference: asked for reference, asked in self.waiting.items() if asked[0] is not worker}
        self.ray.kill(worker.actor)  # it may live on, out of reach
        self.tell_lost()
        if worker.state == "ready":
            suspect = worker.blocks[0] if worker.blocks else None  # they are done in their order
            if suspect is not None:
                self.deaths[suspect.number] += 1
                if self.deaths[suspect.number] >= DEATHS:
                    worker.blocks.popleft()
                    yield self._given_up(suspect)
            self.again.extendleft(reversed(worker.blocks))
        else:
            self.lost += 1
            if self.lost >= DEATHS:
                raise SurveyError(_cannot_start(_last_line(error)))
        self.start()

    def _given_up(self, block: CorpusBlock) -> MeasuredBlock:
        detail = f"its block ended the worker {DEATHS} times (out of memory?)"
        if self.work.strict:
            first = block.documents[0]
            raise SurveyError(
                worded(
                    "documents {first} to {last} of the corpus can't be measured: {reason}; without strict they are "
                    "skipped",
                    first=first.number,
                    last=block.documents[-1].number,
                    reason=detail_in_words(detail),
                )
            )
        skipped: list[Skipped] = [failed(document, detail) for document in block.documents]
        return as_measured(block, nothing(self.model.layers, self.model.heads, skipped))

    def _waited_for(self) -> str:
        """Why nothing is measured yet."""
        count = len(self.workers)
        placing = sum(worker.state == "placing" for worker in self.workers)
        if placing < count:
            return worded("{some} of {count} workers load the model", some=count - placing, count=count)
        # Ray takes a processor for a worker at once, and has none free while it starts the last of them.
        if self.room >= 1:
            return worded("starting {count} workers", count=count)
        return worded(
            "waiting for {count} workers: the cluster has {free:g} free CPUs",
            count=count,
            free=free_processors(self.ray),
        )


def _cannot_start(reason: str) -> str:
    return worded(
        "a worker could not start: {reason}; every node needs Eyeline and Ray of the same versions, and the model",
        reason=reason,
    )


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
