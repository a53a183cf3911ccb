"""The local server behind `eyeline view`: it serves the page, answers its requests, and runs texts typed into it.

`serve` shows a `Session` (traces, models and files) at an address of this machine alone. This room imports `answers`,
the rooms below it, starlette and uvicorn; `eyeline view` loads it when the command is run.

Access: only the page itself, in a browser on this machine. `guard` keeps out pages of other sites by two headers that
browsers send: Host, the name that was asked for, and Origin, the site that asks. There is no key in the address: it
would stand in the list of processes while the browser that was opened with it runs, and so keep out nobody who is
logged in to the same machine. Whoever is can see what is shown here, and make the models run; `eyeline explain --html`
serves nothing.
"""

from __future__ import annotations

from eyeline.serving.server import listen, serve
from eyeline.serving.session import Session
from eyeline.serving.source import InputFile, Source, source_of

__all__ = ["InputFile", "Session", "Source", "listen", "serve", "source_of"]
