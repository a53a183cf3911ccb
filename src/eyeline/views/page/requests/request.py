"""What every kind of request is answered with: the page that is asked, checks of a request's keys, the error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from eyeline.traces import Trace
from eyeline.views.page.requests.errors import RequestError as RequestError
from eyeline.views.page.requests.errors import is_number as is_number
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.mattering import Effects
    from eyeline.views.page.requests.runs import PageRuns

Request = Mapping[str, Any]
#: A reply, and its arrays in order; they are sent little-endian and in C order.
Reply = tuple[dict[str, Any], Sequence[NDArray[Any]]]


class AskedPage(Protocol):
    """The page that is asked.

    Attributes:
        traces: its traces.
        runs: the models that it runs texts with again.
        effects: what was found when heads were cut.
    """

    traces: list[Trace]
    runs: PageRuns
    effects: list[Effects]

    def add(self, trace: Trace) -> int:
        """Add a trace; returns its index."""

    def entry(self, trace: Trace) -> dict[str, Any]:
        """The header's entry for a trace."""


Answering = Callable[[AskedPage, Request], Reply]
Asked = TypeVar("Asked")


def reply_to(
    request: object, page: Asked, kinds: Mapping[str, Callable[[Asked, Request], Reply]]
) -> tuple[dict[str, Any], list[memoryview]]:
    """Answer a request of a page, by its kind: the reply, and the bytes of its arrays.

    Raises:
        RequestError: if it can't be answered.
    """
    if not isinstance(request, Mapping):
        raise RequestError("request", worded("request must be an object, got {type}", type=type(request).__name__))
    number, kind = request.get("id"), request.get("kind")
    if not is_number(number):
        raise RequestError("id", worded("id must be a number, got {number!r:.40}", number=number))
    if not isinstance(kind, str) or kind not in kinds:
        raise RequestError(
            "kind", worded("kind must be one of {kinds}, got {kind!r:.40}", kinds=", ".join(kinds), kind=kind)
        )
    reply, arrays = kinds[kind](page, request)
    return {"id": number, "kind": kind, **reply}, [np.ascontiguousarray(array).data.cast("B") for array in arrays]


def whole(request: Request, name: str, least: int, most: int) -> int:
    """An integer of a request, checked; JSON may write it 3.0."""
    value: Any = request.get(name)
    if not is_number(value) or value != int(value) or not least <= value <= most:
        raise RequestError(
            name,
            worded(
                "{name} must be a whole number from {least} to {most}, got {value!r:.40}",
                name=name,
                least=least,
                most=most,
                value=value,
            ),
        )
    return int(value)


def span(request: Request, name: str, count: int) -> tuple[int, int]:
    """The indices [first, last) of a request, checked: within 0 to `count`, and not empty."""
    value = request.get(name)
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        first, last = value
        if all(is_number(place) and place == int(place) for place in value) and 0 <= first < last <= count:
            return int(first), int(last)
    raise RequestError(
        name,
        worded(
            "{name} must be [first, last) within 0 to {count}, got {value!r:.60}", name=name, count=count, value=value
        ),
    )


def trace_of(page: AskedPage, request: Request) -> Trace:
    """The trace that a request names."""
    return page.traces[whole(request, "trace", 0, len(page.traces) - 1)]


def layer_of(trace: Trace, request: Request) -> int:
    """The layer that a request names."""
    return whole(request, "layer", 0, trace.model.layers - 1)


def head_of(trace: Trace, request: Request) -> int:
    """The head that a request names."""
    return whole(request, "head", 0, trace.model.heads - 1)
