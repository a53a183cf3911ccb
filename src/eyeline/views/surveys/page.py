"""`SurveyPage`: a page for one survey, or for two and their difference."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyeline.caches import whole
from eyeline.surveys.errors import SurveyError
from eyeline.views.page.requests.request import RequestError, reply_to
from eyeline.views.surveys.header import corpus_name, header_of
from eyeline.views.surveys.requests import KINDS
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.surveys.loading import Survey

#: The largest report in bytes: a mail takes it, and a browser opens it at once.
REPORT = 5_000_000
#: The largest in a notebook's cell, which stores it.
CELL = 2_000_000


class SurveyPage:
    """The page of a survey: a map of all heads, and each head's own page. It shows itself in a notebook, and `save`
    writes it to a file.

    Args:
        survey: a survey, as `eyeline.load_survey` gives.
        other: a second one, shown beside it: of another model, or of the same over another corpus. If both have the
            same layers and heads, the page has their difference too.
        state: its initial state, such as {"measure": "previous"}.

    Raises:
        SurveyError: if one of the two isn't a survey.
    """

    def __init__(self, survey: Survey, other: Survey | None = None, *, state: Mapping[str, Any] | None = None) -> None:
        self.surveys = [survey, *([] if other is None else [other])]
        for name, one in zip(("survey", "other"), self.surveys, strict=False):
            if not hasattr(one, "heads") or not hasattr(one, "info"):
                raise SurveyError(
                    worded(
                        "{name} must be a survey, got {one!r:.60}; eyeline.load_survey(folder) gives one",
                        name=name,
                        one=one,
                    )
                )
        self.state = dict(state or {})

    def __repr__(self) -> str:
        named = [f"{corpus_name(one.info)!r} ({one.model.name})" for one in self.surveys]
        return f"<{type(self).__name__} of {' and '.join(named)}>"

    def header(self) -> dict[str, Any]:
        """The header, as plain data; `eyeline.views.surveys.header` says what is in it."""
        return header_of(self.surveys, self.state)

    def answer(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[memoryview]]:
        """Answer a request of the page: the reply, and the bytes of its arrays.

        Raises:
            RequestError: if it can't be answered.
        """
        return reply_to(request, self, KINDS)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to one file of at most 5 MB, which needs no network and no server: as many heads' examples as
        there is room for, the most telling heads first. The page says how many it has.

        Args:
            path: the file's path. It is written completely or not at all.

        Raises:
            SurveyError: if a table of the survey is damaged.
            OSError: if the file can't be written.
        """
        from eyeline.views.surveys.report import report

        try:
            data = report(self, REPORT)
        except RequestError as error:  # a table is damaged
            raise SurveyError(str(error)) from None
        with whole(Path(path)) as beside:
            beside.write_bytes(data)

    def _repr_html_(self) -> str:
        """The page in a sandboxed frame, for a notebook."""
        from eyeline.views.surveys.report import report

        text = html.escape(report(self, CELL).decode())
        style = "width: 100%; height: 760px; border: 0"
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="Eyeline" style="{style}" srcdoc="{text}"></iframe>'
        )
