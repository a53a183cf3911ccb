"""The positions of a trace's model: vectors of the first positions, or the angles of rotary ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.traces import Trace
from eyeline.views.page.requests.request import AskedPage, Reply, Request, trace_of, whole

#: The largest number of positions whose vectors are sent.
MOST = 64
#: What a file holds of vectors: positions, coordinates, and the bits of a number's fraction.
STORED_POSITIONS, STORED_COORDINATES, STORED_BITS = 32, 128, 4
_FRACTION = 10  # bits, of a float16


def answer(page: AskedPage, request: Request) -> Reply:
    """The kind, null if it isn't known; and its numbers.

    With vectors: `positions`, (P, C), the first P positions (64) and C coordinates (all), and `cosines`, (P, P), of the
    whole vectors without their mean over these P positions; both float16. With rotary positions: the angles, (D/2,).
    With `brief`, as for a file, there are fewer positions and coordinates, and their numbers are rounded.
    """
    trace = trace_of(page, request)
    found = trace.placing
    if found is None:
        return {"positions": None}, []
    if found.kind == "rotary":
        speeds = found.numbers.astype("<f4", copy=False)
        return {"positions": "rotary", "shape": list(speeds.shape), "dtype": "float32", "arrays": ["speeds"]}, [speeds]
    brief = whole(request, "brief", 0, 1) if "brief" in request else 0
    vectors = found.numbers[: STORED_POSITIONS if brief else MOST]
    shown = vectors[:, :STORED_COORDINATES] if brief else vectors
    arrays = [one.astype("<f2") for one in (shown, cosines(vectors))]
    reply = {"positions": found.kind, "shape": list(shown.shape), "width": vectors.shape[1], "dtype": "float16"}
    return reply | {"arrays": ["positions", "cosines"]}, [_rounded(one) for one in arrays] if brief else arrays


def entry(trace: Trace) -> str | None:
    """The kind, for the header's entry of a trace; null if it isn't known."""
    return None if trace.placing is None else trace.placing.kind


def stored_positions(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """The requests whose replies a file holds if it has room: for each model, of its first trace."""
    first = {
        trace.model.name: number for number, trace in reversed(list(enumerate(traces))) if trace.placing is not None
    }
    return [{"kind": "positions", "trace": number, "brief": 1} for number in sorted(first.values())]


def cosines(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each two vectors without their mean, (P, P).

    >>> cosines(np.array([[1, 2], [3, 2], [2, 2]], np.float32)).tolist()
    [[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    centred = vectors - vectors.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    directions = centred / np.where(lengths > 0, lengths, 1)
    return np.asarray(directions @ directions.T, np.float32)


def _rounded(halves: NDArray[Any]) -> NDArray[Any]:
    """Numbers rounded to fewer bits, which compress to less; of float16."""
    dropped = _FRACTION - STORED_BITS
    bits = halves.view("<u2").astype(np.uint32)
    return ((bits + (1 << (dropped - 1)) >> dropped) << dropped).astype("<u2").view("<f2")
