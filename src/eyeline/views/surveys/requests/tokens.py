"""A head's looks by the looking token's type and position: its rows of tokens.parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eyeline.views.page.requests.request import Request
from eyeline.views.surveys.requests.request import AskedSurvey, asked, plain
from eyeline.views.surveys.row_groups import opened

_COLUMNS = ("type", "position", "count", "entropy", "distance", "received", "to")


def answer(surveys: Sequence[AskedSurvey], request: Request) -> dict[str, Any]:
    """The columns, as lists of the same length."""
    at = asked(surveys, request)
    file, where = opened(at.survey.folder / "tokens.parquet"), {"layer": at.layer, "head": at.head}
    found: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for number in file.groups(where):
        rows = file.rows(number, where, _COLUMNS)
        for name in _COLUMNS:
            found[name] += plain(rows[name].to_pylist())
    return found
