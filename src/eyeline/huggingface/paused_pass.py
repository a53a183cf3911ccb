"""Passes of a model that wait at each attention call until its readouts have been used.

The readouts of all layers would take many times the memory of one layer's. So each batch runs in a thread of its own,
which stands still while its caller uses what was read of a layer; several batches go on in turn, layer by layer. Only
one thread runs at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.call_observer import CallObserver, with_options
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.watched_call import WatchedCall
from eyeline.huggingface.watching import followed
from eyeline.readouts import Readout
from eyeline.words import worded

Take = Callable[[WatchedCall], None]


class Abandoned(BaseException):
    """Raised within a model whose pass is not to go on; not an error, so that nothing on the way catches it."""


class _Batch(threading.local):
    """What a thread's pass reads, as `with_options` gives it, and who takes it."""

    asked: list[tuple[Readout, dict[str, Any] | None]]
    take: Take


class _PassingObserver(CallObserver):
    """An observer that hands on each call's readouts, and keeps none."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model, (), None, None)
        self.batch = _Batch()

    def observe(self, module: nn.Module, call: AttentionCall) -> Tensor:
        output = super().observe(module, call)
        self.batch.take(self.watched.calls.pop())
        return output

    def asked(self) -> list[tuple[Readout, dict[str, Any] | None]]:
        return self.batch.asked


class PausedPass:
    """One pass of a model, which runs only while its next call is awaited."""

    def __init__(self, run: Callable[[Take], None]) -> None:
        self._pass = run
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._call: WatchedCall | None = None
        self._error: BaseException | None = None
        self._abandoned = False
        self._thread = threading.Thread(target=self._run, name="eyeline-pass", daemon=True)
        self._thread.start()

    def next(self) -> WatchedCall | None:
        """The next attention call; None once the model has run."""
        self._call = None
        self._go.release()
        self._stopped.acquire()
        if self._error is not None:
            raise self._error
        return self._call

    def abandon(self) -> None:
        """End the pass where it stands."""
        self._abandoned = True
        self._go.release()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._wait()
            self._pass(self._give)
        except Abandoned:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self._stopped.release()

    def _give(self, call: WatchedCall) -> None:
        self._call = call
        self._stopped.release()
        self._wait()

    def _wait(self) -> None:
        self._go.acquire()
        if self._abandoned:
            raise Abandoned


def layers_of(
    model: nn.Module, batches: Sequence[tuple[Mapping[str, Any], Sequence[Readout]]]
) -> Iterator[list[WatchedCall]]:
    """Run a model on several batches, layer by layer: of each attention call, one `WatchedCall` for each batch.

    The model runs in evaluation mode, without gradients and on one of torch's threads, so that the bits don't depend on
    their number; afterwards, all of that is restored, also where the iteration ends early.

    Args:
        model: a model of transformers.
        batches: each one's inputs, tensors on the model's device, and what is read of its calls.

    Yields:
        The calls of one layer, by batch.

    Raises:
        HuggingFaceError: if the model can't be watched (see `attach`), or the batches have different numbers of calls.
    """
    observer = _PassingObserver(model)
    with for_measuring(model), followed(model, observer), ExitStack() as undo:
        passes = [PausedPass(_running(model, observer, inputs, read)) for inputs, read in batches]
        for one in passes:
            undo.callback(one.abandon)
        while True:
            calls = [one.next() for one in passes]
            there = [call for call in calls if call is not None]
            if not there:
                break
            if len(there) < len(calls):
                raise HuggingFaceError(
                    worded("model must call attention equally often for every text, got one that doesn't")
                )
            yield there


def _running(
    model: nn.Module, observer: _PassingObserver, inputs: Mapping[str, Any], read: Sequence[Readout]
) -> Callable[[Take], None]:
    def run(take: Take) -> None:
        torch.set_num_threads(1)  # which each thread has of its own
        observer.batch.asked, observer.batch.take = with_options(read), take
        with torch.no_grad():
            model(**inputs)

    return run


@contextmanager
def for_measuring(model: nn.Module) -> Iterator[None]:
    """Within the block, the model is in evaluation mode, and torch has one thread."""
    training = [part for part in model.modules() if part.training]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True
        torch.set_num_threads(threads)
