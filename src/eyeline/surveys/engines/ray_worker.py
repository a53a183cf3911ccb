"""A worker of Ray: a process that holds the model once, and measures a block at a time on one thread."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Any

from eyeline.surveys.blocks import CorpusBlock
from eyeline.surveys.engines.block_work import MeasuredBlock, Work, measure_block
from eyeline.surveys.fingerprints import fingerprint
from eyeline.surveys.readers import SurveyModel
from eyeline.version import VERSION


@dataclass(frozen=True)
class Welcome:
    """What a worker says once it has the model.

    Attributes:
        version: its Eyeline's.
        fingerprint: of its model and the settings.
        node: the machine's name.
    """

    version: str
    fingerprint: str
    node: str


class Worker:
    """What a worker does. Ray makes an actor of it."""

    _work: Work
    _model: SurveyModel

    def place(self) -> str:
        """The machine that it runs on: so one learns that it runs."""
        return socket.gethostname()

    def load(self, work: Work) -> Welcome:
        """Load the model."""
        from eyeline.kernels.threads import set_threads

        os.environ["EYELINE_THREADS"] = "1"
        set_threads(1)
        self._work, self._model = work, work.load()
        return Welcome(VERSION, fingerprint([], work.settings, self._model.info), self.place())

    def measure(self, block: CorpusBlock) -> MeasuredBlock:
        """Measure a block."""
        return measure_block(self._model, block, self._work)


def worker_class(ray: Any) -> Any:
    """The actor's class: one processor each, and never restarted by Ray itself, which would not load the model."""
    return ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Worker)
