"""What a score is made of: what was written before at the query's token and at the key's."""

from __future__ import annotations

from typing import Any

import numpy as np

from eyeline.answers.score_sources import why
from eyeline.models.residual_stream import ResidualSource
from eyeline.traces.errors import QuestionError
from eyeline.views.page.requests.request import (
    AskedPage,
    Reply,
    Request,
    RequestError,
    head_of,
    layer_of,
    trace_of,
    whole,
)

#: How many sources, and pairs of them, are named.
MOST = 6


def answer(page: AskedPage, request: Request) -> Reply:
    """The score, and its largest terms: `[source, value]` for each side, `[source, source, value]` for pairs, where a
    source is `[name, layer, head]`; and of those that are left out how many they are and their sum."""
    trace = trace_of(page, request)
    count = len(trace.queries)
    place = (whole(request, name, 0, count - 1) for name in ("query", "key"))
    model = None if trace.network is not None else page.runs.model(trace).model
    try:
        found = why(trace, layer_of(trace, request), head_of(trace, request), *place, model=model)
    except QuestionError as error:
        raise RequestError("trace", str(error)) from None
    pairs = found.largest(MOST)
    named = [[_named(term.query), _named(term.key), _short(term.value)] for term in pairs]
    rest = float(found.table.sum()) - sum(term.value for term in pairs)
    return {
        "score": _short(found.score),
        "same_place": _short(found.same_place),
        "scheme": found.positions,
        "query_sources": _largest(found.query_sources, found.by_query_source),
        "key_sources": _largest(found.key_sources, found.by_key_source),
        "pairs": {"largest": named, "others": found.table.size - len(named), "sum": _short(rest)},
    }, []


def _largest(sources: tuple[ResidualSource, ...], values: Any) -> dict[str, Any]:
    order = np.argsort(-np.abs(values), kind="stable")
    drawn, rest = order[:MOST].tolist(), order[MOST:]
    named = [[_named(sources[number]), _short(float(values[number]))] for number in drawn]
    return {"largest": named, "others": len(rest), "sum": _short(float(values[rest].sum()))}


def _named(source: ResidualSource) -> list[Any]:
    """A source's name without its layer, such as "MLP_norm_bias" or "head", its layer and its head."""
    if source.head is not None:
        return ["head", source.layer, source.head]
    name = source.name if source.layer is None else source.name.removeprefix(f"L{source.layer} ")
    return [name.replace(" ", "_"), source.layer, None]


def _short(value: float) -> float:
    return float(f"{value:.6g}")
