"""The state of one `eyeline view`: its page, models and files, and the traces that it keeps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eyeline.answers import QuestionError
from eyeline.answers.question import asked_model, read_text
from eyeline.models import ModelError
from eyeline.models.catalogue import CATALOGUE, find
from eyeline.serving.jobs import Job, Jobs
from eyeline.serving.refusal import RefusalError
from eyeline.serving.requests import RunRequest
from eyeline.serving.source import InputFile
from eyeline.traces import Cancelled, Keep, LayerTrace, TextModel, Trace, TraceError, load_trace, record_text
from eyeline.views.page.message import RequestError, trace_entry

if TYPE_CHECKING:
    from eyeline.traces.text_model import AnyModel
    from eyeline.views.page import Page

#: The most bytes of traces that are kept; the oldest are dropped first.
KEPT = 1 << 30


class Session:
    """A page, the models that it may run, and the files that it may open.

    Args:
        page: what is shown.
        models: the names that may be given, the usual one first.
        files: what can be opened, by number.
        ready: models that are loaded already, by name.
        kept: bytes of traces to keep.
    """

    def __init__(
        self,
        page: Page,
        models: Sequence[str],
        files: Sequence[InputFile] = (),
        ready: Mapping[str, AnyModel | TextModel] | None = None,
        kept: int = KEPT,
    ) -> None:
        self.page = page
        self.models = tuple(models)
        self.files = tuple(files)
        self.jobs = Jobs(user_error)
        self._ready = {name: asked_model(model) for name, model in (ready or {}).items()}
        self._kept = kept
        self._forgotten: set[int] = set()

    def header(self) -> dict[str, Any]:
        """The page's header, with what a server can do."""
        header = self.page.header()
        files = [{"name": file.name, "kind": file.kind} for file in self.files]
        can = {"run": True, "picture": True, "models": list(self.models), "fetch": self._to_fetch(), "files": files}
        return {**header, "can": {**header["can"], **can}}

    def answer(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[memoryview]]:
        """The page's answer to a request. Raises RefusalError if it can't be answered."""
        place = request.get("trace")
        if isinstance(place, (int, float)) and place in self._forgotten:
            raise RefusalError(
                410, "trace", "trace must be one that is kept, and this one had to make room; run its text anew"
            )
        try:
            return self.page.answer(request)
        except RequestError as error:
            raise RefusalError(400, error.argument, error.message) from None

    def start(self, request: RunRequest) -> Job:
        """Start running a text, or opening a file. Raises RefusalError while another job runs."""
        return self.jobs.start(lambda job: self._run(request, job))

    def close(self) -> None:
        """Stop the running job."""
        self.jobs.close()

    def _run(self, request: RunRequest, job: Job) -> dict[str, Any]:
        trace = self._trace(request, job)
        if job.cancelled():
            raise Cancelled
        place = self.page.add(trace)
        self._make_room(place)
        return {"trace": place, "entry": trace_entry(trace)}

    def _trace(self, request: RunRequest, job: Job) -> Trace:
        file = None if request.file is None else self.files[request.file]
        if file is not None and file.kind == "trace":
            file.check()
            return load_trace(file.path)
        text = request.text if file is None else file.text()
        assert text is not None
        model = self._model(request.model, job)
        job.layer_done(0, model.layers)
        return record_text(
            model,
            read_text(model, text),
            keep=Keep(measures=True),
            mask=request.mask,
            scale=request.scale,
            cancelled=job.cancelled,
            layer_done=job.layer_done,
        )

    def _model(self, name: str, job: Job) -> TextModel:
        if name not in self._ready:
            self._ready[name] = asked_model(name, progress=job.say)
        return self._ready[name]

    def _to_fetch(self) -> dict[str, int]:
        """The models that would have to be downloaded first, with their megabytes."""
        known = [CATALOGUE[name] for name in self.models if name in CATALOGUE and name not in self._ready]
        return {entry.name: entry.megabytes for entry in known if find(entry) is None}

    def _make_room(self, newest: int) -> None:
        """Drop the numbers of the oldest traces while there are too many bytes; their entries in the header stay."""
        traces = self.page.traces
        sizes = [bytes_of(trace) for trace in traces]
        for place in range(newest):
            if sum(sizes) <= self._kept:
                return
            if place not in self._forgotten:
                self._forgotten.add(place)
                traces[place] = replace(traces[place], layers=tuple(map(_emptied, traces[place].layers)))
                sizes[place] = 0


def bytes_of(trace: Trace) -> int:
    """How much memory a trace's arrays take."""
    arrays = [(layer.q, layer.k, layer.v, layer.lse) for layer in trace.layers]
    return sum(array.nbytes for layer in arrays for array in layer if array is not None)


def _emptied(layer: LayerTrace) -> LayerTrace:
    """A layer without its numbers: copies of empty slices, which hold no memory of the old arrays."""
    v = None if layer.v is None else layer.v[:, :0].copy()
    return replace(layer, q=layer.q[:, :0].copy(), k=layer.k[:, :0].copy(), v=v, lse=layer.lse[:, :0].copy())


def user_error(error: Exception) -> dict[str, str] | None:
    """The argument and message of an error that the user can correct; None for a bug of ours."""
    if isinstance(error, (QuestionError, ModelError, TraceError)):
        first = str(error).split(" ", 1)[0]
        argument = first if first in ("text", "model", "mask", "scale") else "text"
        return {"argument": argument, "message": str(error)}
    if isinstance(error, OSError):
        named = error.filename and error.strerror
        line = f"{os.fspath(error.filename)}: {error.strerror}" if named else str(error)
        return {"argument": "file", "message": line}
    if isinstance(error, MemoryError):
        return {"argument": "text", "message": "text must fit in memory, and this one doesn't; take a shorter one"}
    return None
