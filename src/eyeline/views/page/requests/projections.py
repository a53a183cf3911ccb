"""The projections of a head: the vectors around its layer's attention, and the model's matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.traces import Trace, TraceError
from eyeline.traces.projections import Projections
from eyeline.views.page.requests.request import (
    AskedPage,
    Reply,
    Request,
    RequestError,
    head_of,
    layer_of,
    trace_of,
)
from eyeline.words import worded

_LARGEST = float(np.finfo(np.float16).max)
#: The arrays that stay in float32 where the others are rounded: small ones.
_WHOLE = ("lengths", "rotary")
#: The arrays of a reply, in order; those that a model doesn't have are left out.
_ARRAYS = (
    *("x", "keys_x", "residual", "added", "lengths", "W_q", "b_q", "W_k", "b_k", "W_v", "b_v", "W_o", "b_o"),
    *("rotary", "q_norm", "k_norm", "words", "positions"),
)


def answer(page: AskedPage, request: Request) -> Reply:
    """The vectors and matrices of a head. With `dtype: "float16"` they are rounded, unless one is too large for it."""
    trace = trace_of(page, request)
    dtype = request.get("dtype", "float32")
    if dtype not in ("float32", "float16"):
        raise RequestError("dtype", worded("dtype must be float32 or float16, got {dtype!r:.40}", dtype=dtype))
    try:
        found = trace.projections(layer_of(trace, request), head_of(trace, request))
    except TraceError as error:
        raise RequestError("head", str(error)) from None
    named = dict(_arrays_of(found))
    half = dtype == "float16" and not any(np.abs(array).max(initial=0) > _LARGEST for array in named.values())
    reply: dict[str, Any] = {
        "dtype": "float16" if half else "float32",
        "arrays": list(named),
        "shapes": {name: list(array.shape) for name, array in named.items()},
        "bias_length": found.bias_length,
        "norm_before": found.norm_before,
        "norm_after": found.norm_after,
        "norm_embedded": found.norm_embedded,
        "epsilon": found.epsilon,
    }
    return reply, [array.astype("<f2" if half and name not in _WHOLE else "<f4") for name, array in named.items()]


def entry(trace: Trace) -> list[list[int]] | str | None:
    """The header's entry: the heads whose projections can be requested, "all", or null for none."""
    if trace.inputs is None:
        return None
    heads = trace.inputs.heads
    return "all" if heads == "all" else [list(place) for place in heads]


def requests(traces: Sequence[Trace], heads: Sequence[tuple[int, int, int]]) -> list[dict[str, Any]]:
    """The requests whose replies a file stores, for heads as (trace, layer, head): of those that can be answered."""
    found: list[dict[str, Any]] = []
    for number, layer, head in dict.fromkeys(heads):
        kept = traces[number].inputs
        if kept is not None and (kept.heads == "all" or (layer, head) in kept.heads):
            place = {"trace": number, "layer": layer, "head": head}
            found.append({"kind": "projections", **place, "dtype": "float16"})
    return found


def _arrays_of(found: Projections) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in _ARRAYS:
        array = getattr(found, name)
        same = array is found.x and name != "x"  # the page takes x for an array that isn't there
        if array is not None and not same:
            yield name, array
