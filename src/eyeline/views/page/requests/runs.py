"""The models that a page runs its texts with once more: with edits, and for what comes next."""

from __future__ import annotations

import threading
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eyeline.answers.next_words import NextWords
from eyeline.answers.question import asked_model
from eyeline.models import Tokens
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.copies import find
from eyeline.traces import ReadText, TextModel, Trace
from eyeline.traces.own_model import OwnModel
from eyeline.views.page.effects_runs import EffectsRun
from eyeline.views.page.requests.errors import RequestError
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.traces.tokenized_text import TokenizedText


class PageRuns:
    """The models of a page's traces, one run at a time.

    Args:
        models: loaded models, by the names that traces have of them. Others are loaded when they are needed, if they
            are in the catalogue and on this machine.

    Attributes:
        models: the loaded ones.
        lock: held while a model runs: two at once would compete for processors.
        going_on: the texts that are gone on with, by their traces' numbers.
        effects: the effects that are computed, by their trace's number and the measured token.
    """

    def __init__(self, models: Mapping[str, TextModel] | None = None) -> None:
        self.models: MutableMapping[str, TextModel] = dict(models or {})
        self.lock = threading.RLock()
        self.going_on: dict[int, NextWords] = {}
        self.effects: dict[tuple[int, int | None], EffectsRun] = {}

    def can(self, trace: Trace) -> bool:
        """Whether a text can be run again: as trained, with a model that is here, and no encoder-decoder's."""
        return (trace.name == "as trained" or bool(trace.edits)) and self._is_here(trace.model.name)

    def model(self, trace: Trace) -> OwnModel:
        """The model of a trace.

        Raises:
            RequestError: if it isn't here, or isn't one that Eyeline runs.
        """
        name = trace.model.name
        if not self.can(trace):
            raise RequestError(
                "trace",
                worded(
                    "trace must be of a text run as trained, by a model that is here, got {trace} of {name}",
                    trace=trace.name,
                    name=name,
                ),
            )
        with self.lock:
            model = self._loaded(name)
            if model is None:
                model = self.models[name] = asked_model(name)
        if not isinstance(model, OwnModel):
            raise RequestError(
                "trace", worded("trace must be of an encoder or a decoder that Eyeline runs, got {name}", name=name)
            )
        return model

    def read(self, trace: Trace) -> ReadText:
        """The trace's text as its model takes it: with the same tokens, also those that were generated."""
        model, line = self.model(trace), trace.queries
        like = model.read(line.text)
        if tuple(like.tokens.ids) == line.ids:
            return replace(like, prompt=line.prompt)
        return replace(model.with_tokens(tokens_of(line), like), prompt=line.prompt)

    def _loaded(self, name: str) -> TextModel | None:
        """The loaded model of a name that traces have; a session knows models by what it was given: a folder."""
        return self.models.get(name) or next((one for one in self.models.values() if one.name == name), None)

    def _is_here(self, name: str) -> bool:
        loaded = self._loaded(name)
        if loaded is not None:
            return isinstance(loaded, OwnModel)
        entry = CATALOGUE.get(name)
        return entry is not None and find(entry) is not None


def tokens_of(line: TokenizedText) -> Tokens:
    """The tokens of a trace's text."""
    spans: list[Any] = [span or (0, 0) for span in line.spans]
    special = [span is None for span in line.spans]
    return Tokens(line.text, list(line.ids), list(line.pieces), spans, special, line.unknown)
