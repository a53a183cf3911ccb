"""The state of one `eyeline view`: its page, models and files, and its traces."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eyeline.answers import QuestionError
from eyeline.answers.question import asked_model, read_text
from eyeline.models import ModelError
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.copies import find
from eyeline.serving.jobs import Job, Jobs
from eyeline.serving.refusal import RefusalError
from eyeline.serving.requests import RunRequest
from eyeline.serving.source import InputFile
from eyeline.surveys import SurveyError
from eyeline.traces import Cancelled, Keep, LayerTrace, TextModel, Trace, TraceError, load_trace, record_text
from eyeline.traces.keep import short
from eyeline.traces.own_encoder_decoder import only_decoder_is_causal
from eyeline.traces.parts import records_parts
from eyeline.views.page.message import trace_entry
from eyeline.views.page.requests.request import RequestError
from eyeline.words import system_message, worded

if TYPE_CHECKING:
    from eyeline.traces.text_model import AnyModel
    from eyeline.views.page import Page

#: The largest total size in bytes of the traces kept; the oldest are dropped first.
KEPT = 1 << 30
#: The most tokens of a text whose layers' inputs are kept for its projections: they double a trace's size.
PROJECTED = 2048


class Session:
    """A page, with the models that it may run and the files that it may open.

    Args:
        page: the page.
        models: the allowed names, the default first.
        files: the files that can be opened, by index.
        ready: the models that are already loaded, by name.
        kept: the largest total size in bytes of the traces to keep.
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
        self._ready = page.runs.models
        self._ready.update({name: asked_model(model) for name, model in (ready or {}).items()})
        self._kept = kept
        self._forgotten: set[int] = set()

    def header(self) -> dict[str, Any]:
        """The page's header, with the server's abilities."""
        header = self.page.header()
        files = [{"name": file.name, "kind": file.kind} for file in self.files]
        can = {"run": True, "picture": True, "models": list(self.models), "fetch": self._to_fetch(), "files": files}
        return {**header, "can": {**header["can"], **can}}

    def answer(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[memoryview]]:
        """Answer a request of the page. Raises RefusalError if it can't be answered."""
        for name in ("trace", "other"):
            place = request.get(name)
            if isinstance(place, (int, float)) and place in self._forgotten:
                raise RefusalError(
                    410,
                    name,
                    worded(
                        "{name} must be one that is kept, and this one had to make room; run its text anew", name=name
                    ),
                )
        try:
            answer = self.page.answer(request)
        except RequestError as error:
            raise RefusalError(400, error.argument, error.message) from None
        if request.get("kind") == "edited":
            self._make_room(len(self.page.traces) - 1)
        return answer

    def start(self, request: RunRequest) -> Job:
        """Start to run a text or open a file. Raises RefusalError while another job runs."""
        return self.jobs.start(lambda job: self._run(request, job))

    def close(self) -> None:
        """Stop the running job."""
        self.jobs.close()

    def add(self, traces: Sequence[Trace]) -> int:
        """Add traces to the page, and make room for them; returns the index of the last."""
        place = [self.page.add(trace) for trace in traces][-1]
        self._make_room(place)
        return place

    def model(self, name: str, job: Job) -> TextModel:
        """One of the models, loaded once; the job says what is fetched."""
        if name not in self._ready:
            self._ready[name] = asked_model(name, progress=job.say)
        return self._ready[name]

    def _run(self, request: RunRequest, job: Job) -> dict[str, Any]:
        traces = self._traces(request, job)
        if job.cancelled():
            raise Cancelled
        return {"trace": self.add(traces), "entry": trace_entry(traces[-1])}

    def _traces(self, request: RunRequest, job: Job) -> list[Trace]:
        """The traces of a request; the page shows the last, which of an encoder-decoder is its cross-attention."""
        file = None if request.file is None else self.files[request.file]
        if file is not None and file.kind == "trace":
            file.check()
            return [load_trace(file.path)]
        text = request.text if file is None else file.text()
        assert text is not None
        model = self.model(request.model, job)
        job.layer_done(0, model.layers)
        read = read_text(model, text)
        keep = kept_of(len(read.tokens))
        if records_parts(model):
            if request.mask is not None or request.scale is not None:
                raise QuestionError(only_decoder_is_causal(request.scale if request.mask is None else request.mask))
            return model.record_parts(text, keep, cancelled=job.cancelled, layer_done=job.layer_done).traces
        return [
            record_text(
                model,
                read,
                keep=keep,
                mask=request.mask,
                scale=request.scale,
                cancelled=job.cancelled,
                layer_done=job.layer_done,
            )
        ]

    def _to_fetch(self) -> dict[str, int]:
        """The models that would have to be downloaded first, with their sizes in megabytes."""
        known = [CATALOGUE[name] for name in self.models if name in CATALOGUE and name not in self._ready]
        return {entry.name: entry.megabytes for entry in known if find(entry) is None}

    def _make_room(self, newest: int) -> None:
        """Drop the arrays of the oldest traces until the size is within the limit; their header entries stay."""
        traces = self.page.traces
        sizes = [bytes_of(trace) for trace in traces]
        for place in range(newest):
            if sum(sizes) <= self._kept:
                return
            if place not in self._forgotten:
                self._forgotten.add(place)
                emptied = tuple(map(_emptied, traces[place].layers))
                traces[place] = replace(traces[place], layers=emptied, vectors=None, inputs=None)
                sizes[place] = 0


def kept_of(tokens: int) -> Keep:
    """What a page keeps of a text of so many tokens."""
    return Keep(vectors=short(tokens), measures=True, input=tokens <= PROJECTED)


def bytes_of(trace: Trace) -> int:
    """The size of a trace's arrays in bytes."""
    arrays = [(layer.q, layer.k, layer.v, layer.lse) for layer in trace.layers]
    others = 0 if trace.inputs is None else trace.inputs.nbytes
    others += 0 if trace.vectors is None else trace.vectors.nbytes
    return others + sum(array.nbytes for layer in arrays for array in layer if array is not None)


def _emptied(layer: LayerTrace) -> LayerTrace:
    """A layer without its arrays: copies of empty slices, which don't keep the old arrays alive."""
    v = None if layer.v is None else layer.v[:, :0].copy()
    return replace(layer, q=layer.q[:, :0].copy(), k=layer.k[:, :0].copy(), v=v, lse=layer.lse[:, :0].copy())


def user_error(error: Exception) -> dict[str, str] | None:
    """The argument and message of an error that the user can correct; None for a bug of ours."""
    if isinstance(error, (QuestionError, ModelError, TraceError, SurveyError)):
        first = str(error).split(" ", 1)[0]
        argument = first if first in ("text", "model", "mask", "scale") else "text"
        return {"argument": argument, "message": str(error)}
    if isinstance(error, OSError):
        named = error.filename and error.strerror
        line = f"{os.fspath(error.filename)}: {system_message(error)}" if named else str(error)
        return {"argument": "file", "message": line}
    if isinstance(error, MemoryError):
        return {
            "argument": "text",
            "message": worded("text must fit in memory, and this one doesn't; take a shorter one"),
        }
    return None
