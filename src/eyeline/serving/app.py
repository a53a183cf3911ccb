"""The ASGI application: its routes."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from eyeline.serving.guard import Guard
from eyeline.serving.refusal import RefusalError, as_json, own_mistake
from eyeline.serving.requests import read_json, run_request
from eyeline.serving.survey_session import SurveySession
from eyeline.views.page import joining
from eyeline.views.page.framing import framed
from eyeline.words import worded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from eyeline.serving.jobs import Jobs
    from eyeline.serving.session import Session

_BINARY = "application/octet-stream"
_HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Eyeline</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script type="module" src="page.js"></script>
</head>
<body class="eyeline-alone">
<main id="page"></main>
</body>
</html>
"""


def app_of(session: Session | SurveySession, port: int) -> ASGIApp:
    """Make the application, behind its guard.

    Args:
        session: the session to serve; of a survey, the page of the documents that are opened in it is at /text/.
        port: the server's port.
    """
    app = Starlette(
        routes=survey_routes(session) if isinstance(session, SurveySession) else text_routes(session),
        exception_handlers={RefusalError: _refused, HTTPException: _no_such, Exception: _internal_error},  # type: ignore[dict-item]
    )
    app.router.redirect_slashes = False
    return Guard(app, port)


def text_routes(session: Session, under: str = "") -> list[Route]:
    """The routes of a page of texts, whose paths begin with `under`."""

    server = "hosts/server.js"

    async def run(request: Request) -> Response:
        asked = run_request(await read_json(request), session.models, len(session.files))
        return as_json({"job": session.start(asked).number}, 202)

    return [
        *_page_routes(session, joining.joined(server), joining.style(host=server), under),
        Route(f"{under}/api/texts", run, methods=["POST"]),
        *_job_routes(session.jobs, under),
    ]


def survey_routes(session: SurveySession) -> list[Route]:
    """The routes of a survey's page, and of the page of texts in which its documents are opened."""

    async def open_document(request: Request) -> Response:
        return as_json({"job": session.open(await read_json(request)).number}, 202)

    module = joining.joined("hosts/survey_server.js", entry=joining.SURVEY)
    routes = _page_routes(session, module, joining.style(joining.SURVEY))
    if session.texts is None:
        return routes
    opening = Route("/api/documents", open_document, methods=["POST"])
    return [*routes, opening, *_job_routes(session.texts.jobs), *text_routes(session.texts, "/text")]


def _page_routes(session: Session | SurveySession, module: str, style: str, under: str = "") -> list[Route]:
    """The routes of any page: itself, its header and the answers to its requests."""

    async def header(request: Request) -> Response:
        return as_json(await run_in_threadpool(session.header))

    async def answer(request: Request) -> Response:
        reply, arrays = await run_in_threadpool(session.answer, await read_json(request))
        return Response(framed(reply, arrays), media_type=_BINARY)

    return [
        Route(f"{under}/", _always(_HTML, "text/html")),
        Route(f"{under}/page.js", _always(module, "text/javascript")),
        Route(f"{under}/page.css", _always(style, "text/css")),
        Route(f"{under}/api/header", header),
        Route(f"{under}/api/answer", answer, methods=["POST"]),
    ]


def _job_routes(jobs: Jobs, under: str = "") -> list[Route]:
    async def job(request: Request) -> Response:
        found = jobs.job(request.path_params["number"])
        if request.method == "DELETE":
            found.cancel()
        return as_json(found.report())

    return [Route(under + "/api/jobs/{number}", job, methods=["GET", "DELETE"])]


def _always(text: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def reply(request: Request) -> Response:
        return Response(text, media_type=media_type)

    return reply


async def _refused(request: Request, refusal: RefusalError) -> Response:
    return refusal.response()


async def _no_such(request: Request, error: HTTPException) -> Response:
    path = request.url.path[:80]
    if error.status_code == 405:
        refusal = RefusalError(
            405,
            "method",
            worded("method must be one that {path!r} knows, got {method}", path=path, method=request.method),
        )
    else:
        refusal = RefusalError(
            error.status_code, "path", worded("path must be one that this server has, got {path!r}", path=path)
        )
    response = refusal.response()
    response.headers.update(error.headers or {})
    return response


async def _internal_error(request: Request, error: Exception) -> Response:
    traceback.print_exception(error)
    return RefusalError(500, None, own_mistake()).response()
