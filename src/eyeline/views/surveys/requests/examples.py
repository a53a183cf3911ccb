"""A head's examples, some at a time: of 100,000 only those that are seen are read and sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eyeline.views.page.requests.request import Request, whole
from eyeline.views.surveys.requests.request import AskedSurvey, asked, one_of, plain
from eyeline.views.surveys.row_groups import opened

SORTS = ("largest", "sample")
#: The most examples in a reply, and the most characters of their tokens.
COUNT, CHARACTERS = 256, 1 << 20
_COLUMNS = (
    *("rank", "weight", "document", "file", "place", "window", "query", "key"),
    *("tokens", "positions", "weights", "special"),
)


def answer(surveys: Sequence[AskedSurvey], request: Request) -> dict[str, Any]:
    """Examples of one sort from the `first` on: their `total`, and at most `count` of them, by rank.

    There are fewer where their contexts are very long.
    """
    at = asked(surveys, request)
    where = {"layer": at.layer, "head": at.head, "sort": one_of(request, "sort", SORTS)}
    first = whole(request, "first", 0, 2**31 - 1)
    count = whole(request, "count", 1, COUNT)
    file = opened(at.survey.folder / "examples.parquet")
    found: list[dict[str, Any]] = []
    total = 0
    for number in file.groups(where):
        size = file.count(number, where)
        start, stop = max(first - total, 0), min(first + count - total, size)
        if start < stop:
            found += file.rows(number, where, _COLUMNS).slice(start, stop - start).to_pylist()
        total += size
    return {"first": first, "total": total, "examples": _fitting(found)}


def _fitting(examples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of the examples as a reply holds, at least one."""
    size = 0
    fitting: list[dict[str, Any]] = []
    for one in examples:
        size += sum(map(len, one["tokens"]))
        if fitting and size > CHARACTERS:
            break
        fitting.append({name: plain(value) for name, value in one.items()})
    return fitting
