"""A head's looks by the looking token's type and position: its rows of tokens.parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eyeline.surveys.folder import TOKENS, SurveyFolder
from eyeline.views.page.requests.request import Reply, Request
from eyeline.views.surveys.requests.request import AskedHead, AskedSurveyPage, asked, plain, refusing
from eyeline.views.surveys.row_groups import opened

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ("type", "position", "count", "entropy", "distance", "received", "to")


@refusing
def answer(page: AskedSurveyPage, request: Request) -> Reply:
    """The columns, as lists of the same length."""
    at = asked(page, request)
    found: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for rows in _tables(at):
        for name in _COLUMNS:
            found[name] += plain(rows.column(name).to_pylist())
    return found, []


def _tables(at: AskedHead) -> Iterator[pa.Table]:
    if not at.survey.complete:
        yield at.survey.tokens(at.layer, at.head, arrow=True)
        return
    file = opened(SurveyFolder(at.survey.folder), TOKENS)
    for number in file.groups(at.where):
        yield file.rows(number, at.where, _COLUMNS)
