"""A survey's heads as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eyeline.version import VERSION
from eyeline.views.csv_tables import table
from eyeline.views.labels import printable

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey


def survey_csv(answer: Survey) -> str:
    """A row for each head: its kinds and measures, with empty cells where there was nothing to measure; and what it is
    of: the model, the number of documents and of tokens, and the version."""
    rows = answer.rows()
    columns = list(rows[0]) if rows else ["layer", "head"]
    counts = answer.info["counts"]
    source = [printable(answer.model.name), counts["documents"], counts["tokens"], VERSION]
    cells = ([*({**row, "kinds": "; ".join(row["kinds"])}.values()), *source] for row in rows)
    return table([*columns, "model", "documents", "tokens", "version"], cells)
