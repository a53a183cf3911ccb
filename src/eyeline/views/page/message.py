"""The messages to a page: its header, and the answers to its requests, the same for every host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from numpy.typing import NDArray

from eyeline.answers.behaviour.trace_kinds import kinds_of
from eyeline.answers.mattering import Effects
from eyeline.answers.telling import TellingHead, telling
from eyeline.traces import TextModel, Trace
from eyeline.traces.positions import index_below
from eyeline.version import VERSION
from eyeline.views.kept_growth import kept
from eyeline.views.page.edited_layers import as_sent
from eyeline.views.page.requests import KINDS, edited, effects, positions, products, projections
from eyeline.views.page.requests.request import reply_to
from eyeline.views.page.requests.runs import PageRuns

#: The version of the header's format.
SCHEMA = "eyeline.page/1"
#: The largest number of characters in a title.
_TITLE = 80
#: The largest number of tokens of a trace whose heads are labelled: that takes time in the square of it.
_LABELLED = 8192

Answer = tuple[dict[str, Any], list[memoryview]]


class PageMessages:
    """The messages to one page, made from its traces and its initial state.

    Args:
        traces: one or more traces; empty if they are added later.
        state: its initial state, as docs/page-format.md describes it; the rest takes its defaults.
        models: loaded models of the traces, by name, with which the page may run their texts again.

    Attributes:
        traces: its traces.
        runs: the models that it runs texts with again.
        state: its initial state. Where no head is given, it is at the telling head, with a word pinned: that of the
            given layer, or for the given token.
        opening: the telling head at which the page opens; None if a head was given, or no word looks at another.
        effects: what was found when the heads of its traces were cut; a file holds it.
        stored: the requests whose replies a file holds as they are, without ids.
        lesson: the traces of the lesson, by name, if the page has one.
    """

    def __init__(
        self,
        traces: Sequence[Trace],
        state: Mapping[str, Any] | None = None,
        models: Mapping[str, TextModel] | None = None,
    ) -> None:
        self.traces = list(traces)
        self.runs = PageRuns(models)
        self.stored: list[dict[str, Any]] = []
        self.effects: list[Effects] = []
        self.lesson: dict[str, int] | None = None
        self.opening, usual = self._opening(state or {})
        self.state = {**usual, **(state or {})}

    def __repr__(self) -> str:
        if len(self.traces) == 1:
            return f"<{type(self).__name__} of{repr(self.traces[0]).removeprefix('<Trace of')}"
        named = [f"{trace.queries.text[:40]!r} ({trace.model.name}, {trace.name})" for trace in self.traces]
        return f"<{type(self).__name__} of {len(named) or 'no'} traces{': ' * bool(named)}{', '.join(named)}>"

    def header(self) -> dict[str, Any]:
        """The header, as plain data. docs/page-format.md describes each key."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "title": self.title,
            "can": {"run": False, "picture": True, "models": [], "edit": self._editable()},
            "state": dict(self.state),
            "lesson": self.lesson,
            "opening": None if self.opening is None else _opening_entry(self.opening),
            "growth": kept(),
            "effects": [[self.traces.index(one.trace), effects.asked_token(one)] for one in self.effects],
            "traces": [trace_entry(trace) for trace in self.traces],
        }

    @property
    def title(self) -> str:
        """The first text, shortened."""
        text = " ".join(self.traces[0].queries.text.split()) if self.traces else ""
        return (text if len(text) <= _TITLE else text[: _TITLE - 1] + "…") or "Eyeline"

    def add(self, trace: Trace) -> int:
        """Add a trace; returns its index."""
        self.traces.append(trace)
        return len(self.traces) - 1

    def entry(self, trace: Trace) -> dict[str, Any]:
        """The header's entry for a trace."""
        return trace_entry(trace)

    def _editable(self) -> list[str]:
        """The models with which texts can be run again, with edits."""
        return list(dict.fromkeys(trace.model.name for trace in self.traces if self.runs.can(trace)))

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Answer a request of the page: the reply, and the bytes of its arrays, little-endian and in C order.

        Raises:
            RequestError: if it can't be answered.
        """
        return reply_to(request, self, KINDS)

    def _opening(self, given: Mapping[str, Any]) -> tuple[TellingHead | None, dict[str, Any]]:
        """The telling head at which a state opens that leaves the head open, and the usual state."""
        usual: dict[str, Any] = {"view": "sentence", "trace": 0, "layer": 0, "head": "mean", "token": None}
        if not self.traces:
            return None, usual
        # Of an encoder-decoder, what is read while something is written says most.
        usual["trace"] = next((place for place, trace in enumerate(self.traces) if trace.kind == "cross"), 0)
        asked = index_below(given.get("trace", usual["trace"]), len(self.traces))
        trace = self.traces[asked or 0]
        usual["layer"] = trace.model.layers - 1
        N = len(trace.queries)
        if max(N, len(trace.across)) > _LABELLED:  # its matrix is there at once, and a line of it says little
            return None, usual | {"view": "matrix", "head": 0}
        if "head" in given:
            return None, usual
        found = telling(
            trace, index_below(given.get("token"), N), layer=index_below(given.get("layer"), trace.model.layers)
        )
        if found is None:
            return None, usual
        return found, usual | {"layer": found.layer, "head": found.head, "token": found.token}


def trace_entry(trace: Trace) -> dict[str, Any]:
    """The header's entry for a trace."""
    sizes, found = trace.model, trace.measures
    return {
        "name": trace.name,
        "model": {
            "name": sizes.name,
            "layers": sizes.layers,
            "heads": sizes.heads,
            "key_heads": sizes.key_heads,
            "head_dim": sizes.head_dim,
            "value_dim": sizes.value_dim,
        },
        "kind": trace.kind,
        "queries": trace.queries.entry(),
        "keys": None if trace.keys is None else trace.keys.entry(),
        "values": trace.has_values,
        "layers": [{"scale": layer.scale, "mask": {"kind": as_sent(layer).allowed.kind}} for layer in trace.layers],
        "entropy": _rounded(found.entropy),
        "distance": None if found.distance is None else _rounded(found.distance),
        "aside": _rounded(found.aside),
        "kinds": kinds_of(trace) if max(len(trace.queries), len(trace.across)) <= _LABELLED else None,
        "picture": list(found.pictures.shape[2:]),
        "vectors": products.has_products(trace),
        "projections": projections.entry(trace),
        "positions": positions.entry(trace),
        "image": None if trace.image is None else trace.image.entry,
        "edits": edited.entry(trace),
    }


def _opening_entry(opening: TellingHead) -> dict[str, Any]:
    return asdict(opening) | {"weight": float(f"{opening.weight:.5g}")}


def _rounded(values: NDArray[Any]) -> list[list[float]]:
    """Numbers per layer and head, rounded to five digits."""
    return [[float(f"{value:.5g}") for value in row] for row in values]
