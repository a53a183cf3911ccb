"""A head's row of heads.parquet: its kinds, measures and distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eyeline.surveys import SurveyError
from eyeline.surveys.tables import heads_schema
from eyeline.views.page.requests.request import Request
from eyeline.views.surveys.requests.request import AskedSurvey, asked, plain
from eyeline.views.surveys.row_groups import opened


def answer(surveys: Sequence[AskedSurvey], request: Request) -> dict[str, Any]:
    """The `row`, by the columns' names."""
    at = asked(surveys, request)
    path = at.survey.folder / "heads.parquet"
    file, where = opened(path), {"layer": at.layer, "head": at.head}
    for number in file.groups(where):
        for row in file.rows(number, where, heads_schema().names).to_pylist():
            return {"row": {name: plain(value) for name, value in row.items()}}
    raise SurveyError(f"{path} must have a row for L{at.layer}H{at.head}, and has none; measure it again")
