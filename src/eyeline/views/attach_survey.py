"""Attach views to surveys, as attach.py does to answers: apart, so that a question about a text loads none of them."""

from __future__ import annotations

from eyeline.answers import Renderers
from eyeline.surveys.loading import Survey
from eyeline.views.drawing import Drawing


def _survey() -> Renderers:
    def rich(answer: Survey) -> Drawing:
        from eyeline.views.survey_terminal import survey

        return Drawing(lambda ink: survey(answer, ink))

    def html(answer: Survey) -> str:
        from eyeline.views.survey_html import survey_html

        return survey_html(answer)

    def line(answer: Survey) -> str:
        from eyeline.views.survey_findings import found, size, unfinished

        return f"<Survey of {size(answer)}: {found(answer, answer.rows()) if answer.tabled else unfinished(answer)}>"

    def csv(answer: Survey) -> str:
        from eyeline.views.survey_tables import survey_csv

        return survey_csv(answer)

    return Renderers(rich, html, line, csv)


Survey.renderers = _survey()
