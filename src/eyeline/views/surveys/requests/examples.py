"""A head's examples, some at a time: of 100,000 only those that are seen are read and sent."""

from __future__ import annotations

from typing import Any

from eyeline.surveys.folder import EXAMPLES, SurveyFolder
from eyeline.surveys.loading import SORTS
from eyeline.views.page.requests.request import Reply, Request, whole
from eyeline.views.surveys.requests.request import AskedHead, AskedSurveyPage, asked, one_of, plain, refusing
from eyeline.views.surveys.row_groups import opened

#: The most examples in a reply, and the most characters of their tokens.
COUNT, CHARACTERS = 256, 1 << 20
_COLUMNS = (
    *("sort", "rank", "weight", "document", "file", "place", "window", "query", "key"),
    *("tokens", "positions", "weights", "special"),
)


@refusing
def answer(page: AskedSurveyPage, request: Request) -> Reply:
    """Examples by rank, from the `first` on (default: 0), at most `count` of a `sort` (default: of both).

    The reply also has `first`, and in `totals` how many there are of each sort. There are fewer where contexts are very
    long.
    """
    at = asked(page, request)
    sort = one_of(request, "sort", SORTS) if "sort" in request else None
    first = whole(request, "first", 0, 2**31 - 1) if "first" in request else 0
    count = whole(request, "count", 1, COUNT) if "count" in request else COUNT
    totals: dict[str, int] = {}
    found: list[dict[str, Any]] = []
    for name in SORTS:
        totals[name], rows = _rows(at, name, first, count if sort in (name, None) else 0)
        found += rows
    return {"first": first, "totals": totals, "examples": _fitting(found)}, []


def _rows(at: AskedHead, sort: str, first: int, count: int) -> tuple[int, list[dict[str, Any]]]:
    """How many examples of a sort there are, and those of ranks [first, first + count)."""
    if not at.survey.complete:
        table = at.survey.examples(at.layer, at.head, sort, arrow=True)
        return table.num_rows, table.select(list(_COLUMNS)).slice(first, count).to_pylist()
    file, where = opened(SurveyFolder(at.survey.folder), EXAMPLES), at.where | {"sort": sort}
    total, found = 0, []
    for number in file.groups(where):
        size = file.count(number, where)
        start, stop = max(first - total, 0), min(first + count - total, size)
        if start < stop:
            found += file.rows(number, where, _COLUMNS).slice(start, stop - start).to_pylist()
        total += size
    return total, found


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
