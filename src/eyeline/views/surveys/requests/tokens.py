"""A head's looks by the looking token's type and position: its rows of tokens.parquet."""

from __future__ import annotations

from typing import Any

from eyeline.views.page.requests.request import Reply, Request
from eyeline.views.surveys.requests.request import AskedPage, asked, plain, refusing
from eyeline.views.surveys.row_groups import opened

_COLUMNS = ("type", "position", "count", "entropy", "distance", "received", "to")


@refusing
def answer(page: AskedPage, request: Request) -> Reply:
    """The columns, as lists of the same length."""
    at = asked(page, request)
    file, where = opened(at.survey.folder / "tokens.parquet"), {"layer": at.layer, "head": at.head}
    found: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for number in file.groups(where):
        rows = file.rows(number, where, _COLUMNS)
        for name in _COLUMNS:
            found[name] += plain(rows[name].to_pylist())
    return found, []
