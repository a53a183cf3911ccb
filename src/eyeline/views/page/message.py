"""The messages to a page: its header, and the answers to its requests, the same for every host."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.traces import Trace, TraceError
from eyeline.version import VERSION

#: The version of the header's format.
SCHEMA = "eyeline.page/1"
#: The largest number of cells in a requested picture.
CELLS = 1 << 20
#: The largest number of characters in a title.
_TITLE = 80

Answer = tuple[dict[str, Any], list[memoryview]]


class RequestError(ValueError):
    """Raised for a request that can't be answered.

    Attributes:
        argument: the invalid key of the request.
        message: the rule for its value, and the value.
    """

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument
        self.message = message

    def reply(self, request: object) -> dict[str, Any]:
        """The reply that reports the error."""
        number = request.get("id") if isinstance(request, Mapping) else None
        known = _is_number(number)
        return {"id": number if known else None, "error": {"argument": self.argument, "message": self.message}}


class PageMessages:
    """The messages to one page, made from its traces and its initial state.

    Args:
        traces: one or more traces; empty if they are added later.
        state: its initial state, as docs/page-format.md describes it; the rest takes its defaults.

    Attributes:
        traces: its traces.
        state: its initial state.
    """

    def __init__(self, traces: Sequence[Trace], state: Mapping[str, Any] | None = None) -> None:
        self.traces = list(traces)
        self.state = {**self._usual_state(), **(state or {})}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.traces)} traces: {', '.join(map(repr, self.traces))}>"

    def header(self) -> dict[str, Any]:
        """The header, as plain data. docs/page-format.md describes each key."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "title": self.title,
            "can": {"run": False, "picture": True, "models": []},
            "state": dict(self.state),
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

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Answer a request of the page: the reply, and the bytes of its arrays, little-endian and in C order.

        Raises:
            RequestError: if it can't be answered.
        """
        if not isinstance(request, Mapping):
            raise RequestError("request", f"request must be an object, got {type(request).__name__}")
        number, kind = request.get("id"), request.get("kind")
        if not _is_number(number):
            raise RequestError("id", f"id must be a number, got {number!r:.40}")
        if not isinstance(kind, str) or kind not in _ANSWERS:
            raise RequestError("kind", f"kind must be one of {', '.join(_ANSWERS)}, got {kind!r:.40}")
        reply, arrays = _ANSWERS[kind](self, request)
        return {"id": number, "kind": kind, **reply}, [_bytes(array) for array in arrays]

    def _usual_state(self) -> dict[str, Any]:
        last = self.traces[0].model.layers - 1 if self.traces else 0
        return {"view": "sentence", "trace": 0, "layer": last, "head": "mean", "token": None}

    def _trace(self, request: Mapping[str, Any]) -> Trace:
        return self.traces[_whole(request, "trace", 0, len(self.traces) - 1)]

    def _head(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        trace = self._trace(request)
        layer = trace.layer(_whole(request, "layer", 0, trace.model.layers - 1))
        head = _whole(request, "head", 0, trace.model.heads - 1)
        group = trace.key_head(head)
        named = {"q": layer.q[head], "k": layer.k[group], "lse": layer.lse[head]}
        if layer.v is not None:
            named["v"] = layer.v[group]
        N, D = named["q"].shape
        shape = {"N": N, "M": len(named["k"]), "D": D, "E": trace.model.value_dim}
        arrays = [array.astype("<f4", copy=False) for array in named.values()]
        reply: dict[str, Any] = {"shape": shape, "dtype": "float32", "arrays": list(named)}
        seen = layer.allowed.of_head(head)
        if seen is not None:
            reply["arrays"].append(MASK_ARRAYS[layer.allowed.kind])
            reply["mask_shape"] = list(seen.shape)
            arrays.append(seen.astype("<i4", copy=False) if layer.allowed.kind == "bounds" else seen)
        return reply, arrays

    def _overview(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        measures = self._trace(request).measures
        return {"shape": list(measures.pictures.shape)}, [measures.pictures, measures.most.astype("<f4", copy=False)]

    def _picture(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        trace = self._trace(request)
        layer = _whole(request, "layer", 0, trace.model.layers - 1)
        head = _whole(request, "head", 0, trace.model.heads - 1)
        queries = _span(request, "queries", len(trace.queries))
        keys = _span(request, "keys", len(trace.across))
        rows = _whole(request, "rows", 1, queries[1] - queries[0])
        columns = _whole(request, "columns", 1, keys[1] - keys[0])
        if rows * columns > CELLS:
            raise RequestError("rows", f"rows × columns must be at most {CELLS}, got {rows} × {columns}")
        try:
            picture = trace.pooled(layer, head, queries, keys, rows, columns)
        except TraceError as error:  # errors that the checks above don't cover
            raise RequestError("request", str(error)) from None
        return {"shape": [rows, columns]}, [picture.astype("<f4", copy=False)]


_ANSWERS: dict[str, Callable[[PageMessages, Mapping[str, Any]], tuple[dict[str, Any], list[NDArray[Any]]]]] = {
    "head": PageMessages._head,
    "overview": PageMessages._overview,
    "picture": PageMessages._picture,
}
#: The name of a mask's array, by the mask's kind.
MASK_ARRAYS = {"bounds": "bounds", "bits": "allowed"}


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
        "layers": [{"scale": layer.scale, "mask": {"kind": layer.allowed.kind}} for layer in trace.layers],
        "entropy": _rounded(found.entropy),
        "distance": None if found.distance is None else _rounded(found.distance),
        "aside": _rounded(found.aside),
        "picture": list(found.pictures.shape[2:]),
    }


def _rounded(values: NDArray[Any]) -> list[list[float]]:
    """Numbers per layer and head, rounded to five digits."""
    return [[float(f"{value:.5g}") for value in row] for row in values]


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(request: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """An integer of a request, checked; JSON may write it 3.0."""
    value: Any = request.get(name)
    if not _is_number(value) or value != int(value) or not least <= value <= most:
        raise RequestError(name, f"{name} must be a whole number from {least} to {most}, got {value!r:.40}")
    return int(value)


def _span(request: Mapping[str, Any], name: str, count: int) -> tuple[int, int]:
    value = request.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        first, last = value
        if all(_is_number(place) and place == int(place) for place in value) and 0 <= first < last <= count:
            return int(first), int(last)
    raise RequestError(name, f"{name} must be [first, last) within 0 to {count}, got {value!r:.60}")
