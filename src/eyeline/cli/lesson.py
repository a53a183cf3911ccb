"""`eyeline lesson`: attention in twelve stops, in the browser or as one file."""

from __future__ import annotations

from eyeline.cli.browser import serve_page
from eyeline.cli.options import Half, Html, ModelName, NoBrowser, Port
from eyeline.cli.progress import progress
from eyeline.cli.results import check_results, chosen_language, save_html
from eyeline.words import worded


def lesson(
    html: Html = None,
    half: Half = False,
    model: ModelName = "minilm",
    port: Port = 0,
    no_browser: NoBrowser = False,
) -> None:
    """Learn what attention is, in twelve stops with questions: in the browser, or as a file to hand out."""
    from eyeline.answers import QuestionError
    from eyeline.models import load
    from eyeline.models.catalogue import CATALOGUE
    from eyeline.serving import Session
    from eyeline.views.page import lesson as lesson_page

    check_results(False, html=html, half=half)
    if html is not None and (port or no_browser):
        name = "--port" if port else "--no-browser"
        raise QuestionError(worded("{name} and --html can't go together; leave out one of them", name=name))
    if html is not None:
        save_html(lesson_page(model=model, progress=progress), html, half)
        return

    def made() -> Session:
        reader = load(model, progress=progress)
        page = lesson_page(model=reader, progress=progress)
        page.state |= chosen_language()
        return Session(page, list(dict.fromkeys([model, *CATALOGUE])), ready={model: reader})

    serve_page(made, port, no_browser)
