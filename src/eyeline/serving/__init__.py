"""The local server behind `eyeline view`: it serves the page, answers its requests, and runs texts typed into it.

`serve` serves a `Session` (traces, models and files) or a `SurveySession` (one survey or two, and the documents of
theirs that are opened) at an address that only this machine can reach. This room imports `views`, the rooms below it,
starlette and uvicorn; `eyeline view` loads it when the command runs.

Access: only the page itself, in a browser on this machine. `guard` refuses pages of other sites by two headers that
    browsers send: Host, the requested name, and Origin, the requesting site. There is no key in the address: it would
    be visible in the list of processes while a browser opened with it runs, and so wouldn't keep out other users of the
    same machine. They can see the page and run the models; `eyeline explain --html` serves nothing.
"""

from __future__ import annotations

from eyeline.serving.server import listen, serve
from eyeline.serving.session import Session, kept_of
from eyeline.serving.source import InputFile, Source, source_of
from eyeline.serving.survey_session import SurveySession

__all__ = ["InputFile", "Session", "Source", "SurveySession", "kept_of", "listen", "serve", "source_of"]
