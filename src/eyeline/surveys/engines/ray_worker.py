"""A worker of Ray: a process that holds the model once, and measures a block at a time on one thread."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass, replace
from typing import Any

from eyeline import words
from eyeline.models.catalogue import CATALOGUE
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

    def load(self, work: Work, language: str) -> Welcome:
        """Load the model. Errors are told in the language of whoever asks for the survey, wherever the worker runs."""
        from eyeline.kernels.threads import set_threads

        words.choose(language)
        os.environ["EYELINE_THREADS"] = "1"
        set_threads(1)
        self._work, self._model = work, work.load()
        return Welcome(VERSION, fingerprint([], work.settings, self._model.info), self.place())

    def measure(self, block: CorpusBlock) -> MeasuredBlock:
        """Measure a block."""
        return measure_block(self._model, block, self._work)


def share(ray: Any, work: Work) -> Any:
    """Put what workers must know where all of them find it, once. A model of ours goes by its name or folder, which
    each worker loads itself; a labelling function from a file of the user's goes with its code."""
    from eyeline.models.model import Model

    model = work.model
    if isinstance(model, Model):
        model = model.name if model.name in CATALOGUE else model.source
    if isinstance(model, (str, os.PathLike)) and model not in CATALOGUE:
        model = os.path.abspath(os.path.expanduser(model))
    module = sys.modules.get(getattr(work.classes, "__module__", ""))
    theirs = module is not None and str(getattr(module, "__file__", "")).startswith(os.getcwd() + os.sep)
    if module is None or not theirs or module.__name__ == "__main__":  # which always goes with its code
        return ray.put(replace(work, model=model))
    ray.cloudpickle.register_pickle_by_value(module)
    try:
        return ray.put(replace(work, model=model))
    finally:
        ray.cloudpickle.unregister_pickle_by_value(module)


def worker_class(ray: Any) -> Any:
    """The actor's class: one processor each, and never restarted by Ray itself, which would not load the model."""
    return ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Worker)
